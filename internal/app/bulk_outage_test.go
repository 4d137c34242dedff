package app

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// bulk is as many buckets as one request may change.
const bulk = model.BulkMost

// makeMany makes the app checkout and the buckets bulk-000 and so on.
func makeMany(t *testing.T, s *store.Store) {
	t.Helper()
	d, by := ofCheckout(t, s)
	wanted := model.Wanted{}
	for i := range bulk {
		wanted.Buckets = append(wanted.Buckets, model.WantedBucket{Name: fmt.Sprintf("bulk-%03d", i), Definition: d})
	}
	if _, err := s.Import(t.Context(), wanted, by, false); err != nil {
		t.Fatal(err)
	}
}

// Redis stops answering, dies, or does so in the middle of an edit of 500 buckets: the edit is saved whole and answered soon
// with what is not in force yet, and when Redis is back all of it is.
func TestABulkEditOf500IsWholeWhateverBecomesOfRedis(t *testing.T) {
	dsn, s := history(t, nil)
	server := testenv.OwnRedis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN, cfg.RedisURL, cfg.AdminPassword = "127.0.0.1:0", dsn, "redis://"+server.Addr+"/0", rollupPassword
	url, _ := runServer(t, cfg)
	makeMany(t, s)
	admin := adminenv.Login(t, url, nil, "admin", rollupPassword)
	synced := func(revision int64) func() bool {
		return func() bool {
			buckets, pending, err := s.CountBuckets(t.Context(), "")
			b, missing := s.Bucket(t.Context(), "bulk-499")
			return err == nil && missing == nil && buckets == bulk && pending == 0 && b.Revision == revision
		}
	}
	testenv.Eventually(t, time.Minute, "all buckets in Redis", synced(1))
	revision := int64(1)
	for name, fail := range map[string]struct{ away, back func() }{
		"it stops answering": {func() { server.Pause(t) }, func() { server.Resume(t) }},
		"it is gone":         {server.Stop, func() { server.Start(t) }},
	} {
		for _, after := range []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond} {
			edit := api.BulkEdit{Change: api.BulkChange{SetLabels: map[string]string{"edit": fmt.Sprint(revision)}}, Reason: "a test"}
			for i := range bulk {
				edit.Buckets = append(edit.Buckets, api.BulkTarget{Name: fmt.Sprintf("bulk-%03d", i), Revision: revision})
			}
			revision++
			left, cancel := context.WithTimeout(t.Context(), after)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				<-left.Done()
				fail.away()
			}()
			if after == 0 {
				<-gone
			}
			var edited api.BulkEdited
			began := time.Now()
			answer := admin.Must(t, http.StatusOK, http.MethodPost, "/buckets/bulk", nil, edit)
			took := time.Since(began)
			if err := answer.Into(&edited); err != nil {
				t.Fatal(err)
			}
			<-gone
			cancel()
			pending := 0
			for _, b := range edited.Changed {
				if b.Revision != revision {
					t.Fatalf("%s is at revision %d, want %d", b.Name, b.Revision, revision)
				}
				if b.Sync.State != "synced" {
					pending++
				}
			}
			t.Logf("%s after %v: answered in %v, %d of %d wait", name, after, took, pending, len(edited.Changed))
			if len(edited.Changed) != bulk || after == 0 && pending != bulk || took > 20*time.Second {
				t.Errorf("%s after %v: %d changed, %d wait, answered in %v", name, after, len(edited.Changed), pending, took)
			}
			fail.back()
			testenv.Eventually(t, time.Minute, "all of it in force", synced(revision))
		}
	}
}
