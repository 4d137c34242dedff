package reconcile_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/reconcile"
	"github.com/headgate/headgate/internal/testenv"
)

var errDied = errors.New("the server died")

// tampered is the real engine with something happening just before a call, as another server or a crash would do it.
type tampered struct {
	reconcile.Engine
	install func(bucket.Definition)
	remove  func(name string)
	restart func(name string) error
	marked  func() // after a reading of the marks
	moving  func() // before a mark is moved
	before  func() // a reading of definitions
	after   func()
}

func (e *tampered) Read(ctx context.Context, names ...string) ([]bucket.Installed, error) {
	if e.before != nil {
		e.before()
	}
	found, err := e.Engine.Read(ctx, names...)
	if e.after != nil {
		e.after()
	}
	return found, err
}

func (e *tampered) Install(ctx context.Context, d bucket.Definition, o bucket.InstallOptions) (bucket.InstallResult, error) {
	if e.install != nil {
		e.install(d)
	}
	return e.Engine.Install(ctx, d, o)
}

func (e *tampered) Remove(ctx context.Context, name string, revision int64, deployment string) (bucket.InstallResult, error) {
	if e.remove != nil {
		e.remove(name)
	}
	return e.Engine.Remove(ctx, name, revision, deployment)
}

func (e *tampered) InstallAll(ctx context.Context, deployment string, all []bucket.BatchInstall) []bucket.BatchResult {
	if e.install != nil {
		e.install(all[0].Definition)
	}
	return e.Engine.InstallAll(ctx, deployment, all)
}

func (e *tampered) RestartAll(ctx context.Context, deployment string, all []bucket.BatchRestart) []bucket.BatchResult {
	if e.restart != nil {
		if err := e.restart(all[0].Name); err != nil {
			return []bucket.BatchResult{{Err: err}}
		}
	}
	return e.Engine.RestartAll(ctx, deployment, all)
}

func (e *tampered) ReadMarks(ctx context.Context, at ...int) ([]bucket.Mark, error) {
	marks, err := e.Engine.ReadMarks(ctx, at...)
	if e.marked != nil {
		e.marked()
	}
	return marks, err
}

func (e *tampered) MoveMark(ctx context.Context, m *bucket.Mark, at time.Time) (bool, error) {
	if e.moving != nil {
		e.moving()
	}
	return e.Engine.MoveMark(ctx, m, at)
}

// held is a server whose first write waits until another server has done something meanwhile.
func (w *world) held(meanwhile func()) *reconcile.Reconciler {
	var once sync.Once
	return w.server(func(c *reconcile.Config) {
		c.Store = w.again()
		c.Engine = &tampered{
			Engine:  w.engine,
			install: func(bucket.Definition) { once.Do(meanwhile) },
			remove:  func(string) { once.Do(meanwhile) },
		}
	})
}

// A server that read a row, was held up, and writes it late changes nothing that another server brought meanwhile.
func TestLatePushFromASecondServerEndsRight(t *testing.T) {
	meanwhile := map[string]func(w *world, r *reconcile.Reconciler){
		"edited": func(w *world, r *reconcile.Reconciler) { w.setMax("api", 99); w.push(r, "api") },
		"edited twice": func(w *world, r *reconcile.Reconciler) {
			w.setMax("api", 98)
			w.push(r, "api")
			w.setMax("api", 99)
			w.push(r, "api")
		},
		"deleted": func(w *world, r *reconcile.Reconciler) { w.remove("api"); w.push(r, "api") },
		"deleted and made again": func(w *world, r *reconcile.Reconciler) {
			w.remove("api")
			w.push(r, "api")
			w.create("api")
			w.push(r, "api")
		},
		"flushed and edited":  func(w *world, r *reconcile.Reconciler) { w.flush(); w.setMax("api", 99); w.push(r, "api") },
		"deleted and flushed": func(w *world, r *reconcile.Reconciler) { w.remove("api"); w.push(r, "api"); w.flush() },
	}
	onBoth(t, func(w *world) {
		for name, act := range meanwhile {
			w.create("api")
			second := w.server()
			late := w.held(func() { act(w, second) })
			w.push(late, "api")
			if diff := w.unequal(); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if raised := w.raises("api"); len(raised) != 0 {
				t.Errorf("%s: a push in flight was taken for a restored database: %+v", name, raised)
			}
			if row := w.row("api"); !row.Deleted {
				w.remove("api")
			}
			w.push(second, "api")
		}
	})
}

