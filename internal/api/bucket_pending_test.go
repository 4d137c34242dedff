package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

// A bucket that waits says what really holds it up, in the answer of the save and afterwards.
func TestAPendingBucketTellsTheTrueReason(t *testing.T) {
	w := onSQLite(t)
	must(t, w.engine.Adopt(t.Context(), "another-deployment"))
	c := w.as(bob)
	tag := c.do("GET", "/api/v1/buckets/"+theBucket, nil).header.Get("ETag")
	saved := c.do("PUT", "/api/v1/buckets/"+theBucket, definition(map[string]any{"owners": []string{bob}, "rate": 40}), "If-Match", tag).bucket(t, http.StatusOK)
	read := c.do("GET", "/api/v1/buckets/"+theBucket, nil).bucket(t, http.StatusOK)
	for _, b := range []struct{ state, message string }{{saved.Sync.State, saved.Sync.Message}, {read.Sync.State, read.Sync.Message}} {
		if b.state != model.SyncPending || !strings.Contains(b.message, "belongs to another deployment") {
			t.Errorf("%s: %q, want the stored reason", b.state, b.message)
		}
	}
}
