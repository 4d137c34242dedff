package api

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Figures reads what Redis counts. Its errors reach the user as CodeUnavailable without their text.
type Figures interface {
	// Sample reads buckets in the order of names, with Redis's time.
	Sample(ctx context.Context, names []string) ([]model.Sample, time.Time, error)
	LimitedKeys(ctx context.Context, bucket string, minutes, limit int) ([]model.LimitedKey, error)
	// Instances lists the live clients that use a bucket.
	Instances(ctx context.Context, bucket string) ([]model.Instance, error)
	// Recent sums up the last five minutes of each bucket that was used, the most limited first; at is when that was read,
	// by Redis's clock, zero when it was not within the last minute.
	Recent() (recent []model.RecentUsage, at time.Time)
	// RecentMinutes are an app's minutes of that reading, by bucket.
	RecentMinutes(app string) []model.UsageRow
	// RecentBuckets names, sorted, the buckets that an app used by that reading. The slice is shared.
	RecentBuckets(app string) []string
	// UsedBuckets are those that any app used in the running minute, and in the first seconds of one also in the one before.
	UsedBuckets(ctx context.Context) (map[string]bool, error)
	// SampleApp reads what an app used of buckets in the running minute, and in the first seconds of one also in the one
	// before.
	SampleApp(ctx context.Context, app string, buckets []string) (model.AppSample, error)
	// Try acquires permits once.
	Try(ctx context.Context, bucket string, t model.Trial) (model.TrialResult, error)
}

// limitedKeysShown is how many keys are told.
const limitedKeysShown = 50

// LimitedKey is a caller's key that was limited.
type LimitedKey struct {
	Key           string `json:"key" doc:"as it is when that is printable text; else, with escaped true, as a Go string literal between quotes, e.g. \"\\x00a\""`
	Escaped       bool   `json:"escaped" doc:"key is escaped"`
	Limited       int64  `json:"limited" doc:"permits refused, or let pass by mode shadow only; never too low"`
	AtMostTooHigh int64  `json:"at_most_too_high" doc:"by how much limited may be too high"`
}

// LimitedKeys are the keys that were limited most.
type LimitedKeys struct {
	Items []LimitedKey `json:"items" doc:"at most 50, the most limited first"`
}

func (s *server) bucketLimitedKeys(ctx context.Context, in *struct {
	Named
	Minutes int `query:"minutes" minimum:"1" maximum:"60" default:"5" doc:"how far back, the running minute included"`
}) (*struct{ Body LimitedKeys }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	shown := LimitedKeys{Items: []LimitedKey{}}
	minutes := in.Minutes
	if first := firstMinute(ctx, &b); first > 0 { // an earlier bucket's keys are not shown to newcomers
		minutes = int(min(int64(minutes), s.Now().Unix()/60-first+1))
	}
	if minutes < 1 {
		return &struct{ Body LimitedKeys }{shown}, nil
	}
	keys, err := s.Figures.LimitedKeys(ctx, b.Name, minutes, limitedKeysShown)
	if err != nil {
		return nil, s.redisSilent(ctx, err)
	}
	for _, k := range keys {
		text, escaped := showKey(k.Key)
		shown.Items = append(shown.Items, LimitedKey{Key: text, Escaped: escaped, Limited: k.Limited, AtMostTooHigh: k.AtMostTooHigh})
	}
	return &struct{ Body LimitedKeys }{shown}, nil
}

// showKey makes a key of any bytes fit to be shown. What could be mistaken for something else is escaped: control and
// formatting characters, such as those that turn the direction of text, and bytes that are no UTF-8.
func showKey(key string) (text string, escaped bool) {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(key) && !strings.ContainsFunc(key, odd) {
		return key, false
	}
	return strconv.Quote(key), true
}

// Instance is a live client of the SDK.
type Instance struct {
	ID       string    `json:"id"`
	App      string    `json:"app" doc:"as the client declares it"`
	Host     string    `json:"host"`
	Version  string    `json:"version" doc:"of the SDK"`
	Revision int64     `json:"revision" doc:"of the bucket, by which the client decides; behind the bucket's own until its next call"`
	Started  time.Time `json:"started"`
	LastSeen time.Time `json:"last_seen" doc:"its last heartbeat, by Redis's clock"`
}

// Instances are the live clients that use a bucket.
type Instances struct {
	Items    []Instance `json:"items"`
	Revision int64      `json:"revision" doc:"the bucket's present one"`
}

func (s *server) bucketInstances(ctx context.Context, in *Named) (*struct{ Body Instances }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	found, err := s.Figures.Instances(ctx, b.Name)
	if err != nil {
		return nil, s.redisSilent(ctx, err)
	}
	names, err := s.appNamesOf(ctx, &b)
	if err != nil {
		return nil, err
	}
	shown := Instances{Items: make([]Instance, len(found)), Revision: b.Revision}
	for i, f := range found {
		f.App, f.Host = names.place(f.App, f.Host)
		shown.Items[i] = Instance{
			ID: f.ID, App: f.App, Host: f.Host, Version: f.Version, Revision: f.Revision, Started: utc(f.Started), LastSeen: utc(f.Seen),
		}
	}
	return &struct{ Body Instances }{shown}, nil
}
