package alert_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/model"
)

// book keeps one rule as the store does.
type book struct {
	watch model.AlertWatch
	told  []string
}

func (b *book) AlertWatches(context.Context) ([]model.AlertWatch, error) {
	return []model.AlertWatch{b.watch}, nil
}

func (b *book) StepAlerts(_ context.Context, steps []model.AlertStep) (int, error) {
	for _, step := range steps {
		open := b.watch.State.Open
		b.watch.State = step.To
		b.watch.State.Open = open
		switch {
		case step.Start:
			b.watch.State.Open = 1
			b.told = append(b.told, "start")
		case step.End != "":
			b.watch.State.Open = 0
			b.told = append(b.told, "end")
		}
	}
	return 0, nil
}

func (b *book) PruneAlerts(context.Context, time.Time) error { return nil }

// readings is what Redis says, minute by minute.
type readings struct {
	at    time.Time             // by Redis's clock
	last  time.Time             // when it was read last
	used  map[string]model.Used // by app, of the minute that runs
	level float64
	rows  []model.UsageRow
	down  bool
}

func (r *readings) Minutes(func(string) bool) ([]model.UsageRow, time.Time) {
	if r.down && r.at.Sub(r.last) > time.Minute {
		return nil, time.Time{} // too old to be told
	}
	if !r.down {
		r.last = r.at
	}
	return r.rows, r.last
}

func (r *readings) Levels(context.Context, []string) (map[string]float64, error) {
	if r.down {
		return nil, errors.New("Redis does not answer")
	}
	return map[string]float64{"b": r.level}, nil
}

// minute lets one pass, with a pass of the watcher every ten seconds.
func (r *readings) minute(t *testing.T, w *alert.Watcher) {
	t.Helper()
	for app, used := range r.used {
		r.rows = append(r.rows, model.UsageRow{Bucket: "b", App: app, Minute: r.at.Unix() / 60, Used: used})
	}
	for range 6 {
		if err := w.Pass(t.Context()); err != nil && !r.down {
			t.Fatalf("pass: %v", err)
		}
		r.at = r.at.Add(10 * time.Second)
	}
}

func near(d model.Definition) *book {
	d.SetDefaults()
	rule := model.AlertRule{ID: 1, Kind: model.AlertNearLimit, Percent: 50, Minutes: 1, Enabled: true}
	return &book{watch: model.AlertWatch{Rule: rule, Bucket: model.Bucket{Name: "b", Definition: d}}}
}

func world(d model.Definition) (*book, *readings, *alert.Watcher) {
	b, r := near(d), &readings{at: time.Unix(60_000, 0)}
	return b, r, alert.New(alert.Config{Store: b, Source: r, Log: slog.New(slog.DiscardHandler)})
}

// near_limit is the percent that docs/alerts.md says, for each way of counting.
func TestNearLimitIsThePercentOfTheLimitInUse(t *testing.T) {
	granted := func(n ...int64) map[string]model.Used {
		used := map[string]model.Used{}
		for i, one := range n {
			used[string(rune('a'+i))] = model.Used{Granted: one, Limited: 1000}
		}
		return used
	}
	token := model.Definition{MaxPermits: 100, Rate: 10, Period: time.Second}
	window := model.Definition{Algorithm: model.FixedWindow, MaxPermits: 100, Period: 20 * time.Second}
	slow := model.Definition{MaxPermits: 1000, Rate: 1, Period: time.Hour, Partition: model.PartitionShared}
	slots := model.Definition{Algorithm: model.Concurrency, MaxPermits: 4, Period: time.Minute, Partition: model.PartitionShared}
	with := func(d model.Definition, p model.Partition) model.Definition { d.Partition = p; return d }
	for _, c := range []struct {
		name  string
		d     model.Definition
		used  map[string]model.Used
		level float64
		want  float64
	}{
		{"a token bucket by its rate in a minute", with(token, model.PartitionShared), granted(300), 0, 50},
		{"of all apps together", with(token, model.PartitionShared), granted(300, 150), 0, 75},
		{"of the app that is nearest, where each has its own", with(token, model.PartitionApp), granted(300, 150), 0, 50},
		{"above 100 after a burst", with(token, model.PartitionShared), granted(660), 0, 110},
		{"a window by its permits in a minute", with(window, model.PartitionShared), granted(240), 0, 80},
		{"a slow limit by what is taken, not by what was granted", slow, granted(5), 90, 90},
		{"slots by those that are held", slots, granted(1000), 75, 75},
		{"nobody asked", with(token, model.PartitionShared), nil, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, r, w := world(c.d)
			r.used, r.level = c.used, c.level
			for range 3 {
				r.minute(t, w)
			}
			if got := b.watch.State.Value; got != c.want {
				t.Errorf("%v percent, want %v", got, c.want)
			}
			if started := len(b.told) > 0; started != (c.want >= 50) {
				t.Errorf("told %v at %v percent", b.told, c.want)
			}
		})
	}
}

