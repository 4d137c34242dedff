package figures_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
)

// Rolled up once or ten times, by one server or by a new one, an hour is what was reported.
func TestRollingUpAgainCountsNothingTwice(t *testing.T) {
	w := newWorld(t)
	for ago := int64(0); ago < longAgo; ago += 97 {
		w.report("a", "checkout", ago, 10, 1)
		w.report("a", "mobile", ago, 1, 0)
	}
	n := int64((longAgo + 96) / 97)
	r := w.roller(w.store)
	for range 3 {
		w.roll(r)
		w.wantKept("a", 11*n, n)
	}
	w.roll(w.roller(w.store))
	w.wantKept("a", 11*n, n)
	w.wantKept("b", 0, 0)
}

// A server that was away for almost two days, and one that dies again and again while it makes up for that, lose nothing.
func TestAServerThatWasAwayOrDiesOnTheWayLosesNothing(t *testing.T) {
	w := newWorld(t)
	w.roll(w.roller(w.store))
	marks := map[string]int64{"age.46h": w.now - longAgo - 46*60, "age.12h": w.now - longAgo - 12*60, "age.2h": w.now - longAgo - 2*60, "age.15m": w.now - longAgo - 15, "age.2m": w.now - longAgo}
	w.ok(w.store.SetUsageMarks(t.Context(), marks)) // as a server left them that long ago
	for ago := int64(0); ago < longAgo; ago += 13 {
		w.report("a", "checkout", ago, 1, 0)
	}
	for writes := int64(1); ; writes *= 4 {
		dying := &brittle{Store: w.store}
		dying.left.Store(writes)
		r := w.roller(dying)
		w.ok(r.Read(t.Context()))
		if whole, err := r.Save(t.Context()); err == nil && whole {
			break
		}
	}
	w.wantKept("a", (longAgo+12)/13, 0)
}

// Reports that come late, by minutes or by almost two days, are found when their minute is read again.
func TestLateReportsAreFound(t *testing.T) {
	w := newWorld(t)
	w.roll(w.roller(w.store))
	for late, mark := range map[int64]string{3: "age.2m", 16: "age.15m", 121: "age.2h", 12*60 + 1: "age.12h", 46*60 + 1: "age.46h"} {
		w.report("a", "checkout", late, 5, 0)
		// Time passes: the minute comes of that age.
		w.ok(w.store.SetUsageMarks(t.Context(), map[string]int64{mark: w.now - late - 1}))
	}
	w.roll(w.roller(w.store))
	w.wantKept("a", 25, 0)
}

// Two servers that roll up at the same time, while reports come in, keep exactly what was reported.
func TestTwoServersAtOnceKeepWhatWasReported(t *testing.T) {
	w := newWorld(t)
	var work sync.WaitGroup
	stop, cancel := context.WithCancel(t.Context())
	for range 2 {
		r := w.roller(w.store)
		work.Go(func() {
			for stop.Err() == nil {
				w.roll(r)
			}
		})
	}
	var want int64
	for range 300 {
		n := rand.Int64N(10)                                                   //nolint:gosec // a test
		w.report([]string{"a", "b"}[want%2], "checkout", rand.Int64N(2), n, 0) //nolint:gosec // a test
		want += n
	}
	cancel()
	work.Wait()
	w.roll(w.roller(w.store))
	if got := w.kept("a").Plus(w.kept("b")); got.Granted != want {
		t.Errorf("kept %d, reported %d", got.Granted, want)
	}
}

// A Redis that loses everything takes nothing that was read before, and what is counted afterwards in other minutes is added.
func TestAFlushedRedisLowersNothing(t *testing.T) {
	w := newWorld(t)
	w.report("a", "checkout", 1, 100, 3)
	w.report("a", "checkout", 0, 50, 0)
	r := w.roller(w.store)
	w.ok(r.Read(t.Context())) // in memory, and not saved yet
	w.ok(w.rdb.FlushAll(t.Context()).Err())
	w.report("a", "checkout", 0, 20, 0)
	w.report("a", "checkout", 5, 7, 0)
	w.roll(r)
	w.wantKept("a", 157, 3)
}

// A Redis whose clock ran ahead for a while makes no hour be passed over when it is right again.
func TestAClockThatRanAheadPassesNothingOver(t *testing.T) {
	w := newWorld(t)
	ahead := map[string]int64{}
	for _, name := range []string{"age.46h", "age.12h", "age.2h", "age.15m", "age.2m"} {
		ahead[name] = w.now + 3*24*60
	}
	w.ok(w.store.SetUsageMarks(t.Context(), ahead))
	w.report("a", "checkout", 3000, 9, 0) // older than Redis is asked for
	w.report("a", "checkout", 1000, 4, 0)
	w.report("a", "checkout", 3, 5, 0)
	w.roll(w.roller(w.store))
	w.wantKept("a", 9, 0)
}

