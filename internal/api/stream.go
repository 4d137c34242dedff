package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// What a stream keeps to.
const (
	streamBuckets   = 20               // of one stream
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

// StreamApp is what one app used.
type StreamApp struct {
	App string `json:"app"`
	StreamRates
}

// StreamBucket is a bucket in a sample.
type StreamBucket struct {
	Name          string       `json:"name"`
	Present       bool         `json:"present" doc:"Redis has a definition"`
	RedisRevision int64        `json:"redis_revision" doc:"of that definition; 0 without one"`
	Revision      int64        `json:"revision" doc:"in the database; 0 when that does not answer"`
	MaxPermits    int64        `json:"max_permits" doc:"of the definition in Redis"`
	Permits       *int64       `json:"permits" doc:"permits that could be acquired now, for concurrency the free slots; null where each app or key has its own"`
	Held          *int64       `json:"held" doc:"slots that are held now; null as permits, and for all algorithms but concurrency"`
	Rates         *StreamRates `json:"rates" doc:"permits a second since the sample before; null at the first one, and after Redis did not answer"`
	Apps          []StreamApp  `json:"apps" doc:"the apps that used it since the sample before"`
	Sync          string       `json:"sync" doc:"synced or pending; empty when the database does not answer"`
}

// StreamSample is the data of an event sample: once a second.
type StreamSample struct {
	Redis       bool           `json:"redis" doc:"Redis answered; else all figures are empty"`
	RedisTimeUS int64          `json:"redis_time_us" doc:"Redis's clock at the sample, µs since 1970"`
	Buckets     []StreamBucket `json:"buckets"`
}

// StreamChanged is the data of an event changed: a bucket has a new revision.
type StreamChanged struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

// StreamGone is the data of an event gone: a bucket was deleted, or may not be seen any more. It is not streamed further.
type StreamGone struct {
	Name string `json:"name"`
}

// StreamEnd is the data of an event end, the last one.
type StreamEnd struct {
	Reason string `json:"reason" enum:"session,gone,stopping" doc:"session: it ended, or its proof is to be renewed; gone: no bucket is left; stopping: the server stops, come again"`
}

// watched registers a GET that answers with server-sent events.
func watched[I any](r *routes, path string, needs auth.Permission, h handler[I, huma.StreamResponse], id, summary string) {
	get(r, path, needs, h, id, summary, func(op *huma.Operation) {
		one := func(v any) *huma.Schema {
			return r.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, "")
		}
		op.Description += " Events: `sample` once a second, `changed`, `gone` and `end`; a comment every 15 s. An event's id is Redis's time in seconds; " +
			"a stream that is opened again goes on with the present."
		op.Responses = map[string]*huma.Response{"200": {
			Description: "the events; the schema is that of their data",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
				OneOf: []*huma.Schema{one(StreamSample{}), one(StreamChanged{}), one(StreamGone{}), one(StreamEnd{})},
			}}},
		}}
	})
	r.server.streams[prefix+path] = true
}

func (s *server) stream(ctx context.Context, in *struct {
	Buckets string `query:"buckets" maxLength:"3000" doc:"1..20 names with commas between"`
}) (*huma.StreamResponse, error) {
	names := strings.Split(in.Buckets, ",")
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > streamBuckets || names[0] == "" {
		return nil, invalidField("buckets", "must be 1..%d names with commas between", streamBuckets)
	}
	p := principalOf(ctx)
	seen, err := s.Store.SeenBuckets(ctx, viewer(p, auth.BucketSee), p.Name, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := seen[name]; !ok {
			return nil, noBucket(name)
		}
	}
	apps, err := s.appNamesIn(ctx, names)
	if err != nil {
		return nil, err
	}
	w, err := s.watches.join(p.UserID, names)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.watches.leave(w)
		callOf(ctx).leaveWork() // it has bounds of its own
		v := newView(s, humagin.Unwrap(hc), w, names)
		v.apps = apps
		if err := v.run(); err != nil {
			s.log.DebugContext(ctx, "live view broken off", "request_id", callOf(ctx).requestID, "cause", err)
		}
	}}, nil
}

// view is one stream on its way to its client.
type view struct {
	s        *server
	c        *gin.Context
	w        *watcher
	names    []string
	apps     map[string]appNames // by bucket: the apps that may be named
	control  *http.ResponseController
	revision map[string]int64 // as the client knows them
	suspect  bool             // a bucket was deleted: the rights are to be looked at now
}

