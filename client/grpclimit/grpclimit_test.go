package grpclimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/grpclimit"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

const (
	testService = "/grpc.testing.TestService/"
	emptyCall   = testService + "EmptyCall"
)

// everywhere has the same rules for all methods.
func everywhere(rules ...grpclimit.Rule) map[string][]grpclimit.Rule {
	return map[string][]grpclimit.Rule{"/": rules}
}

func TestALimitedCallIsResourceExhaustedWithRetryInfoAndQuotaFailure(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("all", 5), sdkenv.Keyed("user", 1))
	c, s := w.protect(everywhere(grpclimit.Rule{Bucket: "all"}, grpclimit.Rule{Bucket: "user", Name: "each user", Key: grpclimit.Metadata("x-user")}))
	wantCode(t, empty(as(t, "x-user", "ann"), c), codes.OK)
	for range 3 {
		err := empty(as(t, "x-user", "ann"), c)
		wantCode(t, err, codes.ResourceExhausted)
		d := detailsOf(t, err)
		if d.info.GetReason() != "LIMITED" || d.info.GetDomain() != "headgate" {
			t.Errorf("ErrorInfo %v", d.info)
		}
		if delay := d.retry.GetRetryDelay().AsDuration(); delay <= 59*time.Minute || delay > time.Hour {
			t.Errorf("RetryInfo %v", d.retry)
		}
		if v := d.quota.GetViolations(); len(v) != 1 || v[0].GetSubject() != "each user" || v[0].GetQuotaId() != "each user" || v[0].GetQuotaValue() != 1 {
			t.Errorf("QuotaFailure %v", d.quota)
		}
		if text := status.Convert(err).Message(); !strings.HasPrefix(text, "The rate limit is used up. Try again in 3") {
			t.Errorf("message %q", text)
		}
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d calls reached the service, want 1", n)
	}
	if left := w.Remaining("all"); left != 4 {
		t.Errorf("refusals by the other rule took from this one: %d are left, want 4", left)
	}
	wantCode(t, empty(as(t, "x-user", "bob"), c), codes.OK)
}

func TestOtherRefusalsAreUnavailable(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := &world{sdkenv.Connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))}
	closed := sdkenv.Definition("closed", 5)
	closed.OnFailure = bucket.FailClosed
	w.Install(closed, sdkenv.Definition("open", 5))
	if err := w.Client.Preload(t.Context(), "open", "closed"); err != nil {
		t.Fatal(err)
	}
	for reason, rule := range map[string]grpclimit.Rule{
		"NOT_CONFIGURED": {Bucket: "unheard-of"},
		"TOO_MANY":       {Bucket: "open", Permits: func(grpclimit.Call) int64 { return 6 }},
	} {
		c, _ := w.protect(everywhere(rule))
		err := empty(t.Context(), c)
		wantCode(t, err, codes.Unavailable)
		if d := detailsOf(t, err); d.info.GetReason() != reason || d.retry != nil || d.quota != nil {
			t.Errorf("%s: %+v", reason, d)
		}
	}
	redisServer.Stop()
	c, _ := w.protect(everywhere(grpclimit.Rule{Bucket: "closed"}))
	err := empty(t.Context(), c)
	wantCode(t, err, codes.Unavailable)
	if d := detailsOf(t, err); d.info.GetReason() != "UNAVAILABLE" || d.retry.GetRetryDelay().AsDuration() != time.Second || strings.Contains(err.Error(), "edis") {
		t.Errorf("%v %+v", err, d)
	}
	c, _ = w.protect(everywhere(grpclimit.Rule{Bucket: "open"}))
	wantCode(t, empty(t.Context(), c), codes.OK)
}

