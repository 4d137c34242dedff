package figures

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// Reader answers what is asked of the present. Errors are those of Redis.
type Reader struct {
	Engine *bucket.Engine
	Roller *Roller // nil: what is in memory is not known
}

// Sample reads buckets, in the order of names, with the usage of the running minute and the one before, and Redis's time.
func (r Reader) Sample(ctx context.Context, names []string) ([]model.Sample, time.Time, error) {
	samples, err := Look(ctx, r.Engine, names...)
	if err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return nil, now, err
	}
	minute := now.Unix() / 60
	usage, _, err := r.Engine.ReadUsages(ctx, names, minute-1, minute)
	if err != nil {
		return nil, now, err
	}
	of := map[string]int{}
	for i, name := range names {
		of[name] = i
	}
	for _, row := range rowsOf(usage) {
		s := &samples[of[row.Bucket]]
		s.Usage = append(s.Usage, row)
	}
	return samples, now, nil
}

// lateFor is for how long after a minute's end the SDKs may still report what belongs to it: within half a second each, or
// later when they are held up.
const lateFor = 15 // s

// SampleApp reads what an app used of buckets in the running minute, and in the first seconds of one also what it used in
// the one before.
func (r Reader) SampleApp(ctx context.Context, app string, buckets []string) (model.AppSample, error) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return model.AppSample{}, err
	}
	from, minute := lately(now)
	sample := model.AppSample{At: now, From: from}
	usage, err := r.Engine.ReadAppUsages(ctx, app, buckets, from, minute)
	sample.Usage = rowsOf(usage)
	return sample, err
}

// UsedBuckets are the buckets of which any app used something in the minutes that SampleApp reads, as far as its SDK says so.
func (r Reader) UsedBuckets(ctx context.Context) (map[string]bool, error) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return nil, err
	}
	from, minute := lately(now)
	names, err := r.Engine.UsedNames(ctx, from, minute)
	used := make(map[string]bool, len(names))
	for _, name := range names {
		used[name] = true
	}
	return used, err
}

// lately are the running minute, and in its first seconds the one before, to which something may still be added.
func lately(now time.Time) (from, to int64) {
	to = now.Unix() / 60
	if now.Unix()%60 < lateFor {
		return to - 1, to
	}
	return to, to
}

// LimitedKeys tells which keys of a bucket were limited most in the last minutes, 1..60, the running one included; at most
// limit of them, the most limited first.
func (r Reader) LimitedKeys(ctx context.Context, name string, minutes, limit int) ([]model.LimitedKey, error) {
	now, err := r.Engine.Time(ctx)
	if err != nil {
		return nil, err
	}
	minute := now.Unix() / 60
	found, err := r.Engine.ReadLimited(ctx, name, minute-int64(minutes)+1, minute)
	if err != nil {
		return nil, err
	}
	keys := []model.LimitedKey{}
	for _, k := range found[:min(limit, len(found))] {
		keys = append(keys, model.LimitedKey{Key: k.Key, Limited: k.Limited, AtMostTooHigh: k.Excess})
	}
	return keys, nil
}

// Instances lists the live clients that use a bucket, by app, host and id.
func (r Reader) Instances(ctx context.Context, name string) ([]model.Instance, error) {
	all, err := r.Engine.Instances(ctx)
	if err != nil {
		return nil, err
	}
	using := []model.Instance{}
	for i := range all {
		if revision, uses := all[i].Buckets[name]; uses {
			using = append(using, model.Instance{
				ID: all[i].ID, App: all[i].App, Host: all[i].Host, Version: all[i].Version, Revision: revision,
				Started: all[i].Started(), Seen: all[i].Seen,
			})
		}
	}
	return using, nil
}

// Recent sums up the last five minutes of every bucket that was used, as of the last reading: those that were limited most
// first, then those nearest to their capacity. What was used of an earlier bucket of the same name is left out. at is the
// Redis time of that reading. Of a reading that is over a minute old nothing is told, and at is zero.
func (r Reader) Recent() (recent []model.RecentUsage, at time.Time) {
	if r.Roller == nil {
		return nil, time.Time{}
	}
	return r.Roller.summary()
}

// summary walks over what is in memory: some milliseconds for 10,000 buckets.
func (r *Roller) summary() ([]model.RecentUsage, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.read) > presentFor {
		return nil, time.Time{}
	}
	ownFrom := map[string]int64{}
	shared := map[string]bool{}
	capacity := map[string]float64{}
	for i := range r.buckets {
		b := &r.buckets[i]
		ownFrom[b.Name], shared[b.Name], capacity[b.Name] = b.OwnFrom(), b.Partition == model.PartitionShared, b.Capacity()
	}
	sums := map[string]*model.RecentUsage{}
	granted := map[minuteKey]int64{} // of the whole minutes, with minute 0, by what shares a capacity
	for key, used := range r.recent {
		if key.minute > r.now || key.minute <= r.now-recentMinutes || key.minute < ownFrom[key.bucket] {
			continue
		}
		if sums[key.bucket] == nil {
			sums[key.bucket] = &model.RecentUsage{Bucket: key.bucket}
		}
		if key.minute > r.now-recentMinutes+1 {
			sums[key.bucket].Used = sums[key.bucket].Plus(used)
		}
		if key.minute < r.now {
			granted[minuteKey{bucket: key.bucket}] += used.Granted
			granted[minuteKey{bucket: key.bucket, app: key.app}] += used.Granted
		}
	}
	most := map[string]int64{}
	for key, n := range granted {
		if (key.app == "") == shared[key.bucket] {
			most[key.bucket] = max(most[key.bucket], n)
		}
	}
	all := make([]model.RecentUsage, 0, len(sums))
	for name, sum := range sums {
		if capacity[name] > 0 {
			sum.Load = float64(most[name]) / (capacity[name] * (recentMinutes - 1))
		}
		all = append(all, *sum)
	}
	slices.SortFunc(all, func(a, b model.RecentUsage) int {
		return cmp.Or(cmp.Compare(b.LimitedShare(), a.LimitedShare()), cmp.Compare(b.Load, a.Load), cmp.Compare(a.Bucket, b.Bucket))
	})
	return all, r.at
}
