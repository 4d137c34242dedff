package e2e_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

// tokens is a bucket of three permits that come back in an hour, and that may be reserved.
func tokens(name, partition string) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{"checkout"}, Algorithm: bucket.TokenBucket,
		MaxPermits: 3, Rate: 3, Period: time.Hour, Partition: partition, Shards: 1,
		Mode: bucket.ModeEnforce, MaxWait: time.Hour, OnFailure: bucket.FailLocal, AfterLoss: bucket.LossRefill,
	}
}

func sharded(name string) bucket.Definition {
	d := tokens(name, bucket.PartitionKey)
	d.Shards = 4
	return d
}

func window(algorithm string) bucket.Definition {
	d := tokens(algorithm, bucket.PartitionAppKey)
	d.Algorithm, d.Rate, d.MaxWait = algorithm, 1, 0
	return d
}

// slots is a bucket of leases that last a second, so that a test sees them renewed.
func leases(name string) bucket.Definition {
	d := tokens(name, bucket.PartitionShared)
	d.Algorithm, d.MaxPermits, d.Rate, d.Period, d.MaxWait = bucket.Concurrency, 1, 1, time.Second, 0
	return d
}

// exerciseAll does all that an admin server and an app do.
func (g *guarded) exerciseAll() {
	g.t.Helper()
	for _, d := range []bucket.Definition{
		tokens("b", bucket.PartitionShared), tokens("two", bucket.PartitionApp), sharded("sharded"), leases("slots"),
		window(bucket.FixedWindow), window(bucket.SlidingWindow), window(bucket.SlidingLog),
	} {
		g.install(d)
	}
	c := g.client()
	lease := g.enter(c)
	g.acquireFromEach(c)
	g.waitAndGiveUp(c)
	g.acquireAll(c)
	g.awaitReports(c)
	if err := context.Cause(lease.Context()); err != nil {
		g.t.Errorf("the lease was not renewed: %v", err)
	}
	lease.Release()
	if err := c.Close(); err != nil {
		g.t.Errorf("Close: %v", err)
	}
	g.administer()
}

// decided fails unless Redis itself decided as wanted.
func decided(t *testing.T, d client.Decision, err error, want client.Outcome) {
	t.Helper()
	if err != nil || d.Err != nil || d.Outcome != want || d.Source == client.SourceLocal {
		t.Errorf("%s: got %+v, %v, want %s", d.Bucket, d, err, want)
	}
}

func (g *guarded) enter(c *client.Client) *client.Lease {
	g.t.Helper()
	lease, d, err := c.Enter(g.t.Context(), "slots")
	decided(g.t, d, err, client.Granted)
	if lease == nil {
		g.t.FailNow()
	}
	_, d, err = c.Enter(g.t.Context(), "slots")
	decided(g.t, d, err, client.Limited)
	return lease
}

func (g *guarded) acquireFromEach(c *client.Client) {
	g.t.Helper()
	for _, name := range []string{"b", "two", "sharded", bucket.FixedWindow, bucket.SlidingWindow, bucket.SlidingLog} {
		for i := range 3 {
			d, err := c.Acquire(g.t.Context(), name, client.Key("k"))
			decided(g.t, d, err, client.Granted)
			if d, err = c.Peek(g.t.Context(), name, client.Key("k")); i < 2 {
				decided(g.t, d, err, client.Granted)
			}
		}
		d, err := c.Acquire(g.t.Context(), name, client.Key("k"))
		decided(g.t, d, err, client.Limited)
	}
	d, err := c.Acquire(g.t.Context(), "nowhere")
	decided(g.t, d, err, client.NotConfigured)
}

// waitAndGiveUp reserves a permit and gives it back.
func (g *guarded) waitAndGiveUp(c *client.Client) {
	g.t.Helper()
	retryAfter := func() time.Duration {
		d, err := c.Peek(g.t.Context(), "sharded", client.Key("k"))
		decided(g.t, d, err, client.Limited)
		return d.RetryAfter
	}
	ctx, cancel := context.WithCancel(g.t.Context())
	defer cancel()
	gone := make(chan error)
	go func() {
		_, err := c.Wait(ctx, "sharded", client.Key("k"))
		gone <- err
	}()
	testenv.Eventually(g.t, 20*time.Second, "a permit is reserved", func() bool { return retryAfter() > 20*time.Minute })
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		g.t.Errorf("Wait: %v", err)
	}
	testenv.Eventually(g.t, 20*time.Second, "the reservation is given back", func() bool { return retryAfter() <= 20*time.Minute })
}