func TestTheClosestEntryHolds(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("method", 1), sdkenv.Definition("service", 1), sdkenv.Definition("all", 1))
	rules := map[string][]grpclimit.Rule{"/": {{Bucket: "all"}}, testService: {{Bucket: "service"}}, emptyCall: {{Bucket: "method"}}}
	c, _ := w.protect(rules)
	unary := func() error {
		_, err := c.UnaryCall(t.Context(), &testgrpc.SimpleRequest{})
		return err
	}
	wantCode(t, empty(t.Context(), c), codes.OK)
	wantCode(t, unary(), codes.OK)
	wantCode(t, empty(t.Context(), c), codes.ResourceExhausted)
	wantCode(t, unary(), codes.ResourceExhausted)
	if left := w.Remaining("all"); left != 1 {
		t.Error("the entry for all methods was asked beside a closer one")
	}
	c, _ = w.protect(map[string][]grpclimit.Rule{"/": {{Bucket: "all"}}, emptyCall: nil})
	for range 3 {
		wantCode(t, empty(t.Context(), c), codes.OK) // an entry without rules limits nothing
	}
	wantCode(t, unary(), codes.OK)
	wantCode(t, unary(), codes.ResourceExhausted)
	c, _ = w.protect(map[string][]grpclimit.Rule{"/other.Service/": {{Bucket: "all"}}})
	wantCode(t, empty(t.Context(), c), codes.OK) // and so does none
}

func TestKeysComeFromMetadataPeersMethodsAndContexts(t *testing.T) {
	w := newWorld(t)
	trusted, err := httplimit.Networks("127.0.0.0/8", "::1")
	if err != nil {
		t.Fatal(err)
	}
	find := func(ctx context.Context) string {
		if md, ok := metadata.FromIncomingContext(ctx); ok && len(md.Get("token")) > 0 {
			return "user of " + md.Get("token")[0]
		}
		return ""
	}
	for _, c := range []struct {
		name, entry, first, second string
		key                        func(grpclimit.Call) string
		answer                     codes.Code // of a call with the second value
		none                       codes.Code // of a call without the entry
		want                       string
	}{
		{"metadata", "x-user", "ann", "bob", grpclimit.Metadata("X-User"), codes.OK, codes.InvalidArgument, "ann"},
		{"context", "token", "1", "2", grpclimit.FromContext(find), codes.OK, codes.InvalidArgument, "user of 1"},
		{"proxy", "x-forwarded-for", "1.1.1.1, 203.0.113.1", "203.0.113.2", grpclimit.IP(httplimit.Address{Trusted: trusted}), codes.OK, codes.OK, "203.0.113.1"},
		{"forwarded", "forwarded", "for=1.1.1.1, for=203.0.113.1", "for=203.0.113.2", grpclimit.IP(httplimit.Address{Trusted: trusted, Forwarded: true}), codes.OK, codes.OK, "203.0.113.1"},
		{"peer", "x-forwarded-for", "203.0.113.1", "203.0.113.2", grpclimit.IP(httplimit.Address{}), codes.ResourceExhausted, codes.ResourceExhausted, "127.0.0.1"},
		{"method", "x", "1", "2", grpclimit.Method(), codes.ResourceExhausted, codes.ResourceExhausted, emptyCall},
		{"static", "x", "1", "2", grpclimit.Static("s"), codes.ResourceExhausted, codes.ResourceExhausted, "s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.Install(sdkenv.Keyed(c.name, 1))
			peer, _ := w.protect(everywhere(grpclimit.Rule{Bucket: c.name, Key: c.key}))
			wantCode(t, empty(as(t, c.entry, c.first), peer), codes.OK)
			wantCode(t, empty(as(t, c.entry, c.first), peer), codes.ResourceExhausted)
			wantCode(t, empty(as(t, c.entry, c.second), peer), c.answer)
			wantCode(t, empty(t.Context(), peer), c.none)
			if left := w.Remaining(c.name, client.Key(c.want)); left != 0 {
				t.Errorf("nothing was taken under the key %q", c.want)
			}
		})
	}
}

