package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

func newLive(t *testing.T) live {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	return live{bucket.New(rdb, prefix)}
}

// install puts a bucket of 10 permits or slots into Redis; the period is so long that nothing comes back during a test.
func (l live) install(t *testing.T, algorithm model.Algorithm, change func(*bucket.Definition)) bucket.Definition {
	t.Helper()
	d := bucket.Definition{
		Name: "api", Revision: 1, Apps: []string{"checkout"}, Algorithm: string(algorithm), MaxPermits: 10, Rate: 10, Period: 31 * 24 * time.Hour,
		Partition: bucket.PartitionShared, Shards: 1, Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossRefill,
	}
	if change != nil {
		change(&d)
	}
	if _, err := l.engine.Install(t.Context(), d, bucket.InstallOptions{Deployment: "test"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// take takes permits, or enters as often, as the SDK does.
func (l live) take(t *testing.T, d bucket.Definition, permits int64) {
	t.Helper()
	target, err := l.engine.Target(d.Name, "checkout", d.Facts())
	if err != nil {
		t.Fatal(err)
	}
	if d.Algorithm == bucket.Concurrency {
		enter := bucket.LeaseCall{Target: target}
		for i := range permits {
			enter.Ops = append(enter.Ops, bucket.LeaseOp{Do: bucket.LeaseEnter, ID: fmt.Sprintf("lease-%d", i)})
		}
		if err := l.engine.Ask(t.Context(), &enter); err != nil {
			t.Fatal(err)
		}
		if enter.Err != nil || enter.Results[permits-1].Code != bucket.LeaseHeld {
			t.Fatalf("enter: %+v, %v", enter.Results, enter.Err)
		}
		return
	}
	reply, err := l.engine.Acquire(t.Context(), bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: permits}}})
	if err != nil || reply.Results[0].Granted != permits {
		t.Fatalf("acquire: %+v, %v", reply, err)
	}
}

// The console is told what is left of a bucket's one state, of every algorithm, and looking takes nothing.
func TestLiveTellsWhatIsLeftOfEachAlgorithm(t *testing.T) {
	for _, algorithm := range model.Algorithms {
		for _, apps := range []string{"checkout", bucket.AllApps} {
			t.Run(string(algorithm)+" for "+apps, func(t *testing.T) {
				l := newLive(t)
				d := l.install(t, algorithm, func(d *bucket.Definition) { d.Apps = []string{apps} })
				l.take(t, d, 3)
				for range 2 {
					state, err := l.State(t.Context(), model.Bucket{Name: "api"})
					if err != nil || !state.Present || state.Revision != 1 || state.Now.IsZero() {
						t.Fatalf("state %+v, %v", state, err)
					}
					if state.Permits == nil || *state.Permits != 7 {
						t.Errorf("%v permits are left, want 7", state.Permits)
					}
					if slots := algorithm == model.Concurrency; (state.Held != nil) != slots || slots && *state.Held != 3 {
						t.Errorf("held: %v", state.Held)
					}
				}
			})
		}
	}
}

// Where each app or key has a state of its own, or none is kept, there is no one figure to tell.
func TestLiveTellsNoFigureWhereThereIsNotOne(t *testing.T) {
	for _, algorithm := range model.Algorithms {
		for what, change := range map[string]func(*bucket.Definition){
			"a state for each app": func(d *bucket.Definition) { d.Partition = bucket.PartitionApp },
			"a state for each key": func(d *bucket.Definition) { d.Partition, d.Shards = bucket.PartitionKey, 8 },
			"no apps":              func(d *bucket.Definition) { d.Apps = nil },
			"mode off":             func(d *bucket.Definition) { d.Mode = bucket.ModeOff },
		} {
			l := newLive(t)
			l.install(t, algorithm, change)
			state, err := l.State(t.Context(), model.Bucket{Name: "api"})
			if err != nil || !state.Present || state.Permits != nil || state.Held != nil {
				t.Errorf("%s with %s: %+v, %v", algorithm, what, state, err)
			}
		}
	}
}
