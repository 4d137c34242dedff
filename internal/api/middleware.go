package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/model"
)

// answerWithin bounds the time in which a request is worked on. It is below the limits of NewServer, so that the
// answer still gets out.
const answerWithin = 15 * time.Second

// identify gives the request its id, which the answer, the log and the history carry, and notes where it comes from.
func (s *server) identify(c *gin.Context) {
	id := c.GetHeader("X-Request-Id")
	if !requestIDPattern.MatchString(id) {
		raw := make([]byte, 12)
		_, _ = rand.Read(raw) // documented never to fail
		id = hex.EncodeToString(raw)
	}
	c.Header("X-Request-Id", id)
	address, https := s.origin(c.Request)
	c.Request = c.Request.WithContext(withCall(c.Request.Context(), &call{
		requestID: id, address: address, https: https, userAgent: cleanUserAgent(c.Request.UserAgent()),
	}))
	c.Next()
}

// trace makes a request part of a trace: the caller's, where it names one. What matches no route is not traced, nor are
// health checks, and answers that take as long as they take: a live stream would be a span of hours.
func (s *server) trace(c *gin.Context) {
	route := c.FullPath()
	if s.Trace == nil || !strings.HasPrefix(route, prefix) || s.streams[route] {
		return
	}
	call := callOf(c.Request.Context())
	ctx, traceID, end := s.Trace(c.Request, route, call.requestID)
	defer func() { end(c.Writer.Status()) }()
	call.traceID, c.Request = traceID, c.Request.WithContext(ctx)
	c.Next()
}

// logAccess writes one line for each request; reads that went well only at debug, for the console asks every second.
// Queries, headers and bodies stay out of it: they may hold secrets.
func (s *server) logAccess(c *gin.Context) {
	start, ctx := time.Now(), c.Request.Context()
	c.Next()
	if s.Observe != nil {
		s.Observe(c.Request.Method, c.FullPath(), c.Writer.Status(), time.Since(start))
	}
	call := callOf(c.Request.Context())
	level := slog.LevelInfo
	switch read := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead; {
	case ctx.Err() != nil: // the client left before the answer
		level = slog.LevelDebug
	case s.leaving() && c.FullPath() == "/readyz": // as it should be
		level = slog.LevelDebug
	case c.Writer.Status() >= http.StatusInternalServerError:
		level = slog.LevelError
	case c.Writer.Status() == http.StatusTooManyRequests: // a flood of them must not fill the log; the metrics count them
		level = slog.LevelDebug
	case read && c.Writer.Status() < http.StatusBadRequest:
		level = slog.LevelDebug
	}
	line := []slog.Attr{
		slog.String("request_id", call.requestID), slog.String("method", c.Request.Method),
		slog.String("path", clip(c.Request.URL.Path)), slog.Int("status", c.Writer.Status()),
		slog.Int("bytes", max(c.Writer.Size(), 0)), slog.Duration("took", time.Since(start)),
		slog.String("user", call.principal.Name), slog.String("token", call.principal.Token), slog.String("address", call.address),
	}
	if call.traceID != "" {
		line = append(line, slog.String("trace_id", call.traceID))
	}
	s.log.LogAttrs(ctx, level, "request", line...)
}

// recoverPanic answers a panic with a 500 that tells nothing, and logs what happened.
func (s *server) recoverPanic(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause) // the server's own way of breaking off
		}
		ctx := c.Request.Context()
		if ctx.Err() != nil && c.Writer.Written() { // the client left while it was answered
			s.log.DebugContext(ctx, "answer broken off", "request_id", callOf(ctx).requestID)
			return
		}
		s.log.ErrorContext(ctx, "panic", "request_id", callOf(ctx).requestID, "cause", cause, "stack", string(debug.Stack()))
		if !c.Writer.Written() {
			newProblem(ctx, model.CodeInternal, internalDetail).write(c.Writer)
		}
		c.Abort()
	}()
	c.Next()
}

// refuseCrossOrigin keeps other sites' pages from writing with the cookies of a logged-in browser. A request with an API
// token rides on no cookie, and no page can add the header without asking first, which nothing here allows.
func refuseCrossOrigin() gin.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c *gin.Context) {
		if _, given := bearer(c.Request); !given && protection.Check(c.Request) != nil {
			refuse(c, codeCrossOrigin, "this write was asked for by a page of another site")
		}
	}
}

// endAfterChunks ends the connection behind a body in chunks. Where a length stood beside them, net/http went by the
// chunks and forgot the length; a proxy that went by the length would take what follows for part of this request.
func endAfterChunks(c *gin.Context) {
	if len(c.Request.TransferEncoding) > 0 {
		c.Header("Connection", "close")
	}
}

// refuseBadText keeps paths and queries that are no UTF-8 away from the database, which would refuse them later.
func refuseBadText(c *gin.Context) {
	query, err := url.QueryUnescape(c.Request.URL.RawQuery)
	switch {
	case !utf8.ValidString(c.Request.URL.Path) || strings.ContainsRune(c.Request.URL.Path, 0):
		refuse(c, codeMalformed, "the path must be valid UTF-8 without NUL")
	case strings.Contains(c.Request.URL.RawQuery, ";"):
		// net/url drops such a part without a word, and the list would come back unfiltered.
		refuse(c, codeMalformed, "a ; in the query must be written as %3B")
	case err != nil || !utf8.ValidString(query) || strings.ContainsRune(query, 0):
		refuse(c, codeMalformed, "the query must be percent-encoded UTF-8 without NUL")
	}
}

// limitTime ends what takes too long, but for answers that are streamed.
func (s *server) limitTime(c *gin.Context) {
	if s.streams[c.FullPath()] {
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), answerWithin)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// hsts has browsers come back over TLS only, for a year. It covers this host alone: others of the domain may lack TLS.
const hsts = "max-age=31536000"

// secureAnswers sets the headers that keep an API answer from being anything else in a browser. The console sets its
// own.
func (s *server) secureAnswers(c *gin.Context) {
	if s.SecureCookies || callOf(c.Request.Context()).https {
		c.Header("Strict-Transport-Security", hsts)
	}
	if !isAPI(c.Request.URL.Path) {
		return
	}
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	c.Header("X-Frame-Options", "DENY")
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cross-Origin-Opener-Policy", "same-origin")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	c.Header("Cache-Control", "no-store")
}

// isAPI tells which paths are ours; the console has all others.
func isAPI(path string) bool {
	return path == "/api" || strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/readyz"
}

// refuse ends a request before it reaches a handler.
func refuse(c *gin.Context, code model.Code, detail string) {
	newProblem(c.Request.Context(), code, detail).write(c.Writer)
	c.Abort()
}
