package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// UsageStore keeps what the SDKs reported once Redis forgets it. Rows come ordered by time and app.
type UsageStore interface {
	// UsageHours and UsageMinutes list a bucket's from one hour or minute to another, both included.
	UsageHours(ctx context.Context, bucket string, from, to int64) ([]model.UsageRow, error)
	UsageMinutes(ctx context.Context, bucket string, from, to int64) ([]model.UsageRow, error)
	// AppUsageHours and AppUsageMinutes sum an app's over the buckets that the viewer may see, "" = all, and name the top
	// ones. recent are readings that need not be kept yet.
	AppUsageHours(ctx context.Context, viewer, app string, from, to int64, top int) (model.AppUsage, error)
	AppUsageMinutes(ctx context.Context, viewer, app string, from, to int64, recent []model.UsageRow, top int) (model.AppUsage, error)
	// AppBuckets names the living buckets that apps may use; an app that there is not is left out.
	AppBuckets(ctx context.Context, apps []string) (map[string][]string, error)
	// SeenBuckets names the buckets that the viewer may see, with whether the user mine owns them; of some names, or of all.
	SeenBuckets(ctx context.Context, viewer, mine string, among ...string) (map[string]bool, error)
	// CountBuckets counts them, and those whose present revision Redis is not known to have.
	CountBuckets(ctx context.Context, viewer string) (all, pending int64, err error)
	// BucketHeads tells where names stand, living or deleted.
	BucketHeads(ctx context.Context, names []string) (map[string]model.BucketHead, error)
}

// usageRanges are the named ranges in minutes.
var usageRanges = map[string]int{"5m": 5, "1h": 60, "24h": 24 * 60, "90d": 90 * 24 * 60}

const hoursRange = "90d" // the one that is told in hours

// BucketUsage is what was granted and refused.
type BucketUsage struct {
	Items       []UsageRow `json:"items"`
	StepMinutes int        `json:"step_minutes" doc:"how many minutes a row stands for, from its minute on: 1, or 60 with range 90d"`
	RedisTimeUS int64      `json:"redis_time_us" doc:"Redis's clock at the reading, µs since 1970; with range 90d 0 when Redis does not answer, and then the last minute may be missing"`
}

// UsageAsked says which time is asked for. It is exported because the binder of requests sees no other embedded struct.
type UsageAsked struct {
	Range   string `query:"range" enum:"5m,1h,24h,90d" doc:"instead of minutes; 90d is told in hours, which are kept in the database, the others in minutes"`
	Minutes int    `query:"minutes" minimum:"1" maximum:"2880" default:"60" doc:"how far back, the last minute included; not with range"`
	Until   int64  `query:"until" minimum:"0" doc:"the last minute, counted since 1970; without it the running one. Not with range 90d"`
}

func (in *UsageAsked) minutes() int {
	if n := usageRanges[in.Range]; n > 0 {
		return n
	}
	return in.Minutes
}

func (s *server) bucketUsage(ctx context.Context, in *struct {
	Named
	UsageAsked
}) (*struct{ Body BucketUsage }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	var usage BucketUsage
	switch {
	case in.Range != hoursRange:
		usage, err = s.minutesOf(ctx, &b, in.minutes(), in.Until)
	case in.Until != 0:
		err = invalidField("until", "must not be given with range 90d, which is told in hours")
	default:
		usage, err = s.hoursOf(ctx, &b)
	}
	if err != nil {
		return nil, err
	}
	names, err := s.appNamesOf(ctx, &b)
	usage.Items = names.usage(sinceMinute(usage.Items, firstMinute(ctx, &b)))
	return &struct{ Body BucketUsage }{usage}, err
}

// LastMinute is the last minute that a reading of usage is of, until or the running one where that is 0 or yet to come.
func LastMinute(now time.Time, until int64) int64 {
	running := now.Unix() / 60
	if until > 0 {
		return min(until, running)
	}
	return running
}

// minutesOf are what Redis has, and what it had and lost.
func (s *server) minutesOf(ctx context.Context, b *model.Bucket, minutes int, until int64) (BucketUsage, error) {
	usage, err := s.Live.Usage(ctx, b.Name, minutes, until)
	if err != nil {
		return BucketUsage{}, s.redisSilent(ctx, err)
	}
	last := LastMinute(usage.Now, until)
	kept, err := s.Store.UsageMinutes(ctx, b.Name, last-int64(minutes)+1, last)
	if err != nil {
		return BucketUsage{}, err
	}
	shown := showUsage(usage)
	shown.Items = greater(shown.Items, kept)
	return shown, nil
}

