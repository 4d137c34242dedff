package figures_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
)

// What an app used is read of the buckets that are asked for, and what is in memory tells where it used something at all.
func TestWhatAnAppUsesIsReadByBucket(t *testing.T) {
	w := newWorld(t)
	r := w.roller(w.store)
	reader := figures.Reader{Engine: w.engine, Roller: r}
	w.report("a", "checkout", 0, 5, 2)
	w.report("a", "mobile", 0, 9, 0)
	w.report("b", "mobile", 3, 9, 0)
	if known := reader.RecentBuckets("mobile"); known != nil {
		t.Errorf("before the first reading %v are known", known)
	}
	for range 2 {
		w.ok(r.Read(t.Context()))
		if got := fmt.Sprint(reader.RecentBuckets("checkout"), reader.RecentBuckets("mobile"), reader.RecentBuckets("ghost")); got != "[a] [a b] []" {
			t.Errorf("used are %s", got)
		}
	}
	w.report("b", "checkout", 0, 1, 0)
	w.ok(r.Read(t.Context()))
	if got := reader.RecentBuckets("checkout"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("after one more was used: %v", got)
	}
	w.report("long-ago", "checkout", 3, 1, 0)
	sample, err := reader.SampleApp(t.Context(), "checkout", []string{"b", "a", "ghost"})
	w.ok(err)
	used, err := reader.UsedBuckets(t.Context())
	w.ok(err)
	if sample.At.Unix()/60 == w.now && (len(used) != 2 || !used["a"] || !used["b"]) {
		t.Errorf("used by anybody are %v", used)
	}
	sums := map[string]model.Used{}
	for _, row := range sample.Usage {
		sums[row.Bucket] = sums[row.Bucket].Plus(row.Used)
	}
	minute := sample.At.Unix() / 60
	if late := sample.At.Unix()%60 < 15; sample.From != minute && !late || sample.From == minute && late {
		t.Errorf("at %v it is read from minute %d on", sample.At, sample.From)
	}
	if minute == w.now && (len(sums) != 2 || sums["a"] != (model.Used{Granted: 5, Limited: 2}) || sums["b"] != (model.Used{Granted: 1})) {
		t.Errorf("sample %+v", sample)
	}
	minutes := reader.RecentMinutes("checkout")
	if len(minutes) != 2 {
		t.Errorf("in memory are %+v", minutes)
	}
}

// An app of two thousand buckets can be read every second; how long that takes is logged.
func TestTwoThousandBucketsOfAnAppAreReadInPartOfASecond(t *testing.T) {
	w := newWorld(t)
	const many = 2_000
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("many-%05d", i)
	}
	for part := range slices.Chunk(names, 500) {
		var usage []bucket.Usage
		for i, name := range part {
			usage = append(usage, bucket.Usage{Bucket: name, App: "checkout", Minute: w.now, Granted: int64(i + 1)}, bucket.Usage{Bucket: name, App: "mobile", Minute: w.now, Granted: 1})
		}
		w.ok(w.engine.ReportUsage(t.Context(), usage))
	}
	w.ok(w.rdb.ConfigResetStat(t.Context()).Err())
	reader := figures.Reader{Engine: w.engine}
	const times = 20
	began, rows := time.Now(), 0
	for range times {
		sample, err := reader.SampleApp(t.Context(), "checkout", names)
		w.ok(err)
		rows = max(rows, len(sample.Usage))
	}
	took := time.Since(began) / times
	stats, err := w.rdb.Info(t.Context(), "commandstats").Result()
	w.ok(err)
	t.Logf("%d buckets in %v, %d with usage; of %d readings Redis tells %s", many, took, rows, times, stats)
	if took > time.Second {
		t.Errorf("a reading took %v", took)
	}
}