// An edit that another server commits and pushes just before or just after a push reads Redis is seen as what it is, not
// as a database that went back.
func TestEditAroundTheReadingIsNoRestoredDatabase(t *testing.T) {
	onBoth(t, func(w *world) {
		second := w.server()
		w.create("api")
		w.push(second, "api")
		for i, hook := range []func(e *tampered, act func()){
			func(e *tampered, act func()) { e.before = act },
			func(e *tampered, act func()) { e.after = act },
		} {
			var once sync.Once
			e := &tampered{Engine: w.engine}
			hook(e, func() { once.Do(func() { w.setMax("api", int64(50+i)); w.push(second, "api") }) })
			w.push(w.server(func(c *reconcile.Config) { c.Engine = e }), "api")
			w.requireEqual()
		}
		if raised := w.raises("api"); len(raised) != 0 {
			t.Errorf("the system's changes are %+v", raised)
		}
	})
}

// A late remove leaves the bucket that another server brought under the same name meanwhile.
func TestLateRemoveDoesNotUndoARecreation(t *testing.T) {
	onBoth(t, func(w *world) {
		second := w.server()
		w.create("api")
		w.push(second, "api")
		w.remove("api")
		late := w.held(func() { w.create("api"); w.push(second, "api") })
		w.push(late, "api")
		w.requireEqual()
		if found := w.read("api"); found.Tombstone {
			t.Error("the late remove took the new bucket away")
		}
	})
}

// A mark that is set while its bucket is being pushed stays until that edit was pushed too.
func TestMarkSetDuringAPushIsNotLost(t *testing.T) {
	onBoth(t, func(w *world) {
		w.create("api")
		busy := w.held(func() { w.setMax("api", 50) }) // committed, and its own push never came
		w.repair(busy)
		w.requireEqual()
		if found := w.read("api"); found.MaxPermits != 50 {
			t.Errorf("Redis has %d permits, want 50", found.MaxPermits)
		}
	})
}

// A Redis of another deployment is refused until it is adopted; nothing in it is touched before.
func TestForeignRedisIsRefusedUntilAdopted(t *testing.T) {
	onBoth(t, func(w *world) {
		_, err := w.engine.Claim(t.Context(), "another-deployment")
		must(t, err)
		_, err = w.engine.Install(t.Context(), theirs("api"), bucket.InstallOptions{Deployment: "another-deployment"})
		must(t, err)
		r := w.server()
		w.create("api")
		w.create("mine")
		state, err := r.Push(t.Context(), "mine")
		if model.CodeOf(err) != model.CodeForeignRedis || !state.Pending {
			t.Errorf("state %+v, error %v", state, err)
		}
		w.run(r)
		testenv.Eventually(t, 5*time.Second, "the state says so", func() bool { return r.Status().State == reconcile.StateForeign })
		if s := r.Status(); s.Owner != "another-deployment" {
			t.Errorf("owner %q", s.Owner)
		}
		if w.read("mine").Present || w.read("api").Deployment != "another-deployment" {
			t.Error("a foreign Redis was written to")
		}
		if w.mark().Stands {
			t.Error("a mark was written to a foreign Redis")
		}
		must(t, r.Adopt(t.Context()))
		w.eventuallyEqual(5 * time.Second)
		if found := w.read("api"); found.Revision != 8 {
			t.Errorf("the adopted bucket is at revision %d, theirs was at 7", found.Revision)
		}
	})
}

// A definition of another deployment in our own Redis is left alone, damaged or not, and only that bucket is held up.
func TestForeignDefinitionIsLeftAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		for _, name := range []string{"api", "damaged"} {
			_, err := w.engine.Install(t.Context(), theirs(name), bucket.InstallOptions{Deployment: "another-deployment"})
			must(t, err)
			w.create(name)
		}
		must(t, w.rdb.HSet(t.Context(), w.hash("damaged"), "max", "banana").Err())
		w.create("mine")
		w.repair(r)
		for _, name := range []string{"api", "damaged"} {
			if found := w.read(name); found.Deployment != "another-deployment" || found.Revision != 7 {
				t.Errorf("%s was touched: %+v", name, found)
			}
			if raised := w.raises(name); len(raised) != 0 {
				t.Errorf("%s was raised: %+v", name, raised)
			}
		}
		if !w.read("mine").Present {
			t.Error("the other bucket was not installed")
		}
		if s := r.Status(); s.State != reconcile.StateOK || s.Pending != 2 {
			t.Errorf("status %+v", s)
		}
	})
}

