package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

const streamPath = "/api/v1/stream?buckets=" + theBucket

// event is one server-sent event.
type event struct {
	kind, id, data string
}

// streaming is an open stream; events is closed at its end.
type streaming struct {
	t      *testing.T
	events chan event
	header http.Header
	close  context.CancelFunc
}

// openStream begins a stream. A refusal is returned as an answer.
func (c *client) openStream(path string) (*streaming, *http.Response) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	c.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	must(c.t, err)
	for i := 0; i < len(c.headers); i += 2 {
		request.Header.Set(c.headers[i], c.headers[i+1])
	}
	patient := *c.http
	patient.Timeout = 0
	response, err := patient.Do(request)
	must(c.t, err)
	if response.StatusCode != http.StatusOK {
		c.t.Cleanup(func() { _ = response.Body.Close() })
		return nil, response
	}
	s := &streaming{t: c.t, events: make(chan event, 100), header: response.Header, close: cancel}
	go func() {
		defer close(s.events)
		defer func() { _ = response.Body.Close() }()
		var e event
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.kind = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.kind != "" {
					s.events <- e
				}
				e = event{}
			}
		}
	}()
	return s, response
}

func (c *client) mustOpen(path string) *streaming {
	c.t.Helper()
	s, response := c.openStream(path)
	if s == nil {
		c.t.Fatalf("status %d", response.StatusCode)
	}
	return s
}

// next waits for an event of a kind, passing over others.
func (s *streaming) next(kind string, into any) event {
	s.t.Helper()
	deadline := time.After(15 * time.Second)
	for {
		select {
		case e, more := <-s.events:
			if !more {
				s.t.Fatalf("the stream ended before an event %s", kind)
			}
			if e.kind == kind {
				must(s.t, json.Unmarshal([]byte(e.data), into))
				return e
			}
		case <-deadline:
			s.t.Fatalf("no event %s", kind)
		}
	}
}

// ended waits for the end.
func (s *streaming) ended() {
	s.t.Helper()
	deadline := time.After(15 * time.Second)
	for {
		select {
		case _, more := <-s.events:
			if !more {
				return
			}
		case <-deadline:
			s.t.Fatal("the stream goes on")
		}
	}
}

func (w *world) install(name string) {
	w.t.Helper()
	_, err := w.redis.reconciler.Push(w.t.Context(), name)
	must(w.t, err)
}

// A browser sees within two seconds what the SDKs report: permits a second of the bucket and of each app, what is left,
// and the revision that Redis has.
func TestStreamTellsWhatIsUsedWithinTwoSeconds(t *testing.T) {
	w := onSQLite(t)
	w.install(theBucket)
	s := w.as(aud).mustOpen(streamPath)
	if got := s.header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	var first api.StreamSample
	e := s.next("sample", &first)
	if b := first.Buckets[0]; !first.Redis || b.Name != theBucket || !b.Present || b.RedisRevision != 1 || b.Revision != 1 || b.Permits == nil || *b.Permits != 100 ||
		b.Rates != nil || b.Sync != "synced" || e.id != fmt.Sprint(first.RedisTimeUS/1e6) {
		t.Errorf("first sample %+v of id %q", first, e.id)
	}
	s.next("sample", &first)
	reported := time.Now()
	must(t, w.engine.ReportUsage(t.Context(), []bucket.Usage{
		{Bucket: theBucket, App: "checkout", Minute: first.RedisTimeUS / 60e6, Granted: 30, Limited: 10},
		{Bucket: theBucket, App: "mobile", Minute: first.RedisTimeUS / 60e6, ShadowLimited: 5},
	}))
	for {
		var sample api.StreamSample
		s.next("sample", &sample)
		r := sample.Buckets[0].Rates
		if time.Since(reported) > 2*time.Second {
			t.Fatal("not told within 2 s")
		}
		if r == nil || r.Granted == 0 {
			continue
		}
		apps := sample.Buckets[0].Apps
		if r.Granted < 20 || r.Granted > 45 || r.Limited*3 < r.Granted*0.99 || r.Limited*3 > r.Granted*1.01 || len(apps) != 2 || apps[1].App != "mobile" || apps[1].ShadowLimited == 0 {
			t.Errorf("sample %+v", sample.Buckets[0])
		}
		return
	}
}

