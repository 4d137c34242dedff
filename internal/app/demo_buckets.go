package app

import (
	"time"

	"github.com/headgate/headgate/internal/model"
)

type demoBucket struct {
	name       string
	definition model.Definition
}

// demoBuckets shows every algorithm and every partition.
var demoBuckets = []demoBucket{
	{"partner-api", model.Definition{
		Description: "The payment partner's contract: 50 calls a second, bursts of 100.",
		Labels:      map[string]string{"team": "payments", "tier": "gold"},
		Apps:        []string{"checkout", "mobile"}, Owners: []string{"olivia"},
		MaxPermits: 100, Rate: 50, Partition: model.PartitionShared, OnRedisFailure: model.FailLocal,
	}},
	{"login-attempts", model.Definition{
		Description: "Logins per user: 5 at once, then one every 12 seconds.",
		Labels:      map[string]string{"team": "identity"},
		Apps:        []string{"mobile"}, Owners: []string{"olivia"},
		MaxPermits: 5, Rate: 5, Period: time.Minute, Partition: model.PartitionKey, OnRedisFailure: model.FailClosed,
	}},
	{"mail-sending", model.Definition{
		Description: "What the mail provider takes from each app: 240 an hour.",
		Labels:      map[string]string{"team": "platform"},
		Apps:        []string{model.AllApps}, Owners: []string{"admin"},
		MaxPermits: 40, Rate: 240, Period: time.Hour, Partition: model.PartitionApp,
	}},
	{"search-queries", model.Definition{
		Description: "Queries of one visitor. In shadow until the team trusts the figures.",
		Labels:      map[string]string{"team": "search"},
		Apps:        []string{"search"}, Owners: []string{"sam"},
		MaxPermits: 20, Rate: 10, Partition: model.PartitionKey, Mode: model.ModeShadow,
	}},
	{"message-quota", model.Definition{
		Description: "The message provider counts 600 a minute, from :00 to :59.",
		Labels:      map[string]string{"team": "platform"},
		Apps:        []string{"checkout", "mobile"}, Owners: []string{"olivia"},
		Algorithm: model.FixedWindow, MaxPermits: 600, Period: time.Minute,
	}},
	{"page-views", model.Definition{
		Description: "Pages that one visitor may open: 60 in any 10 seconds.",
		Labels:      map[string]string{"team": "search"},
		Apps:        []string{"search"}, Owners: []string{"sam"},
		Algorithm: model.SlidingWindow, MaxPermits: 60, Period: 10 * time.Second, Partition: model.PartitionAppKey, Shards: 8,
	}},
	{"password-resets", model.Definition{
		Description: "Password resets of one user: 5 in any minute, exactly.",
		Labels:      map[string]string{"team": "identity"},
		Apps:        []string{"mobile"}, Owners: []string{"olivia"},
		Algorithm: model.SlidingLog, MaxPermits: 5, Period: time.Minute, Partition: model.PartitionKey, OnRedisFailure: model.FailClosed,
	}},
	{"report-exports", model.Definition{
		Description: "Exports that run at the same time; one that dies frees its slot within 15 seconds.",
		Labels:      map[string]string{"team": "payments"},
		Apps:        []string{"checkout"}, Owners: []string{"olivia"},
		Algorithm: model.Concurrency, MaxPermits: 4, Period: 15 * time.Second,
	}},
}
