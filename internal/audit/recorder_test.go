package audit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// kept stands for the store: it keeps rows, or refuses them while it is broken.
type kept struct {
	mu     sync.Mutex
	rows   []model.Change
	broken bool
}

var errBroken = errors.New("broken")

func (k *kept) AppendChange(_ context.Context, c model.Change) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken {
		return errBroken
	}
	c.Count = max(c.Count, 1)
	k.rows = append(k.rows, c)
	return nil
}

func (k *kept) take() []model.Change {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows := k.rows
	k.rows = nil
	return rows
}

func sum(rows []model.Change) (n int64) {
	for _, c := range rows {
		n += c.Count
	}
	return n
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func refused(name string) model.Change {
	return model.Change{Action: model.ActionLoginRefused, TargetKind: model.TargetUser, Actor: name, Target: name, Address: "192.0.2.9", Reason: "wrong password"}
}

func recorder() (*kept, *clock, *audit.Recorder) {
	to, now := &kept{}, &clock{start}
	return to, now, audit.NewRecorder(to, now.Now, nil)
}

// The first refusal is there at once; its repetitions become one row with their number when the minute is over.
func TestRepetitionsBecomeOneRowAMinute(t *testing.T) {
	to, now, r := recorder()
	for i := range 600 {
		if err := r.Record(t.Context(), refused("ann")); err != nil {
			t.Fatal(err)
		}
		if rows := to.take(); i == 0 && (len(rows) != 1 || rows[0].Count != 1 || !rows[0].At.Equal(start)) || i > 0 && len(rows) > 0 {
			t.Fatalf("after %d: %+v", i, rows)
		}
		now.now = now.now.Add(50 * time.Millisecond)
	}
	r.Flush(t.Context())
	if rows := to.take(); len(rows) != 0 {
		t.Fatalf("written before the minute was over: %+v", rows)
	}
	now.now = start.Add(time.Minute)
	r.Flush(t.Context())
	rows := to.take()
	if len(rows) != 1 || rows[0].Count != 599 || !rows[0].At.Equal(start.Add(50*time.Millisecond)) || !rows[0].Until.Equal(start.Add(599*50*time.Millisecond)) {
		t.Fatalf("rows %+v", rows)
	}
	if c := refused("ann"); rows[0].Actor != c.Actor || rows[0].Address != c.Address || rows[0].Reason != c.Reason {
		t.Errorf("row %+v", rows[0])
	}
	r.Flush(t.Context())
	if rows := to.take(); len(rows) != 0 {
		t.Errorf("written twice: %+v", rows)
	}
	if err := r.Record(t.Context(), refused("ann")); err != nil || len(to.take()) != 1 {
		t.Errorf("the next minute does not begin with a row at once: %v", err)
	}
}

// Events that differ in anything that an auditor looks at stay apart.
func TestDifferentRefusalsStayApart(t *testing.T) {
	to, _, r := recorder()
	changes := []func(c *model.Change){
		func(*model.Change) {},
		func(c *model.Change) { c.Actor = "x" },
		func(c *model.Change) { c.Target = "x" },
		func(c *model.Change) { c.TargetKind = model.TargetApp },
		func(c *model.Change) { c.Address = "x" },
		func(c *model.Change) { c.Reason = "x" },
		func(c *model.Change) { c.Token = "x" },
		func(c *model.Change) { c.Action = model.ActionRefused },
	}
	for range 2 {
		for _, change := range changes {
			c := refused("ann")
			change(&c)
			if err := r.Record(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rows := to.take(); len(rows) != len(changes) {
		t.Errorf("%d rows at once, want %d", len(rows), len(changes))
	}
	r.Close(t.Context())
	if rows := to.take(); len(rows) != len(changes) || sum(rows) != int64(len(changes)) {
		t.Errorf("%d rows at the end, want %d", len(rows), len(changes))
	}
}

// Ten minutes of 10,000 refused logins a second under random names: a few dozen rows a minute, and none is uncounted.
func TestFloodOfRandomNamesMakesFewRows(t *testing.T) {
	to, now, r := recorder()
	const perMinute, minutes = 60_000, 10 // a tenth of the flood, since each counts the same
	var total int64
	for minute := range minutes {
		for i := range perMinute {
			c := refused(fmt.Sprintf("user%d-%d", minute, i))
			c.Address = fmt.Sprintf("192.0.2.%d", i%250)
			if err := r.Record(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			now.now = now.now.Add(time.Minute / perMinute)
		}
		r.Flush(t.Context())
		rows := to.take()
		total += sum(rows)
		if most := 30; minute > 0 && len(rows) > most || len(rows) > 130 {
			t.Errorf("minute %d: %d rows", minute, len(rows))
		}
		last := rows[len(rows)-1]
		if minute > 0 && (last.Count < perMinute/2 || !strings.Contains(string(last.After), `"distinct":1000,"distinct_at_least":true`) || last.Until.IsZero()) {
			t.Errorf("minute %d: the last row is %+v %s", minute, last, last.After)
		}
	}
	r.Close(t.Context())
	if total += sum(to.take()); total != perMinute*minutes {
		t.Errorf("%d events are counted, want %d", total, perMinute*minutes)
	}
}

// While the store is away, the first of a kind is an error to its caller and what was counted waits, within bounds.
func TestCountsSurviveAStoreThatIsAway(t *testing.T) {
	to, now, r := recorder()
	var recorded int64
	for i := range 300 {
		for range 3 {
			if err := r.Record(t.Context(), refused(fmt.Sprint("u", i))); err != nil {
				t.Fatal(err)
			}
			recorded++
		}
	}
	written := sum(to.take())
	to.broken = true
	if err := r.Record(t.Context(), model.Change{Action: model.ActionRefused}); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	for range 5 {
		now.now = now.now.Add(time.Minute)
		r.Flush(t.Context())
	}
	to.broken = false
	r.Close(t.Context())
	if written += sum(to.take()); written != recorded {
		t.Errorf("%d of %d events came through", written, recorded)
	}
}

func TestRecorderTakesCallsFromEverywhereAtOnce(t *testing.T) {
	to := &kept{}
	r := audit.NewRecorder(to, nil, nil)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { r.Run(ctx) })
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 2000 {
				if err := r.Record(ctx, refused(fmt.Sprint(w, i%300))); err != nil {
					t.Error(err)
				}
				if i%100 == 0 {
					r.Flush(ctx)
				}
			}
		})
	}
	writers.Wait()
	stop()
	group.Wait()
	r.Close(t.Context())
	if n := sum(to.take()); n != 16_000 {
		t.Errorf("%d of 16000 events were recorded", n)
	}
}
