package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// A bucket in many copies, one for each shard, is lost, edited and deleted as others are.
func TestABucketOfManyShardsIsLostEditedAndDeletedAsOthersAre(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		permits, slots := definition("permits", 3, 1, time.Hour), leased("slots", 3, time.Hour)
		definitions := []*bucket.Definition{&permits, &slots}
		calls := map[string]func() (client.Decision, error){
			"Acquire": func() (client.Decision, error) { return w.c.Acquire(t.Context(), "permits", client.Key("k")) },
			"AcquireAll": func() (client.Decision, error) {
				ds, err := w.c.AcquireAll(t.Context(), client.Request{Bucket: "permits", Key: "k"})
				if err != nil {
					return client.Decision{}, err
				}
				return ds[0], nil
			},
			"Enter": func() (client.Decision, error) {
				_, d, err := w.c.Enter(t.Context(), "slots", client.Key("k"))
				return d, err
			},
		}
		expect := func(what string, outcome client.Outcome, allowed bool, reason error) {
			t.Helper()
			for name, call := range calls {
				d, err := call()
				if err != nil || d.Outcome != outcome || d.Allowed != allowed || !errors.Is(d.Err, reason) {
					t.Errorf("%s, %s: %+v, %v", what, name, d, err)
				}
			}
		}
		for revision, shards := range []int{4, 64, 1, 8} {
			for _, d := range definitions {
				d.Revision, d.Shards, d.Partition = int64(revision+1), shards, bucket.PartitionKey
				w.install(*d)
			}
			expect("after an edit", client.Granted, true, nil)
		}
		keys := w.rdb.Keys(t.Context(), prefix+":{*").Val()
		if err := w.rdb.Del(t.Context(), keys...).Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			expect("lost", client.Unavailable, true, client.ErrLost)
		}
		for _, d := range definitions {
			if _, err := w.engine.Install(t.Context(), *d, bucket.InstallOptions{Deployment: deployment, Lost: true}); err != nil {
				t.Fatal(err)
			}
			w.acquireAgain(d.Name)
			if _, err := w.engine.Remove(t.Context(), d.Name, 9, deployment); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			expect("deleted", client.NotConfigured, false, nil)
		}
	})
}

// acquireAgain checks that a bucket which was lost decides anew.
func (w *world) acquireAgain(name string) {
	w.t.Helper()
	d, err := w.c.Acquire(w.t.Context(), name, client.Key("other"))
	if name == "slots" {
		misuse(w.t, err, client.ErrConcurrency)
		return
	}
	if err != nil || d.Source != client.SourceRedis || d.Outcome != client.Granted {
		w.t.Errorf("%+v, %v", d, err)
	}
}

// Also clients that only enter, or only ask several buckets at once, learn the time of Redis, by which usage is reported.
func TestUsageOfLeasesAndOfAcquireAllIsReportedByTheTimeOfRedis(t *testing.T) {
	for name, call := range map[string]func(context.Context, *client.Client) error{
		"slots": func(ctx context.Context, c *client.Client) error { _, _, err := c.Enter(ctx, "slots"); return err },
		"all": func(ctx context.Context, c *client.Client) error {
			_, err := c.AcquireAll(ctx, of("all")...)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			mini := testenv.Mini(t)
			ahead := time.Now().Add(time.Hour)
			mini.SetTime(ahead)
			w := newWorld(t, mini.Addr(), client.DefaultPrefix)
			w.install(leased("slots", 3, time.Hour))
			w.install(definition("all", 3, 1, time.Hour))
			if err := call(t.Context(), w.c); err != nil {
				t.Fatal(err)
			}
			testenv.Eventually(t, 10*time.Second, "the usage is there", func() bool {
				used, err := w.engine.ReadUsage(t.Context(), name, ahead.Unix()/60, ahead.Unix()/60)
				return err == nil && len(used) == 1 && used[0].Granted == 1
			})
		})
	}
}
