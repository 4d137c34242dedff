package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"github.com/headgate/headgate/internal/auth"
)

// What a stream keeps to.
const (
	heartbeatEvery  = 15 * time.Second // so that nobody on the way takes the connection for dead
	recheckEvery    = 8 * time.Second  // whether the session and the rights still stand
	streamWithin    = 10 * time.Second // for a client to take one event; who does not is dropped
	reconnectMillis = 2000
)

// StreamRates are permits a second.
type StreamRates struct {
	Granted       float64 `json:"granted"`
	Limited       float64 `json:"limited"`
	ShadowLimited float64 `json:"shadow_limited"`
}

func (r *StreamRates) add(o StreamRates) {
	r.Granted, r.Limited, r.ShadowLimited = r.Granted+o.Granted, r.Limited+o.Limited, r.ShadowLimited+o.ShadowLimited
}

// asked is how many permits a second were asked for, whatever came of it.
func (r *StreamRates) asked() float64 { return r.Granted + r.Limited + r.ShadowLimited }

// StreamGone is the data of an event gone: a bucket or the app was deleted, or may not be seen any more. It is not streamed
// further.
type StreamGone struct {
	Name string `json:"name"`
}

// StreamEnd is the data of an event end, the last one.
type StreamEnd struct {
	Reason string `json:"reason" enum:"session,gone,stopping" doc:"session: it ended, or its proof is to be renewed; gone: nothing is left to stream; stopping: the server stops, come again"`
}

// watched registers a GET that answers with server-sent events.
func watched[I any](r *routes, path string, needs auth.Permission, h handler[I, huma.StreamResponse], id, summary string) {
	get(r, path, needs, h, id, summary, func(op *huma.Operation) {
		one := func(v any) *huma.Schema {
			return r.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
		}
		op.Description += " Events: `sample` once a second, of buckets or of an app, `changed` (of buckets), `gone` and `end`; a comment every 15 s. An event's id is Redis's time in seconds; " +
			"a stream that is opened again goes on with the present."
		op.Responses = map[string]*huma.Response{"200": {
			Description: "the events; the schema is that of their data",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
				OneOf: []*huma.Schema{one(StreamSample{}), one(StreamAppSample{}), one(StreamChanged{}), one(StreamGone{}), one(StreamEnd{})},
			}}},
		}}
	})
	r.server.streams[prefix+path] = true
}

// sight is what a stream shows, and to whom.
type sight interface {
	// show writes what one second brought. suspect asks for the rights to be looked at now. An error says that the client did
	// not take it.
	show(v *view, t *tick) (suspect bool, err error)
	// look asks anew what may be seen, and writes what is gone; over says that nothing is left, and err is as in show.
	look(ctx context.Context, v *view) (over bool, err error)
}

func (s *server) stream(ctx context.Context, in *struct {
	Buckets string `query:"buckets" maxLength:"3000" doc:"1..20 names with commas between; not with app"`
	App     string `query:"app" maxLength:"128" doc:"an app, in place of buckets"`
}) (*huma.StreamResponse, error) {
	var shown sight
	var names []string
	var err error
	switch {
	case in.App != "" && in.Buckets != "":
		err = invalidField("app", "must not be given together with buckets: a stream is of one app or of some buckets")
	case in.App != "":
		shown, err = s.sightOfApp(ctx, in.App)
	default:
		names = strings.Split(in.Buckets, ",")
		slices.Sort(names)
		names = slices.Compact(names)
		shown, err = s.sightOfBuckets(ctx, names)
	}
	if err != nil {
		return nil, err
	}
	w, err := s.watches.join(principalOf(ctx).UserID, names, in.App)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.watches.leave(w)
		callOf(ctx).leaveWork() // it has bounds of its own
		c := humagin.Unwrap(hc)
		v := &view{s: s, c: c, w: w, sight: shown, control: http.NewResponseController(c.Writer)}
		if err := v.run(); err != nil {
			s.log.DebugContext(ctx, "live view broken off", "request_id", callOf(ctx).requestID, "cause", err)
		}
	}}, nil
}
