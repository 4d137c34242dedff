package ginlimit_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/client/ginlimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(sdkenv.Main(m))
}

// world is a World with the middleware under test.
type world struct{ *sdkenv.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{sdkenv.New(t)}
}

func done(c *gin.Context) { c.String(http.StatusOK, "done") }

// serve starts a real server whose handler stands behind the rules, and both behind a first handler, if any.
func (w *world) serve(first, handler gin.HandlerFunc, rules []ginlimit.Rule, opts ...ginlimit.Option) *httptest.Server {
	w.T.Helper()
	limit, err := ginlimit.New(w.Client, rules, opts...)
	if err != nil {
		w.T.Fatal(err)
	}
	router := gin.New()
	if first != nil {
		router.Use(first)
	}
	router.GET("/", limit, handler)
	return sdkenv.Serve(w.T, router)
}
