// Package web serves the console, which Vite builds from src into dist and the compiler embeds from there.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

const (
	// nonceMark stands in the built index.html wherever the page's nonce belongs (vite.config.ts holds the same word).
	nonceMark = "__CSP_NONCE__"
	// policy takes the nonce of the page's style elements. No script is inline, so scripts need none.
	policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; connect-src 'self'; " +
		"img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// Handler serves the embedded console: its files, and index.html for every other path, so that a page of the console
// can be opened by its address. Before the console has been built, it serves a page that says how to build it.
func Handler() http.Handler {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: the embedded folder dist is missing: " + err.Error()) // the compiler put it there
	}
	return newHandler(built)
}

// newHandler serves a console built into files.
func newHandler(files fs.FS) http.Handler {
	index, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return &console{index: []byte(notBuilt)}
	}
	c := &console{index: index, files: map[string]*file{}}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "index.html" {
			return err
		}
		body, err := fs.ReadFile(files, name)
		c.files["/"+name] = newFile(name, body)
		return err
	})
	if err != nil {
		panic("web: the embedded console cannot be read: " + err.Error())
	}
	return c
}

type console struct {
	index []byte
	files map[string]*file // by URL path
}

// file is one built file as it is answered.
type file struct {
	body         []byte
	packed       func() []byte // gzip; nil where it would not be smaller
	contentType  string
	cacheControl string
}

func newFile(name string, body []byte) *file {
	f := &file{body: body, contentType: mime.TypeByExtension(path.Ext(name)), cacheControl: "no-cache"}
	if f.contentType == "" {
		f.contentType = "application/octet-stream"
	}
	if strings.HasPrefix(name, "assets/") {
		f.cacheControl = "public, max-age=31536000, immutable" // the name carries a hash of the content
	}
	f.packed = sync.OnceValue(func() []byte { return pack(body) })
	return f
}

func pack(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(body); err != nil || w.Close() != nil || b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}

func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := newNonce()
	setSecurityHeaders(w.Header(), nonce)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the console is read by GET", http.StatusMethodNotAllowed)
	case c.files[r.URL.Path] != nil:
		c.files[r.URL.Path].answer(w, r)
	case strings.HasPrefix(r.URL.Path, "/assets/") || strings.HasPrefix(r.URL.Path, "/api/"):
		http.NotFound(w, r) // a file of an older build, or a route that is no page: index.html would only confuse
	default:
		c.answerIndex(w, r, nonce)
	}
}

func (f *file) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", f.cacheControl)
	h.Set("Vary", "Accept-Encoding")
	body := f.body
	if takesGzip(r) {
		if packed := f.packed(); packed != nil {
			h.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	write(w, r, body)
}

func (c *console) answerIndex(w http.ResponseWriter, r *http.Request, nonce string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	write(w, r, bytes.ReplaceAll(c.index, []byte(nonceMark), []byte(nonce)))
}

func write(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the browser may be gone
	}
}

func takesGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		}
	}
	return false
}

func setSecurityHeaders(h http.Header, nonce string) {
	h.Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// newNonce returns 128 random bits; crypto/rand ends the program rather than fail.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

const notBuilt = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Headgate</title>
    <style nonce="` + nonceMark + `">body { font: 1rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 4rem auto; padding: 0 1rem }</style>
  </head>
  <body>
    <main>
      <h1>The console is not built</h1>
      <p>This server was compiled without it; the API under <a href="/api/v1/openapi.json">/api/v1</a> works.
      To build the console you need Node 20.19 or newer. In the repository:</p>
      <pre><code>cd web
npm ci
npm run build</code></pre>
      <p>Then compile and start the server again, or let <code>make run</code> do all of it.</p>
    </main>
  </body>
</html>
`