// counted counts the readings of Redis.
type counted struct {
	api.Figures
	samples, names atomic.Int64
}

func (c *counted) Sample(ctx context.Context, names []string) ([]model.Sample, time.Time, error) {
	c.samples.Add(1)
	c.names.Add(int64(len(names)))
	return c.Figures.Sample(ctx, names)
}

// However many browsers watch a bucket, it is read once a second; when the last leaves, no more.
func TestABucketIsReadOnceASecondHoweverManyWatch(t *testing.T) {
	figures := &counted{}
	w := onSQLite(t, func(c *api.Config) { figures.Figures, c.Figures = c.Figures, figures })
	var streams []*streaming
	for _, who := range []string{vic, ann, bob, root, aud} {
		c := w.as(who)
		for range 4 {
			streams = append(streams, c.mustOpen(streamPath))
		}
	}
	var sample api.StreamSample
	for _, s := range streams {
		s.next("sample", &sample)
	}
	before, began := figures.names.Load(), time.Now()
	for range 3 {
		streams[0].next("sample", &sample)
	}
	if read, most := figures.names.Load()-before, int64(time.Since(began)/time.Second)+2; read > most {
		t.Errorf("%d readings of the one bucket, want at most %d", read, most)
	}
	for _, s := range streams {
		s.close()
	}
	at := figures.samples.Load()
	testenv.Eventually(t, 10*time.Second, "the readings to stop", func() bool {
		was := at
		at = figures.samples.Load()
		<-time.After(1500 * time.Millisecond)
		return was == at && at == figures.samples.Load()
	})
	s := w.as(vic).mustOpen(streamPath) // and begin again
	s.next("sample", &sample)
}

// An edit by somebody else is told at once, with its revision.
func TestStreamTellsOfAnEditElsewhere(t *testing.T) {
	w := onSQLite(t)
	s := w.as(vic).mustOpen(streamPath)
	s.next("sample", &api.StreamSample{})
	w.as(bob).do("PUT", bucketPath, definition(map[string]any{"owners": []string{bob}, "max_permits": 7}), "If-Match", `"1"`).want(t, http.StatusOK)
	var changed api.StreamChanged
	if s.next("changed", &changed); changed != (api.StreamChanged{Name: theBucket, Revision: 2}) {
		t.Errorf("told %+v", changed)
	}
	var sample api.StreamSample
	if s.next("sample", &sample); sample.Buckets[0].Revision != 2 || sample.Buckets[0].RedisRevision != 2 {
		t.Errorf("sample %+v", sample)
	}
}

