package api

import (
	"context"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/auth"
)

// instancesShown bounds the instances of one answer; there may be thousands.
const instancesShown = 500

// SystemInstance is a live SDK instance, whatever buckets it uses.
type SystemInstance struct {
	ID          string         `json:"id"`
	App         string         `json:"app" doc:"as the client declares it"`
	Host        string         `json:"host"`
	Version     string         `json:"version" doc:"of the SDK"`
	Buckets     int            `json:"buckets" doc:"how many it uses"`
	BehindCount int            `json:"behind_count" doc:"how many of them it decides by an earlier revision of, until its next call to each"`
	Behind      []BehindBucket `json:"behind" doc:"the first 20 of those by name; empty for API tokens that may not see buckets"`
	Started     time.Time      `json:"started"`
	LastSeen    time.Time      `json:"last_seen" doc:"its last heartbeat, by Redis's clock"`
}

// BehindBucket is a bucket of which an instance has not learned the present revision.
type BehindBucket struct {
	Bucket   string `json:"bucket"`
	Revision int64  `json:"revision" doc:"that the instance decides by; 0 while it has learned none"`
	Present  int64  `json:"present" doc:"the bucket's present one"`
}

// SystemInstances are live SDK instances.
type SystemInstances struct {
	Items  []SystemInstance `json:"items" doc:"the first 500 that match, by app, host and id"`
	Total  int              `json:"total" doc:"that match"`
	Behind int              `json:"behind" doc:"of those, how many decide by an earlier revision of some bucket"`
}

func (s *server) systemInstances(ctx context.Context, in *struct {
	Search string `query:"search" maxLength:"200" doc:"part of the app, the host, the SDK's version or the id"`
	Behind bool   `query:"behind" doc:"only those that decide by an earlier revision of some bucket"`
}) (*struct{ Body SystemInstances }, error) {
	all, err := s.Sync.Instances(ctx)
	if err != nil {
		return nil, err
	}
	named := principalOf(ctx).Everywhere(auth.BucketSee)
	shown := SystemInstances{Items: []SystemInstance{}}
	for _, one := range all {
		if !one.matches(in.Search) || in.Behind && one.BehindCount == 0 {
			continue
		}
		shown.Total++
		if one.BehindCount > 0 {
			shown.Behind++
		}
		if len(shown.Items) == instancesShown {
			continue
		}
		if !named {
			one.Behind = nil
		}
		one.Behind = append([]BehindBucket{}, one.Behind...)
		one.Started, one.LastSeen = utc(one.Started), utc(one.LastSeen)
		shown.Items = append(shown.Items, one)
	}
	return &struct{ Body SystemInstances }{shown}, nil
}

func (i *SystemInstance) matches(search string) bool {
	search = strings.ToLower(search)
	for _, text := range []string{i.App, i.Host, i.Version, i.ID} {
		if strings.Contains(strings.ToLower(text), search) {
			return true
		}
	}
	return false
}
