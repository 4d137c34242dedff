package app

import (
	"context"
	"fmt"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// demoPassword is the password of every sample user. It guards sample data on an embedded database, nothing else.
const demoPassword = "headgate-demo"

type demoUser struct {
	name, display string
	role          model.Role
	what          string // for the list of logins
}

var demoUsers = []demoUser{
	{"admin", "Ada Admin", model.RoleAdmin, "platform admin: everything"},
	{"olivia", "Olivia Owner", model.RoleMember, "owns buckets of checkout and mobile"},
	{"victor", "Victor Viewer", model.RoleMember, "views the buckets of checkout"},
	{"audrey", "Audrey Auditor", model.RoleAuditor, "reads everything, changes nothing"},
	{"sam", "Sam Search", model.RoleMember, "owns the app search; checkout is hidden from him"},
}

type demoApp struct {
	name, description string
	members           []model.Member
}

var demoApps = []demoApp{
	{"checkout", "Basket, payment and order service", []model.Member{{User: "olivia", Role: model.AppOwner}, {User: "victor", Role: model.AppViewer}}},
	{"mobile", "Backend of the mobile apps", []model.Member{{User: "olivia", Role: model.AppOwner}}},
	{"search", "Product search", []model.Member{{User: "sam", Role: model.AppOwner}}},
}

type demoBucket struct {
	name       string
	definition model.Definition
}

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
}

// seedDemo fills an empty embedded database with sample people, apps and buckets. A database that has users already
// is left as it is, so edits survive a restart.
func seedDemo(ctx context.Context, s *store.Store, hasher *auth.Hasher) error {
	users, err := s.CountUsers(ctx)
	if err != nil || users > 0 {
		return err
	}
	origin := model.Origin{Actor: model.SystemActor, Reason: "sample data"}
	hash, err := hasher.Hash(ctx, demoPassword)
	if err != nil {
		return err
	}
	for _, u := range demoUsers {
		if _, err := s.CreateUser(ctx, model.User{Name: u.name, DisplayName: u.display, Role: u.role, PasswordHash: hash}, origin); err != nil {
			return fmt.Errorf("sample user %s: %w", u.name, err)
		}
	}
	for _, a := range demoApps {
		if err := seedApp(ctx, s, a, origin); err != nil {
			return fmt.Errorf("sample app %s: %w", a.name, err)
		}
	}
	for _, b := range demoBuckets {
		d := b.definition
		d.MaxWait = model.DefaultMaxWait
		d.SetDefaults()
		if _, err := s.CreateBucket(ctx, b.name, d, origin); err != nil {
			return fmt.Errorf("sample bucket %s: %w", b.name, err)
		}
	}
	return nil
}

func seedApp(ctx context.Context, s *store.Store, a demoApp, origin model.Origin) error {
	if _, err := s.CreateApp(ctx, model.App{Name: a.name, Description: a.description}, origin); err != nil {
		return err
	}
	for _, m := range a.members {
		if err := s.SetMember(ctx, a.name, m, origin); err != nil {
			return err
		}
	}
	return nil
}