// Who may not see a bucket any more hears no more of it, within ten seconds; and who is not logged in any more of nothing.
func TestStreamEndsWithTheRightsAndTheSession(t *testing.T) {
	w := onSQLite(t)
	s := w.as(vic).mustOpen(streamPath)
	out := w.as(ann)
	ended := out.mustOpen(streamPath)
	dead := w.as(aud).mustOpen(streamPath)
	for _, s := range []*streaming{s, ended, dead} {
		s.next("sample", &api.StreamSample{})
	}
	began := time.Now()
	must(t, w.store.RemoveMember(t.Context(), "checkout", vic, byRoot))
	out.do("POST", "/api/v1/auth/logout", nil).want(t, http.StatusNoContent)
	w.disable(aud)
	var end api.StreamEnd
	s.next("gone", &api.StreamGone{})
	if s.next("end", &end); end.Reason != "gone" {
		t.Errorf("reason %q", end.Reason)
	}
	for _, s := range []*streaming{ended, dead} {
		if s.next("end", &end); end.Reason != "session" {
			t.Errorf("reason %q", end.Reason)
		}
		s.ended()
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Of a bucket that is deleted the stream says so, and goes on with the others.
func TestStreamGoesOnWithoutADeletedBucket(t *testing.T) {
	w := onSQLite(t)
	w.bucket("other-one", []string{"checkout"}, []string{bob})
	s := w.as(root).mustOpen(streamPath + ",other-one," + theBucket)
	s.next("sample", &api.StreamSample{})
	_, err := w.store.DeleteBucket(t.Context(), "other-one", 1, byRoot)
	must(t, err)
	var gone api.StreamGone
	if s.next("gone", &gone); gone.Name != "other-one" {
		t.Errorf("gone %+v", gone)
	}
	var sample api.StreamSample
	if s.next("sample", &sample); len(sample.Buckets) != 1 {
		t.Errorf("%d buckets", len(sample.Buckets))
	}
}

func TestStreamsAreBounded(t *testing.T) {
	w := onSQLite(t)
	c := w.as(vic)
	for range 10 {
		c.mustOpen(streamPath)
	}
	_, refused := c.openStream(streamPath)
	if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("Retry-After") == "" {
		t.Errorf("status %d", refused.StatusCode)
	}
	w.as(ann).mustOpen(streamPath) // others are not concerned
	names := make([]string, 21)
	for i := range names {
		names[i] = fmt.Sprint("b", i)
	}
	for _, list := range []string{"", ",", strings.Join(names, ",")} {
		c.do("GET", "/api/v1/stream?buckets="+list, nil).problem(t, http.StatusUnprocessableEntity)
	}
	c.do("GET", "/api/v1/stream", nil).problem(t, http.StatusUnprocessableEntity)
}

// Streams are no requests in work: many of them leave room for the others.
func TestStreamsLeaveRoomForRequests(t *testing.T) {
	w := onSQLite(t, func(c *api.Config) { c.MaxRequests = 8 })
	c := w.as(root)
	for range 10 {
		c.mustOpen(streamPath).next("sample", &api.StreamSample{})
	}
	c.do("GET", "/api/v1/buckets", nil).want(t, http.StatusOK)
}

// A server that stops says so and does not wait for those who watch. The write timeout of other answers ends no stream.
func TestStreamsEndWhenTheServerStops(t *testing.T) {
	draining := make(chan struct{})
	w := onSQLite(t, func(c *api.Config) { c.Draining = draining })
	hasty := httptest.NewUnstartedServer(w.server.Config.Handler)
	hasty.Config.WriteTimeout, hasty.Config.ReadTimeout = 2*time.Second, 2*time.Second
	hasty.Start()
	t.Cleanup(hasty.Close)
	w.server = hasty
	s := w.as(vic).mustOpen(streamPath)
	for range 5 {
		s.next("sample", &api.StreamSample{})
	}
	close(draining)
	var end api.StreamEnd
	if s.next("end", &end); end.Reason != "stopping" {
		t.Errorf("reason %q", end.Reason)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, w.server.Config.Shutdown(ctx))
}

// While Redis is away the stream goes on and says so, and has figures again when it is back.
func TestStreamGoesOnThroughAnOutageOfRedis(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = rdb.Close() })
	w := onSQLite(t, func(c *api.Config) { c.Figures = figures.Reader{Engine: bucket.New(rdb, "")} })
	s := w.as(vic).mustOpen(streamPath)
	until := func(answers bool) (sample api.StreamSample) {
		for {
			if s.next("sample", &sample); sample.Redis == answers {
				return sample
			}
		}
	}
	until(true)
	server.Stop()
	if b := until(false).Buckets[0]; b.Name != theBucket || b.Revision != 1 || b.Sync != model.SyncPending || b.Permits != nil || b.Rates != nil {
		t.Errorf("without Redis: %+v", b)
	}
	server.Start(t)
	if b := until(true).Buckets[0]; b.Rates != nil {
		t.Errorf("a rate right after the gap: %+v", b)
	}
}

// A server has room for 200 streams; whoever comes then is told to come later, and finds room when one has left.
func TestAServerHasRoomForSoManyStreams(t *testing.T) {
	w := onSQLite(t)
	var streams []*streaming
	for i := range 20 {
		name := fmt.Sprint("watcher-", i)
		_, err := w.store.CreateUser(t.Context(), model.User{Name: name, Role: model.RoleAuditor, PasswordHash: w.hash}, byRoot)
		must(t, err)
		c := w.as(name)
		for range 10 {
			streams = append(streams, c.mustOpen(streamPath))
		}
	}
	c := w.as(vic)
	if _, refused := c.openStream(streamPath); refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
		t.Errorf("status %d", refused.StatusCode)
	}
	streams[0].close()
	testenv.Eventually(t, 10*time.Second, "room", func() bool {
		s, _ := c.openStream(streamPath)
		return s != nil
	})
}
