package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Bounds of the overview.
const (
	overviewRows = 10
	nearLimit    = 0.8 // of the capacity
)

// Overview is what one looks at first.
type Overview struct {
	MostLimited []OverviewBucket `json:"most_limited" doc:"limited in the last five minutes, one's own first, then by the share that was limited; at most 10"`
	NearLimit   []OverviewBucket `json:"near_limit" doc:"not limited, but granted at least 80 % of their capacity in the last five whole minutes, one's own first; at most 10"`
	Changes     []Change         `json:"changes" doc:"the newest 10 of what one may see"`
	Sync        OverviewSync     `json:"sync"`
	RedisTimeUS int64            `json:"redis_time_us" doc:"Redis's clock when the usage was read, at most some 10 s ago, µs since 1970; 0 when it was never read or Redis does not answer: then the two lists are empty"`
}

// OverviewBucket is a bucket with what was used of it in the last five minutes.
type OverviewBucket struct {
	Name          string  `json:"name"`
	Mine          bool    `json:"mine" doc:"one owns it"`
	Granted       int64   `json:"granted"`
	Limited       int64   `json:"limited"`
	ShadowLimited int64   `json:"shadow_limited"`
	LimitedShare  float64 `json:"limited_share" doc:"the part of the permits asked for that was limited or would have been but for mode shadow, 0..1"`
	Load          float64 `json:"load" doc:"the part of the capacity that was granted, 1 = all of it, of partition app that of the app nearest to it; 0 where each key has its own, for concurrency, and for windows of more than five minutes"`
}

// OverviewSync counts the buckets that one may see.
type OverviewSync struct {
	Buckets int64 `json:"buckets"`
	Pending int64 `json:"pending" doc:"those whose present revision Redis is not known to have"`
	Mine    int64 `json:"mine" doc:"those that one owns"`
}

func (s *server) overview(ctx context.Context, _ *struct{}) (*struct{ Body Overview }, error) {
	p := principalOf(ctx)
	eyes := viewer(p, auth.BucketSee)
	seen, err := s.Store.SeenBuckets(ctx, eyes, p.Name)
	if err != nil {
		return nil, err
	}
	o := Overview{MostLimited: []OverviewBucket{}, NearLimit: []OverviewBucket{}, Changes: []Change{}}
	for _, mine := range seen {
		if mine {
			o.Sync.Mine++
		}
	}
	if o.Sync.Buckets, o.Sync.Pending, err = s.Store.CountBuckets(ctx, eyes); err != nil {
		return nil, err
	}
	if err := s.recentChanges(ctx, &o); err != nil {
		return nil, err
	}
	s.rank(&o, seen)
	return &struct{ Body Overview }{o}, nil
}

// rank fills the two lists from what the roll-up has in memory, so that it asks Redis for nothing.
func (s *server) rank(o *Overview, seen map[string]bool) {
	recent, at := s.Figures.Recent()
	if at.IsZero() {
		return
	}
	o.RedisTimeUS = at.UnixMicro()
	for i := range recent {
		r := &recent[i]
		mine, visible := seen[r.Bucket]
		if !visible {
			continue
		}
		row := OverviewBucket{
			Name: r.Bucket, Mine: mine, Granted: r.Granted, Limited: r.Limited, ShadowLimited: r.ShadowLimited,
			LimitedShare: r.LimitedShare(), Load: r.Load,
		}
		if row.LimitedShare > 0 {
			o.MostLimited = append(o.MostLimited, row)
		} else if row.Load >= nearLimit {
			o.NearLimit = append(o.NearLimit, row)
		}
	}
	o.MostLimited, o.NearLimit = ownFirst(o.MostLimited), ownFirst(o.NearLimit)
}

// ownFirst keeps the order otherwise.
func ownFirst(rows []OverviewBucket) []OverviewBucket {
	slices.SortStableFunc(rows, func(a, b OverviewBucket) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Mine], rank[b.Mine])
	})
	return rows[:min(overviewRows, len(rows))]
}

func (s *server) recentChanges(ctx context.Context, o *Overview) error {
	p := principalOf(ctx)
	q := model.ChangeQuery{Limit: overviewRows, From: time.Time{}}
	if !p.Everywhere(auth.AuditRead) {
		q.Viewer, q.MinRevision = p.Name, 1 // those who may not read the log see revisions alone
	}
	page, err := s.Store.Changes(ctx, q)
	if err != nil {
		return err
	}
	for _, c := range page.Items {
		o.Changes = append(o.Changes, showChange(c, p.Everywhere(auth.AuditRead)))
	}
	return nil
}
