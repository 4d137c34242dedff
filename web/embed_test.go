package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var build = fstest.MapFS{
	"index.html":       {Data: []byte(`<meta property="csp-nonce" nonce="__CSP_NONCE__"><script nonce="__CSP_NONCE__"></script>`)},
	"assets/app-1a.js": {Data: []byte("console.log(1)")},
	"favicon.svg":      {Data: []byte("<svg/>")},
}

func get(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}

// Each answer has a nonce of its own: in the policy, in the page, and nowhere else.
func TestIndexCarriesAFreshNonce(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range []string{"/", "/buckets/partner-api", "/index.html"} {
		w := get(t, handler(build), http.MethodGet, path)
		found := regexp.MustCompile(`'nonce-([A-Z2-7]+)'`).FindStringSubmatch(w.Header().Get("Content-Security-Policy"))
		if found == nil {
			t.Fatalf("%s: no nonce in %q", path, w.Header().Get("Content-Security-Policy"))
		}
		if strings.Count(w.Body.String(), found[1]) != 2 || strings.Contains(w.Body.String(), nonceMark) {
			t.Errorf("%s: the page does not carry the nonce: %s", path, w.Body)
		}
		if seen[found[1]] {
			t.Errorf("%s: the nonce was used before", path)
		}
		seen[found[1]] = true
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
	}
}

// Hashed files may be kept for ever; one that is missing is missing, and not the console's page.
func TestAssets(t *testing.T) {
	h := handler(build)
	if w := get(t, h, http.MethodGet, "/assets/app-1a.js"); w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("an asset: %d %q", w.Code, w.Header().Get("Cache-Control"))
	}
	for _, path := range []string{"/assets/app-0b.js", "/assets/"} {
		if w := get(t, h, http.MethodGet, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
	if w := get(t, h, http.MethodPost, "/buckets"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST to a page: %d, want 405", w.Code)
	}
}

// Without a build the server says how to make one.
func TestWithoutABuildThePageSaysHow(t *testing.T) {
	w := get(t, handler(fstest.MapFS{"placeholder": {}}), http.MethodGet, "/buckets")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "npm run build") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
