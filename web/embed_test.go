package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/headgate/headgate/web"
)

const script = "console.log('a script long enough that gzip makes it smaller: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')"

func built() http.Handler {
	return web.NewHandler(fstest.MapFS{
		"index.html":           {Data: []byte(`<meta property="csp-nonce" nonce="__CSP_NONCE__"><script type="module" nonce="__CSP_NONCE__" src="/assets/a-1.js"></script>`)},
		"assets/index-Ab12.js": {Data: []byte(script)},
		"favicon.svg":          {Data: []byte("<svg/>")},
		"placeholder":          {Data: []byte("kept")},
	})
}

func get(t *testing.T, h http.Handler, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var nonceInPolicy = regexp.MustCompile(`'nonce-([A-Za-z0-9_-]{22})'`)

// Every answer of index.html carries a nonce of its own, the same in the page and in the policy.
func TestEachPageHasAFreshNonce(t *testing.T) {
	h := built()
	seen := map[string]bool{}
	for range 3 {
		r := get(t, h, http.MethodGet, "/")
		match := nonceInPolicy.FindStringSubmatch(r.Header.Get("Content-Security-Policy"))
		if match == nil {
			t.Fatalf("no nonce in the policy %q", r.Header.Get("Content-Security-Policy"))
		}
		page := body(t, r)
		if strings.Count(page, `nonce="`+match[1]+`"`) != 2 || strings.Contains(page, "__CSP_NONCE__") {
			t.Errorf("the page does not carry the policy's nonce: %s", page)
		}
		if got := r.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q, want no-store: a stored page would repeat its nonce", got)
		}
		seen[match[1]] = true
	}
	if len(seen) != 3 {
		t.Errorf("3 pages had %d different nonces", len(seen))
	}
}

// The policy forbids everything that the console does not need.
func TestPolicyIsStrict(t *testing.T) {
	policy := get(t, built(), http.MethodGet, "/").Header.Get("Content-Security-Policy")
	for _, part := range []string{
		"default-src 'none'", "script-src 'self';", "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
	} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %q: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy allows something unsafe: %s", policy)
	}
}

// A page of the console can be opened by its address, whatever the address holds.
func TestUnknownPathsGetTheConsole(t *testing.T) {
	for _, path := range []string{"/", "/buckets", "/buckets/partner-api.js/history", "/nowhere", "/index.html", "/%3Cscript%3E"} {
		r := get(t, built(), http.MethodGet, path)
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s, want the console", path, r.StatusCode, r.Header.Get("Content-Type"))
		}
	}
}

// A missing asset is a 404: were it answered with the page, a browser would run HTML as a script.
func TestMissingAssetsAreNotFound(t *testing.T) {
	for _, path := range []string{"/assets/index-Old1.js", "/assets/", "/api/v1/nothing"} {
		if r := get(t, built(), http.MethodGet, path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, r.StatusCode)
		}
	}
}

func TestHashedAssetsAreKeptForEver(t *testing.T) {
	r := get(t, built(), http.MethodGet, "/assets/index-Ab12.js")
	if got := r.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("Cache-Control of an asset: %q", got)
	}
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/javascript") {
		t.Errorf("Content-Type of a script: %q", got)
	}
	if got := get(t, built(), http.MethodGet, "/favicon.svg").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control of a file without a hash in its name: %q", got)
	}
}

// Those who take gzip get it, and it holds the same; the others get the plain file.
func TestAssetsTravelPacked(t *testing.T) {
	packed := get(t, built(), http.MethodGet, "/assets/index-Ab12.js", "Accept-Encoding", "br, gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("not packed for a browser that takes gzip")
	}
	reader, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != script {
		t.Errorf("unpacked: %q, %v", got, err)
	}
	for _, accept := range []string{"", "br", "gzip;q=0"} {
		plain := get(t, built(), http.MethodGet, "/assets/index-Ab12.js", "Accept-Encoding", accept)
		if plain.Header.Get("Content-Encoding") != "" || body(t, plain) != script {
			t.Errorf("Accept-Encoding %q got something else than the plain file", accept)
		}
	}
}

func TestOnlyReadingIsServed(t *testing.T) {
	if r := get(t, built(), http.MethodPost, "/buckets"); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want 405", r.StatusCode)
	}
	r := get(t, built(), http.MethodHead, "/buckets")
	if r.StatusCode != http.StatusOK || body(t, r) != "" {
		t.Errorf("HEAD: %d, want 200 without a body", r.StatusCode)
	}
}

// Without a build the server still starts, and its page says how to get the console.
func TestWithoutABuildThePageSaysHowToBuild(t *testing.T) {
	r := get(t, web.NewHandler(fstest.MapFS{"placeholder": {Data: []byte("kept")}}), http.MethodGet, "/buckets")
	page := body(t, r)
	match := nonceInPolicy.FindStringSubmatch(r.Header.Get("Content-Security-Policy"))
	if !strings.Contains(page, "npm run build") || match == nil || !strings.Contains(page, match[1]) {
		t.Errorf("the page does not say how to build the console, or its style lacks the nonce:\n%s", page)
	}
}

// The handler of the program itself always answers, built or not.
func TestEmbeddedConsoleAnswers(t *testing.T) {
	r := get(t, web.Handler(), http.MethodGet, "/")
	if r.StatusCode != http.StatusOK || !strings.Contains(body(t, r), "Headgate") {
		t.Errorf("the embedded console answers %d", r.StatusCode)
	}
}
