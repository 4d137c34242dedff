package figures

import (
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// RecentMinutes are the minutes of an app that are in memory, by bucket and minute, in no order.
func (r Reader) RecentMinutes(app string) []model.UsageRow {
	if r.Roller == nil {
		return nil
	}
	r.Roller.mu.Lock()
	defer r.Roller.mu.Unlock()
	var rows []model.UsageRow
	for key, used := range r.Roller.recent {
		if key.app == app {
			rows = append(rows, model.UsageRow{Bucket: key.bucket, App: app, Minute: key.minute, Used: used})
		}
	}
	return rows
}

// RecentBuckets names, sorted, the buckets of which an app used something in the minutes in memory. The slice is shared and
// must not be changed.
func (r Reader) RecentBuckets(app string) []string {
	if r.Roller == nil {
		return nil
	}
	r.Roller.mu.Lock()
	defer r.Roller.mu.Unlock()
	return r.Roller.bucketsOf()[app]
}

// bucketsOf gathers the buckets that each app used, once after each reading. The caller holds the mutex.
func (r *Roller) bucketsOf() map[string][]string {
	if r.usedBy != nil {
		return r.usedBy
	}
	r.usedBy = map[string][]string{}
	for key := range r.recent {
		r.usedBy[key.app] = append(r.usedBy[key.app], key.bucket)
	}
	for app, buckets := range r.usedBy {
		slices.Sort(buckets)
		r.usedBy[app] = slices.Compact(buckets)
	}
	return r.usedBy
}
