// Package web holds the console and the handler that serves it.
//
// index.html carries a fresh nonce at each request, which the Content-Security-Policy of the same answer names; files
// with a hash in their name may be cached for ever. Paths that are no file are the console's own routes and get
// index.html. Before the console is built, every page says how to build it; the API works without.
package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// nonceMark is what vite.config.ts has the build put wherever a nonce belongs.
const nonceMark = "__CSP_NONCE__"

const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; connect-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headgate</title></head>
<body><h1>The console is not built yet</h1>
<p>Headgate's API is running under <code>/api/v1</code>. To build the console, with Node 20 or newer:</p>
<pre>make run</pre>
<p>or <code>cd web &amp;&amp; npm ci &amp;&amp; npm run build</code>, then start the server again.</p>
</body></html>
`

// Handler serves the console that was built into this binary.
func Handler() http.Handler {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the embedded folder is there by construction
	}
	return handler(built)
}

func handler(built fs.FS) http.Handler {
	index, err := fs.ReadFile(built, "index.html")
	files := http.FileServerFS(built)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		secure(w.Header())
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		switch {
		case isFile(built, name):
			if strings.HasPrefix(name, "assets/") {
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			}
			files.ServeHTTP(w, r)
		case strings.HasPrefix(name+"/", "assets/"):
			// A console of an older build asks for its files: HTML in their place would be run as a script.
			http.NotFound(w, r)
		case errors.Is(err, fs.ErrNotExist):
			page(w, []byte(notBuilt), "")
		default:
			nonce := rand.Text()
			page(w, bytes.ReplaceAll(index, []byte(nonceMark), []byte(nonce)), nonce)
		}
	})
}

// page answers with HTML that nobody may keep, since its nonce is good for this answer only.
func page(w http.ResponseWriter, html []byte, nonce string) {
	w.Header().Set("Content-Security-Policy", fmt.Sprintf(policy, nonce))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(html) // the client went away
}

func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// isFile tells whether name is a file of the build other than index.html, which is never served as it is.
func isFile(built fs.FS, name string) bool {
	if name == "index.html" || !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(built, name)
	return err == nil && !info.IsDir()
}
