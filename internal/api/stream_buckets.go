package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// streamBuckets is how many buckets one stream may be of.
const streamBuckets = 20

// StreamApp is what one app used.
type StreamApp struct {
	App string `json:"app"`
	StreamRates
}

// StreamBucket is a bucket in a sample.
type StreamBucket struct {
	Name          string       `json:"name"`
	Present       bool         `json:"present" doc:"Redis has a definition"`
	RedisRevision int64        `json:"redis_revision" doc:"of that definition; 0 without one"`
	Revision      int64        `json:"revision" doc:"in the database; 0 when that does not answer"`
	MaxPermits    int64        `json:"max_permits" doc:"of the definition in Redis"`
	Permits       *int64       `json:"permits" doc:"permits that could be acquired now, for concurrency the free slots; null where each app or key has its own"`
	Held          *int64       `json:"held" doc:"slots that are held now; null as permits, and for all algorithms but concurrency"`
	Rates         *StreamRates `json:"rates" doc:"permits a second since the sample before; null at the first one, and after Redis did not answer"`
	Apps          []StreamApp  `json:"apps" doc:"the apps that used it since the sample before"`
	Sync          string       `json:"sync" doc:"synced or pending; empty when the database does not answer"`
}

// StreamSample is the data of an event sample: once a second.
type StreamSample struct {
	Redis       bool           `json:"redis" doc:"Redis answered; else all figures are empty"`
	RedisTimeUS int64          `json:"redis_time_us" doc:"Redis's clock at the sample, µs since 1970"`
	Buckets     []StreamBucket `json:"buckets"`
}

// StreamChanged is the data of an event changed: a bucket has a new revision.
type StreamChanged struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

// bucketsSight shows buckets.
type bucketsSight struct {
	names    []string
	apps     map[string]appNames // by bucket: the apps that may be named
	revision map[string]int64    // as the client knows them
}

func (s *server) sightOfBuckets(ctx context.Context, names []string) (sight, error) {
	if len(names) > streamBuckets || names[0] == "" {
		return nil, invalidField("buckets", "must be 1..%d names with commas between, or app be given in its place", streamBuckets)
	}
	p := principalOf(ctx)
	seen, err := s.Store.SeenBuckets(ctx, viewer(p, auth.BucketSee), p.Name, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := seen[name]; !ok {
			return nil, noBucket(name)
		}
	}
	apps, err := s.appNamesIn(ctx, names)
	if err != nil {
		return nil, err
	}
	return &bucketsSight{names: slices.Clone(names), apps: apps, revision: map[string]int64{}}, nil
}

func (b *bucketsSight) show(v *view, t *tick) (suspect bool, err error) {
	sample := StreamSample{Redis: !t.at.IsZero(), Buckets: []StreamBucket{}}
	id := ""
	if sample.Redis {
		sample.RedisTimeUS, id = t.at.UnixMicro(), fmt.Sprint(t.at.Unix())
	}
	for _, name := range b.names {
		shown, sampled := t.buckets[name]
		if !sampled {
			continue // it was joined after the sample
		}
		shown.Apps = b.apps[name].rates(shown.Apps)
		if head, known := t.heads[name]; known {
			shown.Revision = head.Revision
			shown.Sync = showSync(head.Revision, model.SyncState{InstalledRevision: head.InstalledRevision}).State
			suspect = suspect || head.Deleted
			if before := b.revision[name]; before != 0 && before < head.Revision && !head.Deleted {
				if err := v.event("changed", "", StreamChanged{name, head.Revision}); err != nil {
					return suspect, err
				}
			}
			b.revision[name] = head.Revision
		}
		sample.Buckets = append(sample.Buckets, shown)
	}
	if len(sample.Buckets) == 0 {
		return suspect, nil
	}
	return suspect, v.event("sample", id, sample)
}

func (b *bucketsSight) look(ctx context.Context, v *view) (over bool, err error) {
	p := principalOf(ctx)
	seen, err := v.s.Store.SeenBuckets(ctx, viewer(p, auth.BucketSee), p.Name, b.names...)
	if err != nil {
		return false, nil //nolint:nilerr // the next check finds out
	}
	if apps, err := v.s.appNamesIn(ctx, b.names); err == nil {
		b.apps = apps
	}
	for _, name := range slices.Clone(b.names) {
		if _, ok := seen[name]; ok {
			continue
		}
		b.names = slices.DeleteFunc(b.names, func(n string) bool { return n == name })
		if over, err := v.gone(name, v.s.watches.drop(v.w, name)); over || err != nil {
			return over, err
		}
	}
	return false, nil
}