// The mean of a minute counts, not a peak in it.
func TestTheLevelOfAMinuteIsItsMean(t *testing.T) {
	b, r, w := world(model.Definition{MaxPermits: 1000, Rate: 1, Period: time.Hour, Partition: model.PartitionShared})
	for range 12 { // two minutes: 100 and 0 by turns, then 20 seconds so that the last is known
		r.level = 100 - r.level
		if err := w.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.at = r.at.Add(10 * time.Second)
	}
	for range 2 {
		if err := w.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.at = r.at.Add(10 * time.Second)
	}
	if got := b.watch.State.Value; got != 50 {
		t.Errorf("%v percent, want the mean of 0 and 100", got)
	}
}

// Two readings make no mean of a minute.
func TestALevelThatWasHardlyReadIsNotKnown(t *testing.T) {
	b, r, w := world(model.Definition{MaxPermits: 1000, Rate: 1, Period: time.Hour, Partition: model.PartitionShared})
	r.level = 90
	for range 10 {
		if err := w.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.at = r.at.Add(30 * time.Second)
	}
	if len(b.told) > 0 || b.watch.State.Minute != 0 {
		t.Errorf("told %v, judged up to minute %d", b.told, b.watch.State.Minute)
	}
}

// A rule of a bucket that was made anew is not judged by what an earlier bucket of its name used.
func TestUsageOfAnEarlierBucketOfTheNameTellsNothing(t *testing.T) {
	b, r, w := world(model.Definition{MaxPermits: 10, Rate: 10, Period: time.Second})
	b.watch.Rule.Kind = model.AlertLimitedShare
	b.watch.Bucket.CreatedRevision, b.watch.Bucket.CreatedAt = 3, r.at.Add(5*time.Minute+30*time.Second)
	r.used = map[string]model.Used{"a": {Limited: 99}}
	for range 6 { // the last one is of both
		r.minute(t, w)
	}
	r.used = nil
	for range 3 {
		r.minute(t, w)
	}
	if len(b.told) > 0 {
		t.Fatalf("told %v of an earlier bucket", b.told)
	}
	r.used = map[string]model.Used{"a": {Limited: 99}}
	for range 3 {
		r.minute(t, w)
	}
	if len(b.told) != 1 {
		t.Errorf("told %v of its own usage", b.told)
	}
}

// While Redis does not answer nothing is known, so an open alert neither ends nor starts anew; nor does it when Redis answers
// again, of which the minutes before are not known.
func TestSilenceOfRedisTellsNothing(t *testing.T) {
	for _, silent := range []int{1, 2, 5, 11, 40} {
		b, r, w := world(model.Definition{MaxPermits: 10, Rate: 10, Period: time.Second})
		b.watch.Rule.Kind = model.AlertLimitedShare
		limited := map[string]model.Used{"a": {Granted: 1, Limited: 99}}
		r.used = limited
		for range 3 {
			r.minute(t, w)
		}
		if len(b.told) != 1 {
			t.Fatalf("told %v", b.told)
		}
		r.down, r.used = true, nil
		for range silent {
			r.minute(t, w)
		}
		r.down, r.used = false, limited
		for range 20 {
			r.minute(t, w)
		}
		if len(b.told) != 1 || b.watch.State.Open == 0 {
			t.Errorf("after %d minutes of silence it told %v", silent, b.told)
		}
	}
}