// hoursOf are the kept hours; of the running one and the one before, Redis knows more.
func (s *server) hoursOf(ctx context.Context, b *model.Bucket) (BucketUsage, error) {
	usage, silent := s.Live.Usage(ctx, b.Name, 2*model.HourMinutes, 0)
	if silent != nil {
		_ = s.redisSilent(ctx, silent) // for the log
		usage = Usage{Now: s.Now()}
	}
	hour := usage.Now.Unix() / 3600
	kept, err := s.Store.UsageHours(ctx, b.Name, hour-int64(usageRanges[hoursRange]/model.HourMinutes)+1, hour)
	if err != nil {
		return BucketUsage{}, err
	}
	shown := BucketUsage{Items: greater(hourly(usage.Rows, hour-1), kept), StepMinutes: model.HourMinutes}
	if silent == nil {
		shown.RedisTimeUS = usage.Now.UnixMicro()
	}
	return shown, nil
}

// hourly adds minutes up to hours, from the given one on: of the hour before, Redis was asked for a part only.
func hourly(minutes []UsageRow, from int64) []UsageRow {
	var hours []UsageRow
	at := map[usagePlace]int{}
	for _, m := range minutes {
		m.Minute -= m.Minute % model.HourMinutes
		if m.Minute < from*model.HourMinutes {
			continue
		}
		place := usagePlace{m.Minute, m.App}
		i, known := at[place]
		if !known {
			at[place] = len(hours)
			hours = append(hours, m)
			continue
		}
		hours[i].Granted += m.Granted
		hours[i].Limited += m.Limited
		hours[i].ShadowLimited += m.ShadowLimited
	}
	return hours
}

type usagePlace struct {
	minute int64
	app    string
}

// greater takes of two readings of the same rows the greater one; see model.Used.Or.
func greater(rows []UsageRow, others []model.UsageRow) []UsageRow {
	at := map[usagePlace]int{}
	rows = append([]UsageRow{}, rows...)
	for i, r := range rows {
		at[usagePlace{r.Minute, r.App}] = i
	}
	for _, o := range others {
		if i, known := at[usagePlace{o.Minute, o.App}]; known {
			r := &rows[i]
			r.Granted, r.Limited, r.ShadowLimited = max(r.Granted, o.Granted), max(r.Limited, o.Limited), max(r.ShadowLimited, o.ShadowLimited)
			continue
		}
		rows = append(rows, showRow(o))
	}
	slices.SortFunc(rows, func(a, b UsageRow) int {
		if a.Minute != b.Minute {
			return int(a.Minute - b.Minute)
		}
		return strings.Compare(a.App, b.App)
	})
	return rows
}

func showRow(r model.UsageRow) UsageRow {
	return UsageRow{Minute: r.Minute, App: r.App, Granted: r.Granted, Limited: r.Limited, ShadowLimited: r.ShadowLimited}
}

// firstMinute is the first one whose usage the principal may see: where the name was another bucket's before, that one's
// usage is for those alone who may read the whole log.
func firstMinute(ctx context.Context, b *model.Bucket) int64 {
	if principalOf(ctx).Everywhere(auth.AuditRead) {
		return 0
	}
	return b.OwnFrom()
}

// sinceMinute leaves out what was used before a minute.
func sinceMinute(rows []UsageRow, first int64) []UsageRow {
	return slices.DeleteFunc(rows, func(r UsageRow) bool { return r.Minute < first })
}

// redisSilent is the answer when Redis could not be read; why is for the log.
func (s *server) redisSilent(ctx context.Context, cause error) error {
	s.log.WarnContext(ctx, "Redis not read", "request_id", callOf(ctx).requestID, "cause", cause)
	return model.Errorf(model.CodeUnavailable, "Redis does not answer now; definitions can still be read and changed")
}

func showUsage(u Usage) BucketUsage {
	return BucketUsage{Items: append([]UsageRow{}, u.Rows...), StepMinutes: 1, RedisTimeUS: u.Now.UnixMicro()}
}