func (g *guarded) acquireAll(c *client.Client) {
	g.t.Helper()
	both := []client.Request{{Bucket: "sharded", Key: "other"}, {Bucket: bucket.SlidingWindow, Key: "other"}, {Bucket: bucket.SlidingLog, Key: "other"}}
	for i, want := range []client.Outcome{client.Granted, client.Granted, client.Granted, client.Limited} {
		all, err := c.AcquireAll(g.t.Context(), both...)
		if err != nil || len(all) != len(both) {
			g.t.Fatalf("AcquireAll: %v, %v", all, err)
		}
		for _, d := range all {
			if i < 3 {
				decided(g.t, d, err, want)
			}
		}
		if client.AllAllowed(all) != (i < 3) {
			g.t.Errorf("call %d: %+v", i, all)
		}
	}
}

// awaitReports waits until Redis has usage, heartbeat and the most limited keys of the app.
func (g *guarded) awaitReports(c *client.Client) {
	g.t.Helper()
	d, err := c.Acquire(g.t.Context(), "sharded", client.Key("k"))
	decided(g.t, d, err, client.Limited)
	testenv.Eventually(g.t, 20*time.Second, "the limited key is reported", func() bool {
		now, err := g.engine().Time(g.t.Context())
		if err != nil {
			return false
		}
		top, err := g.engine().ReadLimited(g.t.Context(), "sharded", now.Unix()/60-2, now.Unix()/60)
		return err == nil && slices.ContainsFunc(top, func(k bucket.LimitedKey) bool { return k.Key == "k" })
	})
	testenv.Eventually(g.t, 20*time.Second, "usage is reported", func() bool { return g.granted("b") == 3 })
	testenv.Eventually(g.t, 20*time.Second, "the app is seen", func() bool {
		all, err := g.engine().Instances(g.t.Context())
		return err == nil && len(all) == 1 && all[0].App == "checkout" && len(all[0].Buckets) >= 7
	})
	testenv.Eventually(g.t, 20*time.Second, "the app knows who shares a limit", func() bool { return c.Stats().Buckets["b"].Live == 1 })
}

// administer does what an admin server does beside installing.
func (g *guarded) administer() {
	g.t.Helper()
	t, e, ctx := g.t, g.engine(), g.t.Context()
	must := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	owner, err := e.Claim(ctx, aclDeployment)
	if must("claim", err); owner != aclDeployment {
		t.Errorf("the owner is %q", owner)
	}
	marks, err := e.ReadMarks(ctx)
	must("read the marks", err)
	for i := range marks {
		_, err = e.MoveMark(ctx, &marks[i], marks[i].Clock)
		must("move a mark", err)
		_, err = e.PeekMarks(ctx, marks[i].Slot)
		must("peek at a mark", err)
	}
	must("adopt", e.Adopt(ctx, aclDeployment))
	names, err := e.IndexedNames(ctx)
	if must("read the index", err); len(names) != 7 {
		t.Errorf("indexed: %v", names)
	}
	health, err := e.Health(ctx)
	if must("health", err); health.Role != "master" {
		t.Errorf("health: %+v", health)
	}
	must("look", g.look(e, names))
	for _, name := range names {
		g.change(e, name)
	}
	_, err = e.Time(ctx)
	must("time", err)
}

// look reads what the console shows, and tries an acquire of each bucket.
func (g *guarded) look(e *bucket.Engine, names []string) error {
	ctx, r := g.t.Context(), figures.Reader{Engine: e}
	_, _, err := r.Sample(ctx, names)
	for _, name := range names {
		_, limited := r.LimitedKeys(ctx, name, 5, 10)
		_, instances := r.Instances(ctx, name)
		_, trial := r.Try(ctx, name, model.Trial{App: "checkout", Key: "another", Permits: 1})
		err = errors.Join(err, limited, instances, trial)
	}
	return err
}

// change edits, restarts, resets and removes a bucket.
func (g *guarded) change(e *bucket.Engine, name string) {
	g.t.Helper()
	ctx := g.t.Context()
	found, err := e.Read(ctx, name)
	if err != nil || found[0].Damaged || found[0].Missing > 0 {
		g.t.Fatalf("read %s: %+v, %v", name, found, err)
	}
	d := found[0].Definition
	d.Revision, d.MaxPermits = 2, 2
	g.install(d)
	if d.Algorithm != bucket.Concurrency {
		target, err := e.Target(name, "checkout", d.Facts())
		if err == nil {
			call := bucket.Call{Target: target, Shard: target.Shard("k"), Entries: []bucket.Entry{{Permits: 1, Count: 1, Key: "k"}}}
			_, err = e.Acquire(ctx, call)
			err = errors.Join(err, e.ResetKey(ctx, target, "k"))
		}
		if err != nil {
			g.t.Errorf("try an acquire from %s: %v", name, err)
		}
	}
	_, failed := e.Restart(ctx, name, aclDeployment, time.Now())
	_, err = e.Reset(ctx, name, aclDeployment)
	failed = errors.Join(failed, err)
	_, err = e.Remove(ctx, name, 3, aclDeployment)
	if failed = errors.Join(failed, err); failed != nil {
		g.t.Errorf("restart, reset or remove %s: %v", name, failed)
	}
}
