package httplimit_test

import (
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestMain(m *testing.M) {
	os.Exit(sdkenv.Main(m))
}

// world is a World with the middleware under test.
type world struct{ *sdkenv.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{sdkenv.New(t)}
}

// protect makes a handler that says "done" behind the rules.
func (w *world) protect(rules []httplimit.Rule, opts ...httplimit.Option) http.Handler {
	w.T.Helper()
	limit, err := httplimit.New(w.Client, rules, opts...)
	if err != nil {
		w.T.Fatal(err)
	}
	return limit(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "done") }))
}
