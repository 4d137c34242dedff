package model

import (
	"encoding/json"
	"fmt"
	"time"
)

// AlertKind is what an alert rule looks at.
type AlertKind string

// The kinds of alert rules.
const (
	AlertLimitedShare AlertKind = "limited_share" // percent of the permits asked for in a minute that were limited
	AlertNearLimit    AlertKind = "near_limit"    // percent of the limit in use; see Definition.AlertGauge
)

// Bounds of alerts.
const (
	AlertRulesBound     = 10                  // rules of one bucket
	AlertMinutesBound   = 24 * 60             // the longest time for which a share must be reached
	AlertEndMinutesLow  = 5                   // an alert ends after at least so many minutes below
	AlertEndMinutesHigh = 30                  // and at most so many
	AlertRestMinutes    = 15                  // at least so many between two starts of one rule
	AlertGapMinutes     = 10                  // after more unknown minutes than these a count begins anew
	AlertsKept          = 30 * 24 * time.Hour // for which ended alerts are listed
	percentBound        = 100                 // of a rule
	alertRulesWhat      = "the alert rules"
	alertGaugeMinute    = time.Minute // what renews within it is measured by its flow
)

// AlertGauge says how the use of a limit is measured for AlertNearLimit.
type AlertGauge string

// The gauges.
const (
	// GaugeNone: there is no one figure, because each key has a state of its own, or each app one that is not read.
	GaugeNone AlertGauge = ""
	// GaugeFlow: permits granted in the minute, of those that the limit lets through in a minute.
	GaugeFlow AlertGauge = "flow"
	// GaugeLevel: what is taken of max_permits, read several times in the minute.
	GaugeLevel AlertGauge = "level"
)

// AlertGauge says how near to its limit a bucket is to be measured. A limit that renews within a minute is measured by what
// it granted in the minute. Slower ones, and slots, by what is taken: of them a minute's grants tell nothing, since all may
// be taken in one minute. That needs the one state that all callers share.
func (d *Definition) AlertGauge() AlertGauge {
	switch {
	case d.Keyed() || d.MaxPermits <= 0 || d.Period <= 0:
		return GaugeNone
	case d.Algorithm != Concurrency && d.renewsIn() <= alertGaugeMinute:
		return GaugeFlow
	case d.Partition == PartitionShared:
		return GaugeLevel
	}
	return GaugeNone
}

// renewsIn is how long an empty bucket takes to fill, or the period of a window.
func (d *Definition) renewsIn() time.Duration {
	if d.Algorithm != TokenBucket {
		return d.Period
	}
	if d.Rate <= 0 {
		return PeriodMax
	}
	// In floating point: the product may pass 2^63, and a nanosecond makes no difference here.
	fill := float64(d.MaxPermits) / float64(d.Rate) * float64(d.Period)
	return time.Duration(min(fill, float64(PeriodMax)))
}

// AlertRule says when the owners of a bucket are told.
type AlertRule struct {
	ID      int64 // 0 = not saved yet
	Kind    AlertKind
	Percent int // 1..100; a minute at or above it counts
	Minutes int // 1..1440; so many such minutes in a row start an alert
	Enabled bool
}

// EndMinutes is how many minutes in a row below Percent end the rule's alert: as many as start it, but at least 5, so that
// a short lull ends nothing, and at most 30, so that one who set a long time learns of the end today.
func (r *AlertRule) EndMinutes() int {
	return min(max(r.Minutes, AlertEndMinutesLow), AlertEndMinutesHigh)
}

// Same tells whether two rules say the same, whether they are enabled or not.
func (r *AlertRule) Same(o *AlertRule) bool {
	return r.Kind == o.Kind && r.Percent == o.Percent && r.Minutes == o.Minutes
}

// ValidateAlertRules checks the rules of a bucket with the given definition. CodeInvalid names each field as rules[i].kind
// and so on. A rule that is there already, by its id, may stay though the definition does not suit it any more.
func ValidateAlertRules(d *Definition, rules, present []AlertRule) error {
	var v invalid
	if len(rules) > AlertRulesBound {
		v.add("rules", "must be at most %d", AlertRulesBound)
	}
	for i := range rules {
		r, field := &rules[i], fmt.Sprintf("rules[%d]", i)
		checkChoice(&v, field+".kind", r.Kind, AlertLimitedShare, AlertNearLimit)
		checkRange(&v, field+".percent", int64(r.Percent), 1, percentBound, "")
		checkRange(&v, field+".minutes", int64(r.Minutes), 1, AlertMinutesBound, "")
		if r.Kind == AlertNearLimit && d.AlertGauge() == GaugeNone && !unchanged(r, present) {
			v.add(field+".kind", "%s", noGauge(d))
		}
		if r.ID != 0 && findRule(present, r.ID) == nil {
			v.add(field+".id", "is not a rule of this bucket")
		}
		for j := range i {
			switch {
			case r.ID != 0 && rules[j].ID == r.ID:
				v.add(field+".id", "stands twice")
			case rules[j].Same(r):
				v.add(field, "is the same as rules[%d]", j)
			}
		}
	}
	return v.err(alertRulesWhat)
}