func TestAStreamTakesItsPermitsAtTheOpening(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	c, s := w.protect(everywhere(grpclimit.Rule{Bucket: "api"}))
	if n, err := talk(t, c, 5); n != 5 || err != nil {
		t.Fatalf("%d messages, %v", n, err)
	}
	n, err := talk(t, c, 5)
	wantCode(t, err, codes.ResourceExhausted)
	if n != 0 || s.calls.Load() != 1 || detailsOf(t, err).retry == nil {
		t.Errorf("%d messages, %d calls, %v", n, s.calls.Load(), err)
	}
}

func TestAStreamTakesPermitsForEachMessageIfAsked(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 3), sdkenv.Definition("bytes", 100))
	c, s := w.protect(everywhere(grpclimit.Rule{Bucket: "api"}), grpclimit.PerMessage())
	n, err := talk(t, c, 5)
	wantCode(t, err, codes.ResourceExhausted)
	if n != 3 || s.calls.Load() != 1 {
		t.Errorf("%d messages of %d streams, want 3 of 1", n, s.calls.Load())
	}
	size := func(c grpclimit.Call) int64 {
		return int64(len(c.Message.(*testgrpc.StreamingOutputCallRequest).GetPayload().GetBody()))
	}
	c, _ = w.protect(everywhere(grpclimit.Rule{Bucket: "bytes", Permits: size}), grpclimit.PerMessage())
	if n, err = talk(t, c, 20); n != 10 { // of 10 bytes each
		t.Errorf("%d messages, %v", n, err)
	}
	wantCode(t, err, codes.ResourceExhausted)
}

func TestAStreamIsSlowedDownWhenItsMessagesWait(t *testing.T) {
	w := newWorld(t)
	d := sdkenv.Definition("api", 1)
	d.Period, d.MaxWait = 100*time.Millisecond, time.Minute
	w.Install(d)
	c, _ := w.protect(everywhere(grpclimit.Rule{Bucket: "api"}), grpclimit.PerMessage(), grpclimit.WaitUpTo(20*time.Second))
	began := time.Now()
	if n, err := talk(t, c, 5); n != 5 || err != nil {
		t.Fatalf("%d messages, %v", n, err)
	}
	if took := time.Since(began); took < 350*time.Millisecond {
		t.Errorf("five messages took %v; four of them had to wait 100 ms", took)
	}
}

// talk sends messages of 10 bytes on one stream and returns how many were answered.
func talk(t *testing.T, c testgrpc.TestServiceClient, messages int) (int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return 0, err
	}
	for n := range messages {
		// A failed Send is told by Recv.
		_ = stream.Send(&testgrpc.StreamingOutputCallRequest{Payload: &testgrpc.Payload{Body: []byte("0123456789")}})
		if _, err := stream.Recv(); err != nil {
			return n, err
		}
	}
	return messages, stream.CloseSend()
}

func TestMisuseIsInternalToTheCallerAndALineToTheOperator(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("users", 1))
	var log bytes.Buffer
	c, _ := w.protect(everywhere(grpclimit.Rule{Bucket: "users"}), grpclimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	err := empty(t.Context(), c)
	wantCode(t, err, codes.Internal)
	if text := status.Convert(err).Message(); text != "The service is not set up rightly." || !strings.Contains(log.String(), "users") {
		t.Errorf("%q, log %s", text, log.String())
	}
}