func newView(s *server, c *gin.Context, w *watcher, names []string) *view {
	return &view{s: s, c: c, w: w, names: names, control: http.NewResponseController(c.Writer), revision: map[string]int64{}}
}

// run writes events until the client leaves, its rights end or the server stops. An error says that the client did not
// take what was written.
func (v *view) run() error {
	if err := v.control.SetReadDeadline(time.Time{}); err != nil { // the request's own would end the stream
		return err
	}
	header := v.c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies must not wait for the end
	v.c.Writer.WriteHeader(http.StatusOK)
	if err := v.write(fmt.Sprintf("retry: %d\n\n", reconnectMillis)); err != nil {
		return err
	}
	heartbeat, recheck := time.NewTicker(heartbeatEvery), time.NewTicker(recheckEvery)
	defer heartbeat.Stop()
	defer recheck.Stop()
	for {
		var over bool
		var err error
		select {
		case <-v.c.Request.Context().Done():
			return nil
		case <-v.s.Draining:
			return v.event("end", "", StreamEnd{"stopping"})
		case t := <-v.w.ticks:
			if err = v.tick(t); err == nil && v.suspect {
				over, err = v.recheck()
			}
		case <-heartbeat.C:
			err = v.write(":\n\n")
		case <-recheck.C:
			over, err = v.recheck()
		}
		if over || err != nil {
			return err
		}
	}
}

// tick writes what one second brought.
func (v *view) tick(t *tick) error {
	sample := StreamSample{Redis: !t.at.IsZero(), Buckets: []StreamBucket{}}
	id := ""
	if sample.Redis {
		sample.RedisTimeUS, id = t.at.UnixMicro(), fmt.Sprint(t.at.Unix())
	}
	for _, name := range v.names {
		b, sampled := t.buckets[name]
		if !sampled {
			continue // it was joined after the sample
		}
		b.Apps = v.apps[name].rates(b.Apps)
		if head, known := t.heads[name]; known {
			b.Revision = head.Revision
			b.Sync = showSync(head.Revision, model.SyncState{InstalledRevision: head.InstalledRevision}).State
			v.suspect = v.suspect || head.Deleted
			if before := v.revision[name]; before != 0 && before < head.Revision && !head.Deleted {
				if err := v.event("changed", "", StreamChanged{name, head.Revision}); err != nil {
					return err
				}
			}
			v.revision[name] = head.Revision
		}
		sample.Buckets = append(sample.Buckets, b)
	}
	if len(sample.Buckets) == 0 {
		return nil
	}
	return v.event("sample", id, sample)
}

// recheck asks again who it is and what they may see. While the database does not answer nothing is known to have ended.
func (v *view) recheck() (over bool, err error) {
	v.suspect = false
	ctx, cancel := context.WithTimeout(v.c.Request.Context(), recheckEvery/2)
	defer cancel()
	probe := v.c.Copy()
	probe.Request = v.c.Request.WithContext(ctx)
	if err := v.s.admit(probe, auth.BucketSee); err != nil {
		if code := model.CodeOf(err); code == model.CodeUnauthorized || code == model.CodeForbidden {
			return true, v.event("end", "", StreamEnd{"session"})
		}
		return false, nil
	}
	p := principalOf(ctx)
	seen, err := v.s.Store.SeenBuckets(ctx, viewer(p, auth.BucketSee), p.Name, v.names...)
	if err != nil {
		return false, nil //nolint:nilerr // the next check finds out
	}
	if apps, err := v.s.appNamesIn(ctx, v.names); err == nil {
		v.apps = apps
	}
	for _, name := range slices.Clone(v.names) {
		if _, ok := seen[name]; ok {
			continue
		}
		v.names = slices.DeleteFunc(v.names, func(n string) bool { return n == name })
		left := v.s.watches.drop(v.w, name)
		if err := v.event("gone", "", StreamGone{name}); err != nil {
			return true, err
		}
		if left == 0 {
			return true, v.event("end", "", StreamEnd{"gone"})
		}
	}
	return false, nil
}

func (v *view) event(kind, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return v.write("event: " + kind + "\n" + id + "data: " + string(text) + "\n\n")
}

// write gives the client its time for each event, however long the whole takes.
func (v *view) write(text string) error {
	if err := v.control.SetWriteDeadline(time.Now().Add(streamWithin)); err != nil {
		return err
	}
	if _, err := v.c.Writer.WriteString(text); err != nil {
		return err
	}
	return v.control.Flush()
}
