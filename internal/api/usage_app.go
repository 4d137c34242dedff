package api

import (
	"context"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// appBucketsShown is how many of an app's buckets are told by name.
const appBucketsShown = 20

// AppUsage is what an app was granted and refused.
type AppUsage struct {
	BucketUsage
	Buckets []BucketShare `json:"buckets" doc:"the same by bucket: the 20 that were asked for most permits, those first"`
	Others  *OtherShares  `json:"others" doc:"the sum of all further buckets; null when there are none"`
}

// BucketShare is what one bucket had of an app's usage.
type BucketShare struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted" doc:"the bucket was deleted since; told to those alone who may see all buckets"`
	Permits
}

// OtherShares is what several buckets had of it.
type OtherShares struct {
	Buckets int `json:"buckets" doc:"how many these are"`
	Permits
}

// Permits counts permits.
type Permits struct {
	Granted       int64 `json:"granted"`
	Limited       int64 `json:"limited"`
	ShadowLimited int64 `json:"shadow_limited" doc:"granted only because of shadow mode"`
}

// appUsage sums an app's usage over the buckets that the principal may see. Minutes come from the database too, where they
// are kept for two days and are at most a minute late; the last minutes are in memory.
func (s *server) appUsage(ctx context.Context, in *struct {
	Named
	Range string `query:"range" enum:"5m,1h,24h,90d" default:"1h" doc:"90d is told in hours, the others in minutes"`
}) (*struct{ Body AppUsage }, error) {
	a, err := s.appFor(ctx, in.Name, auth.AppSee)
	if err != nil {
		return nil, err
	}
	eyes := viewer(principalOf(ctx), auth.BucketSee)
	shown := AppUsage{BucketUsage: BucketUsage{StepMinutes: 1}}
	_, at := s.Figures.Recent()
	if at.IsZero() {
		at = s.Now()
	} else {
		shown.RedisTimeUS = at.UnixMicro()
	}
	now := at.Unix() / 60
	from := now - int64(usageRanges[in.Range]) + 1
	var usage model.AppUsage
	if in.Range == hoursRange {
		shown.StepMinutes = model.HourMinutes
		usage, err = s.Store.AppUsageHours(ctx, eyes, a.Name, from/model.HourMinutes, now/model.HourMinutes, appBucketsShown)
	} else {
		usage, err = s.Store.AppUsageMinutes(ctx, eyes, a.Name, from, now, s.Figures.RecentMinutes(a.Name), appBucketsShown)
	}
	if err != nil {
		return nil, err
	}
	shown.show(&usage)
	return &struct{ Body AppUsage }{shown}, nil
}

func (u *AppUsage) show(usage *model.AppUsage) {
	u.Items, u.Buckets = make([]UsageRow, len(usage.Rows)), make([]BucketShare, len(usage.Top))
	for i := range usage.Rows {
		u.Items[i] = showRow(usage.Rows[i])
	}
	for i, b := range usage.Top {
		u.Buckets[i] = BucketShare{Name: b.Bucket, Deleted: b.Deleted, Permits: showPermits(b.Used)}
	}
	if usage.OtherBuckets > 0 {
		u.Others = &OtherShares{Buckets: usage.OtherBuckets, Permits: showPermits(usage.Others)}
	}
}

func showPermits(u model.Used) Permits {
	return Permits{Granted: u.Granted, Limited: u.Limited, ShadowLimited: u.ShadowLimited}
}
