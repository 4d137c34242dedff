package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

const (
	prefix = "/api/v1"
	// bodyWithin is above answerWithin: when the deadline of a read passes, net/http ends the request's context.
	bodyWithin = 20 * time.Second
	// strangersBodyWithin is for what nobody has proved to be somebody for: a name and a password.
	strangersBodyWithin = 5 * time.Second
)

// routes collects the routes and the permission of each.
type routes struct {
	server *server
	engine *gin.Engine
	huma   huma.API
	needs  map[string]auth.Permission // by "METHOD /gin/path"
}

func newRoutes(s *server, engine *gin.Engine) *routes {
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Headgate", Version: "v1",
				Description: "Rate limits as shared, audited configuration. Errors are RFC 9457 problem details; writes to what exists carry If-Match.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					sessionScheme: {Type: "apiKey", In: "cookie", Name: accessCookie},
					tokenScheme:   {Type: "http", Scheme: "bearer", Description: "an API token, hgp_… or hgs_…"},
				},
			},
		},
		Formats:                      map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}
	return &routes{server: s, engine: engine, huma: humagin.New(engine, config), needs: map[string]auth.Permission{}}
}

const (
	sessionScheme = "session"
	tokenScheme   = "token"
)

// handler is how every route's work looks.
type handler[I, O any] = func(ctx context.Context, in *I) (*O, error)

type option = func(*huma.Operation)

// answers sets the status of success; 200 without it.
func answers(status int) option { return func(op *huma.Operation) { op.DefaultStatus = status } }

func get[I, O any](r *routes, path string, needs auth.Permission, h handler[I, O], id, summary string, options ...option) {
	register(r, http.MethodGet, path, needs, h, id, summary, options)
}

func post[I, O any](r *routes, path string, needs auth.Permission, h handler[I, O], id, summary string, options ...option) {
	register(r, http.MethodPost, path, needs, h, id, summary, options)
}

func put[I, O any](r *routes, path string, needs auth.Permission, h handler[I, O], id, summary string, options ...option) {
	register(r, http.MethodPut, path, needs, h, id, summary, options)
}

func del[I, O any](r *routes, path string, needs auth.Permission, h handler[I, O], id, summary string, options ...option) {
	register(r, http.MethodDelete, path, needs, h, id, summary, options)
}

func register[I, O any](r *routes, method, path string, needs auth.Permission, h handler[I, O], id, summary string, options []option) {
	op := huma.Operation{
		Method: method, Path: prefix + path, OperationID: id, Summary: summary,
		Tags:            []string{strings.Split(path, "/")[1]},
		Description:     "Needs the permission `" + string(needs) + "`.",
		MaxBodyBytes:    bodyBytes + 1, // huma refuses a body of exactly this size
		BodyReadTimeout: bodyWithin,
		DefaultStatus:   http.StatusOK,
		Extensions:      map[string]any{"x-permission": string(needs)},
		Middlewares:     huma.Middlewares{r.server.demand(needs)},
	}
	if needs == auth.Public {
		op.BodyReadTimeout = strangersBodyWithin
	} else {
		op.Security = []map[string][]string{{sessionScheme: {}}}
	}
	if auth.ForTokens(needs) {
		op.Security = append(op.Security, map[string][]string{tokenScheme: {}})
	}
	for _, o := range options {
		o(&op)
	}
	r.note(method, op.Path, needs)
	huma.Register(r.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, r.server.failed(ctx, method, op.Path, err)
		}
		return out, nil
	})
}

// plain registers a GET that is no part of the described API.
func (r *routes) plain(path string, needs auth.Permission, h gin.HandlerFunc) {
	r.note(http.MethodGet, path, needs)
	r.engine.GET(path, h)
	r.note(http.MethodHead, path, needs) // what probes ask
	r.engine.HEAD(path, h)
}

func (r *routes) note(method, path string, needs auth.Permission) {
	path = strings.NewReplacer("{", ":", "}", "").Replace(path)
	r.needs[method+" "+path] = needs
}

// demand lets only those through who are, or by their relation to what the request names could be, allowed to.
func (s *server) demand(needs auth.Permission) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		if needs == auth.Public {
			next(hc)
			return
		}
		c := humagin.Unwrap(hc)
		if err := s.admit(c, needs); err != nil {
			withName := context.WithValue(c.Request.Context(), targetKey{}, hc.Param("name"))
			s.failed(withName, c.Request.Method, hc.Operation().Path, err).write(c.Writer)
			return
		}
		next(huma.WithValue(hc, targetKey{}, hc.Param("name")))
	}
}

// targetKey finds the name in the request's path, for the history.
type targetKey struct{}

// failed turns a handler's error into the answer. What is our fault goes to the log with its cause; what was refused
// goes to the history.
func (s *server) failed(ctx context.Context, method, path string, err error) *Problem {
	p := problemOf(ctx, err)
	if errors.Is(ctx.Err(), context.Canceled) {
		s.log.DebugContext(ctx, "request given up by its client", "request_id", p.RequestID, "cause", err)
	} else if p.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "request failed", "request_id", p.RequestID, "code", p.Code, "cause", err)
	}
	if p.Code == model.CodeForbidden {
		s.recordRefusal(ctx, method, path, p)
	}
	return p
}

// recordRefusal leaves a change row about an attempt at something that the person may not do.
func (s *server) recordRefusal(ctx context.Context, method, path string, p *Problem) {
	c := callOf(ctx)
	kind, target := model.TargetSystem, ""
	switch name, _ := ctx.Value(targetKey{}).(string); {
	case strings.HasPrefix(path, prefix+"/buckets"):
		kind, target = model.TargetBucket, name
		if len(p.Buckets) == 1 {
			target = p.Buckets[0].Name
		}
	case strings.HasPrefix(path, prefix+"/apps"):
		kind, target = model.TargetApp, name
	case strings.HasPrefix(path, prefix+"/users"):
		kind, target = model.TargetUser, name
	}
	change := model.Change{
		At: s.Now().UTC(), Actor: c.principal.Name, Action: model.ActionRefused, TargetKind: kind, Target: target,
		Reason: method + " " + path + " needs " + p.Permission + namesOf(p.Buckets), Address: c.address, RequestID: c.requestID,
		Token: c.principal.Token,
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterAnswer)
	defer cancel()
	if err := s.Recorder.Record(ctx, change); err != nil {
		s.log.ErrorContext(ctx, "a refused attempt could not be recorded", "request_id", c.requestID, "cause", err)
	}
}

// afterAnswer bounds work that is done even when the client has left.
const afterAnswer = 2 * time.Second