func theirs(name string) bucket.Definition {
	return bucket.Definition{Name: name, Revision: 7, Apps: []string{"checkout"}, Algorithm: bucket.TokenBucket, MaxPermits: 5, Rate: 1,
		Period: time.Second, Partition: bucket.PartitionShared, Shards: 1, Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossRefill}
}

// A database cloned from production, with the identity that the docs ask for, leaves production's Redis alone.
func TestClonedDatabaseLeavesTheOriginalsRedisAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.server()
		w.create("api")
		w.repair(r)
		before := w.read("api")
		_, err := w.store.NewDeploymentID(t.Context(), origin) // this world is the clone from here on
		must(t, err)
		w.setMax("api", 99)
		w.remove("api")
		if _, err := r.Push(t.Context(), "api"); model.CodeOf(err) != model.CodeForeignRedis {
			t.Errorf("the clone pushed: %v", err)
		}
		if err := r.Repair(t.Context()); model.CodeOf(err) != model.CodeForeignRedis {
			t.Errorf("the clone repaired: %v", err)
		}
		if after := w.read("api"); after.Revision != before.Revision || after.Tombstone {
			t.Errorf("production has %+v now", after)
		}
	})
}

// Two servers at work on the same rows while people edit: nothing is lost, nothing is raised, nothing is restarted.
func TestTwoServersSideBySideAreHarmless(t *testing.T) {
	onBoth(t, func(w *world) {
		first, second := w.server(), w.server(func(c *reconcile.Config) { c.Store = w.again() })
		names := []string{"a", "b", "c"}
		for _, name := range names {
			w.create(name)
		}
		w.run(first)
		w.run(second)
		var editing sync.WaitGroup
		for i, name := range names {
			editing.Go(func() {
				pusher := []*reconcile.Reconciler{first, second}[i%2]
				for permits := range int64(20) {
					w.setMax(name, 100+permits)
					if permits%3 == 0 {
						w.push(pusher, name)
					}
				}
			})
		}
		editing.Wait()
		w.eventuallyEqual(5 * time.Second)
		for _, name := range names {
			if row := w.row(name); row.Revision != 21 {
				t.Errorf("%s is at revision %d after 20 edits", name, row.Revision)
			}
		}
		for _, r := range []*reconcile.Reconciler{first, second} {
			if s := r.Status(); s.Raised != 0 || s.Restarted != 0 || !s.LastLoss.IsZero() {
				t.Errorf("status %+v", s)
			}
		}
	})
}

// Two servers find a loss together; both may restart, and the state still starts from empty once.
func TestTwoServersFindALossTogether(t *testing.T) {
	onBoth(t, func(w *world) {
		first, second := w.server(), w.server(func(c *reconcile.Config) { c.Store = w.again() })
		w.create("api")
		w.repair(first)
		w.granted("api", 10)
		w.flush()
		var both sync.WaitGroup
		for _, r := range []*reconcile.Reconciler{first, second} {
			both.Go(func() {
				if err := r.Repair(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		w.requireEqual()
		if got := w.granted("api", 10); got != 0 {
			t.Errorf("granted %d", got)
		}
	})
}

// When its context ends, Run ends at the latest a push timeout later, even if Redis stands still, and leaves no
// goroutine.
func TestRunLeavesNothingBehind(t *testing.T) {
	onOwnRedis(t, func(w *world, server *testenv.RedisServer) {
		w.create("api")
		_, _ = w.server().Push(t.Context(), "api")
		ignore := goleak.IgnoreCurrent()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		r := w.server(func(c *reconcile.Config) { c.PushTimeout = 500 * time.Millisecond })
		running.Go(func() { r.Run(ctx) })
		testenv.Eventually(t, 5*time.Second, "it works", func() bool { return r.Status().State == reconcile.StateOK })
		server.Pause(t)
		w.setMax("api", 11)
		r.Wake()
		began := time.Now()
		cancel()
		running.Wait()
		server.Resume(t)
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("Run took %v to end", took)
		}
		_ = w.rdb.Close()
		_ = w.store.Close()
		_ = w.raw.Close()
		goleak.VerifyNone(t, ignore)
	})
}