func TestACallThatEndsWhileItWaitsSaysSo(t *testing.T) {
	for _, c := range []struct {
		err  error
		code codes.Code
	}{{context.Canceled, codes.Canceled}, {context.DeadlineExceeded, codes.DeadlineExceeded}} {
		wantCode(t, grpclimit.Error(&httplimit.Verdict{Code: httplimit.CodeCancelled, Err: c.err}), c.code)
	}
	w := newWorld(t)
	d := sdkenv.Definition("api", 1)
	d.Period, d.MaxWait = 30*time.Second, time.Minute
	w.Install(d)
	limit, err := grpclimit.New(w.Client, everywhere(grpclimit.Rule{Bucket: "api"}), grpclimit.WaitUpTo(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := serve(t, limit)
	wantCode(t, empty(t.Context(), c), codes.OK)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	began := time.Now()
	wantCode(t, empty(ctx, c), codes.ResourceExhausted) // its turn would come after its deadline
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("refused after %v, want at once", took)
	}

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = limit.Unary()(cancelled, nil, &grpc.UnaryServerInfo{FullMethod: emptyCall}, func(context.Context, any) (any, error) {
		t.Error("a call that was cancelled reached the service")
		return nil, nil
	})
	wantCode(t, err, codes.Canceled)
}

func TestOptionsHoldForGRPC(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	c, _ := w.protect(everywhere(grpclimit.Rule{Bucket: "api"}),
		grpclimit.Skip(func(c grpclimit.Call) bool {
			md, _ := metadata.FromIncomingContext(c.Context)
			return len(md.Get("x-health")) > 0
		}),
		grpclimit.OnRefused(func(c grpclimit.Call, v *httplimit.Verdict) error {
			if c.Method != emptyCall || v.Status != 429 {
				t.Errorf("%+v %+v", c, v)
			}
			return status.Error(codes.Aborted, "own")
		}))
	wantCode(t, empty(as(t, "x-health", "1"), c), codes.OK)
	wantCode(t, empty(t.Context(), c), codes.OK)
	wantCode(t, empty(t.Context(), c), codes.Aborted)
	wantCode(t, empty(as(t, "x-health", "1"), c), codes.OK)
}

func TestMistakesAreFoundAtTheStart(t *testing.T) {
	w := newWorld(t)
	one := []grpclimit.Rule{{Bucket: "a"}}
	for name, build := range map[string]func() (*grpclimit.Limit, error){
		"no rules":  func() (*grpclimit.Limit, error) { return grpclimit.New(w.Client, nil) },
		"no bucket": func() (*grpclimit.Limit, error) { return grpclimit.New(w.Client, everywhere(grpclimit.Rule{})) },
		"no refusal handler": func() (*grpclimit.Limit, error) {
			return grpclimit.New(w.Client, everywhere(one...), grpclimit.OnRefused(nil))
		},
		"wait with several": func() (*grpclimit.Limit, error) {
			return grpclimit.New(w.Client, everywhere(grpclimit.Rule{Bucket: "a"}, grpclimit.Rule{Bucket: "b"}), grpclimit.WaitUpTo(1))
		},
	} {
		var misuse *client.MisuseError
		if _, err := build(); !errors.As(err, &misuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for pattern, ok := range map[string]bool{
		"/": true, "/a.B/": true, "/a.B/C": true, "": false, "*": false, "a.B/C": false, "/a.B": false, "//": false, "//C": false, "/a/b/c": false,
	} {
		if _, err := grpclimit.New(w.Client, map[string][]grpclimit.Rule{pattern: one}); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func TestManyCallsAtOnceAreAdmittedExactlyToTheLimit(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("all", 40), sdkenv.Keyed("user", 10))
	c, _ := w.protect(everywhere(grpclimit.Rule{Bucket: "all"}, grpclimit.Rule{Bucket: "user", Key: grpclimit.Metadata("x-user")}))
	var admitted atomic.Int64
	var calls sync.WaitGroup
	for i := range 30 {
		calls.Go(func() {
			for range 4 {
				if empty(as(t, "x-user", strconv.Itoa(i%6)), c) == nil {
					admitted.Add(1)
				}
			}
		})
	}
	calls.Wait()
	if admitted.Load() != 40 || w.Remaining("all") != 0 {
		t.Errorf("%d were admitted and %d are left, want 40 and 0", admitted.Load(), w.Remaining("all"))
	}
}