func unchanged(r *AlertRule, present []AlertRule) bool {
	was := findRule(present, r.ID)
	return was != nil && was.Same(r)
}

func findRule(rules []AlertRule, id int64) *AlertRule {
	for i := range rules {
		if id != 0 && rules[i].ID == id {
			return &rules[i]
		}
	}
	return nil
}

// noGauge says why a bucket can't be near its limit as a whole.
func noGauge(d *Definition) string {
	if d.Keyed() {
		return "can't be near_limit here: each key has a limit of its own, so that the bucket as a whole is never near it; use limited_share"
	}
	return "can't be near_limit here: each app has a limit of its own, which takes over a minute to renew or counts slots; use limited_share, or partition shared"
}

// AlertState is where a rule stands between two minutes.
type AlertState struct {
	Minute  int64 // of Redis's clock: the last one that was counted
	Over    int   // minutes in a row at or above, while no alert is open
	Under   int   // minutes in a row below, while one is open
	Since   int64 // the first minute of the present run of Over, or of the one that started the open alert
	Started int64 // the minute at which the last alert was started; 0 = never
	Value   float64
	Open    int64 // id of the open alert; 0 = none
}

// AlertWatch is an enabled rule, or one with an open alert, with what judging it needs.
type AlertWatch struct {
	Rule   AlertRule
	State  AlertState
	Bucket Bucket // without lists
}

// AlertCause is why an alert ended.
type AlertCause string

// The causes.
const (
	AlertRecovered   AlertCause = "recovered"      // the share stayed below for EndMinutes
	AlertModeOff     AlertCause = "mode_off"       // the bucket does not count any more
	AlertNoGauge     AlertCause = "not_measurable" // an edit of the bucket left near_limit without a figure
	AlertRuleChanged AlertCause = "rule_changed"   // edited, switched off or removed
	AlertDeleted     AlertCause = "bucket_deleted"
)

// AlertStep moves one rule on. It applies only where the rule and its state are still as it says.
type AlertStep struct {
	Rule  AlertRule
	From  AlertState
	To    AlertState // Open is not looked at
	Start bool
	End   AlertCause // "" = the alert does not end
}

// Alert is one telling: an alert that is open, or was.
type Alert struct {
	ID        int64
	Bucket    string
	Deleted   bool // the bucket is no more
	Mine      bool // the viewer owns the bucket
	Rule      AlertRule
	Since     time.Time // when the first minute of it began
	StartedAt time.Time // when it was told
	EndedAt   time.Time // zero while open
	Cause     AlertCause
	Value     float64 // percent, of the last minute that was counted
	Peak      float64 // the greatest of all minutes since it started
}

// AlertBook are the alert rules of one bucket with where they stand.
type AlertBook struct {
	Revision  int64 // of the rules; 1 = never edited, +1 at each edit
	UpdatedBy string
	UpdatedAt time.Time // zero = never edited
	Rules     []AlertRule
	Open      map[int64]Alert // by rule
}

// AlertQuery says which alerts to list: the open ones, then the ended ones, each the newest first. One that ends while pages
// are read may stand on two of them, and is left out of none. Who sees all also sees those of deleted buckets.
type AlertQuery struct {
	Viewer string // user name: only of buckets that this user may see; "" = sees all
	User   string // whose buckets are Mine
	Mine   bool   // only those
	Open   bool   // only open ones
	Bucket string // only of this one; "" = all
	Cursor string // Next of the page before; "" = the first page
	Limit  int    // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *AlertQuery) Validate() error {
	var v invalid
	if q.Bucket != "" && !ValidName(q.Bucket) {
		v.add("bucket", "%s", nameRule)
	}
	checkPage(&v, "", q.Limit)
	return v.err("the query")
}

type alertRuleJSON struct {
	ID      int64     `json:"id"`
	Kind    AlertKind `json:"kind"`
	Percent int       `json:"percent"`
	Minutes int       `json:"minutes"`
	Enabled bool      `json:"enabled"`
}

// AlertRulesJSON encodes a bucket's rules for a change row.
func AlertRulesJSON(rules []AlertRule) json.RawMessage {
	list := make([]alertRuleJSON, len(rules))
	for i, r := range rules {
		list[i] = alertRuleJSON(r)
	}
	return encode(map[string]any{"rules": list})
}

// AlertJSON encodes an alert for a change row.
func AlertJSON(a *Alert) json.RawMessage {
	return encode(struct {
		Alert   int64      `json:"alert"`
		Kind    AlertKind  `json:"kind"`
		Percent int        `json:"percent"`
		Minutes int        `json:"minutes"`
		Since   time.Time  `json:"since"`
		Value   float64    `json:"value"`
		Peak    float64    `json:"peak"`
		Cause   AlertCause `json:"cause,omitempty"`
	}{a.ID, a.Rule.Kind, a.Rule.Percent, a.Rule.Minutes, a.Since.UTC(), a.Value, a.Peak, a.Cause})
}
