package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// StreamAppSample is the data of an event sample of an app's stream: once a second, over the buckets that one may see.
type StreamAppSample struct {
	App         string            `json:"app"`
	Redis       bool              `json:"redis" doc:"Redis answered; else all figures are empty"`
	RedisTimeUS int64             `json:"redis_time_us" doc:"Redis's clock at the sample, µs since 1970"`
	Rates       *StreamRates      `json:"rates" doc:"permits a second since the sample before; null at the first one, and after Redis did not answer"`
	Buckets     []StreamShare     `json:"buckets" doc:"the buckets that it used since the sample before, the most used first; at most 20"`
	Others      *StreamOtherShare `json:"others" doc:"the sum of all further ones; null when there are none"`
}

// StreamShare is what an app uses of one bucket.
type StreamShare struct {
	Name string `json:"name"`
	StreamRates
}

// StreamOtherShare is what an app uses of several buckets together.
type StreamOtherShare struct {
	Buckets int `json:"buckets" doc:"how many these are"`
	StreamRates
}

// appSight shows an app, as far as its buckets may be seen.
type appSight struct {
	app    string
	seen   map[string]bool // the buckets that may be seen; nil: all
	listed int             // which buckets it may use, as the client knows it; 0 before the first sample
}

func (s *server) sightOfApp(ctx context.Context, name string) (sight, error) {
	a, err := s.appFor(ctx, name, auth.AppSee)
	if err != nil {
		return nil, err
	}
	seen, err := s.seenOrAll(ctx)
	return &appSight{app: a.Name, seen: seen}, err
}

// seenOrAll are the buckets that the principal may see; nil: all.
func (s *server) seenOrAll(ctx context.Context) (map[string]bool, error) {
	p := principalOf(ctx)
	eyes := viewer(p, auth.BucketSee)
	if eyes == "" {
		return nil, nil //nolint:nilnil // nil is all
	}
	return s.Store.SeenBuckets(ctx, eyes, p.Name)
}

func (a *appSight) show(v *view, t *tick) (suspect bool, err error) {
	found, sampled := t.apps[a.app]
	if !sampled {
		return false, nil // it was joined after the sample
	}
	// A bucket that begins to list the app, or ceases to, may be one to be seen from now on, or no more.
	suspect = !found.known || a.listed != 0 && a.listed != found.listed
	a.listed = found.listed
	sample := StreamAppSample{App: a.app, Redis: !found.at.IsZero(), Buckets: []StreamShare{}}
	id := ""
	if sample.Redis {
		sample.RedisTimeUS, id = found.at.UnixMicro(), fmt.Sprint(found.at.Unix())
	}
	if found.rated {
		a.enter(found.buckets, &sample)
	}
	return suspect, v.event("sample", id, sample)
}

// enter sums up what may be seen.
func (a *appSight) enter(used []bucketRates, sample *StreamAppSample) {
	sample.Rates = &StreamRates{}
	for _, b := range used {
		if _, ok := a.seen[b.name]; ok || a.seen == nil {
			sample.Rates.add(b.StreamRates)
			sample.Buckets = append(sample.Buckets, StreamShare{b.name, b.StreamRates})
		}
	}
	slices.SortFunc(sample.Buckets, func(x, y StreamShare) int {
		return cmp.Or(cmp.Compare(y.asked(), x.asked()), cmp.Compare(x.Name, y.Name))
	})
	if len(sample.Buckets) <= appBucketsShown {
		return
	}
	sample.Others = &StreamOtherShare{}
	for _, b := range sample.Buckets[appBucketsShown:] {
		sample.Others.Buckets++
		sample.Others.add(b.StreamRates)
	}
	sample.Buckets = sample.Buckets[:appBucketsShown]
}

func (a *appSight) look(ctx context.Context, v *view) (over bool, err error) {
	_, err = v.s.appFor(ctx, a.app, auth.AppSee)
	if code := model.CodeOf(err); code == model.CodeNotFound || code == model.CodeForbidden {
		return v.gone(a.app, 0)
	}
	if err != nil {
		return false, nil //nolint:nilerr // the next check finds out
	}
	if seen, err := v.s.seenOrAll(ctx); err == nil {
		a.seen = seen
	}
	return false, nil
}