// Usage of a bucket up to its deletion is rolled up afterwards, and stays.
func TestADeletedBucketKeepsItsHours(t *testing.T) {
	w := newWorld(t)
	w.report("a", "checkout", 1, 8, 0)
	_, err := w.store.DeleteBucket(t.Context(), "a", 1, byRoot)
	w.ok(err)
	w.roll(w.roller(w.store))
	w.wantKept("a", 8, 0)
}

// A bucket that was made anew under an old name is ranked by what was used since; the hours keep all.
func TestABucketMadeAnewIsRankedByItsOwnUsage(t *testing.T) {
	w := newWorld(t)
	_, err := w.store.DeleteBucket(t.Context(), "a", 1, byRoot)
	w.ok(err)
	w.bucket("a", nil)
	w.exec(fmt.Sprintf("UPDATE buckets SET created_at = FROM_UNIXTIME(%d) WHERE name = 'a'", (w.now-3)*60+30))
	for ago := range int64(5) {
		w.report("a", "checkout", ago, 1, 0)
		w.report("b", "checkout", ago, 1, 0)
	}
	w.report("a", "mobile", 3, 0, 1000) // in the minute in which the name went over
	w.report("a", "mobile", 2, 60, 0)
	r := w.roller(w.store)
	w.roll(r)
	recent, at := figures.Reader{Engine: w.engine, Roller: r}.Recent()
	own := map[string]model.Used{}
	for _, bucket := range recent {
		own[bucket.Bucket] = bucket.Used
	}
	if at.IsZero() || own["a"] != (model.Used{Granted: 63}) || own["b"] != (model.Used{Granted: 5}) {
		t.Errorf("ranked by %+v", own)
	}
	w.wantKept("a", 65, 1000)
}

// While Redis is away nothing is lost, and rolling up goes on by itself when it is back. What the SDK counted meanwhile is
// in the hours: the figures add up to its own.
func TestHoursAddUpToWhatTheSDKReportedThroughAnOutage(t *testing.T) {
	w := newWorld(t)
	r := figures.New(figures.Config{Store: w.store, Engine: w.engine, Every: 50 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { r.Run(ctx) })
	defer work.Wait()
	defer cancel()
	c, err := client.New(w.rdb, "checkout")
	w.ok(err)
	for i := range 200 {
		if i == 100 {
			w.server.Pause(t)
			_, _ = c.Acquire(ctx, "a")
			w.server.Resume(t)
		}
		_, _ = c.Acquire(ctx, "a")
	}
	w.ok(c.Close())
	counted := model.Used{}
	for _, b := range c.Stats().Buckets {
		counted = counted.Plus(model.Used{Granted: b.Granted, Limited: b.Limited, ShadowLimited: b.ShadowLimited})
	}
	cancel()
	work.Wait()
	w.roll(w.roller(w.store))
	if got := w.kept("a"); got != counted || got.Granted < 60 || got.Limited == 0 {
		t.Errorf("kept %+v, the SDK counted %+v", got, counted)
	}
}

// Ten thousand buckets, each used just now, are read and saved in seconds, and later passes take less.
func TestTenThousandBucketsRollUpInSeconds(t *testing.T) {
	w := newWorld(t)
	const many = 10_000
	w.insertMany(many)
	usage := make([]bucket.Usage, many)
	for i := range usage {
		usage[i] = bucket.Usage{Bucket: fmt.Sprintf("many-%05d", i), App: "checkout", Minute: w.now, Granted: int64(i) + 1}
	}
	w.ok(w.engine.ReportUsage(t.Context(), usage))
	w.ok(w.store.SetUsageMarks(t.Context(), map[string]int64{"age.46h": w.now - 46*60, "age.12h": w.now - 12*60, "age.2h": w.now - 120, "age.15m": w.now - 15, "age.2m": w.now - 3}))
	r := w.roller(w.store)
	for pass := range 2 {
		began := time.Now()
		w.ok(r.Read(t.Context()))
		read := time.Since(began)
		_, err := r.Save(t.Context())
		w.ok(err)
		t.Logf("pass %d: read in %v, saved in %v", pass, read, time.Since(began)-read)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("a pass took %v", took)
		}
	}
	w.wantKept("many-09999", many, 0)
	recent, _ := figures.Reader{Engine: w.engine, Roller: r}.Recent()
	if len(recent) != many {
		t.Errorf("%d buckets were used lately", len(recent))
	}
}

// insertMany adds buckets past the store, which would take long for so many.
func (w *world) insertMany(n int) {
	w.t.Helper()
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("('many-%05d','',0,'token_bucket',60,1,1000,'shared',1,'enforce',0,'open','refill',0,1,1,1,0,'x',NOW(6),'x',NOW(6))", i)
	}
	w.exec("INSERT INTO buckets (name,description,all_apps,algorithm,max_permits,`rate`,period_ms,partition_by,shards,mode,max_wait_ms," +
		"on_redis_failure,after_loss,deleted,revision,created_revision,installed_revision,mark,created_by,created_at,updated_by,updated_at) VALUES " + strings.Join(rows, ","))
}
