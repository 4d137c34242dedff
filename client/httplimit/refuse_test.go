package httplimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestALimitedRequestIsAnswered429WithProblemJSONAndRetryAfter(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Name: "public"}}))

	first := sdkenv.Get(t, server)
	first.WantStatus(t, 200)
	first.WantHeader(t, "RateLimit-Policy", `"public";q=1`, "RateLimit", `"public";r=0;t=3600`, "Retry-After", "",
		"X-RateLimit-Limit", "1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "3600")

	second := sdkenv.Get(t, server)
	second.WantStatus(t, 429)
	retry := second.Header.Get("Retry-After")
	if n, err := strconv.Atoi(retry); err != nil || n > 3600 || n < 3500 { // full seconds that passed in between count
		t.Errorf("Retry-After: %q", retry)
	}
	second.WantHeader(t, "RateLimit-Policy", `"public";q=1`, "RateLimit", `"public";r=0;t=`+retry,
		"X-RateLimit-Limit", "1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", retry)
	body := second.Problem(t)
	want := map[string]any{
		"type":   "https://iana.org/assignments/http-problem-types#quota-exceeded",
		"title":  "Request cannot be satisfied as assigned quota has been exceeded",
		"status": 429.0, "code": "limited", "retry_after": body["retry_after"],
		"detail":            "The rate limit is used up. Try again in " + retry + " s.",
		"violated-policies": []any{"public"},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(second.Body, `"api"`) {
		t.Errorf("the bucket's name is told in spite of the rule's: %s", second.Body)
	}
}

func TestRefusalsThatAreNoLimitAreAnswered503(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 2))
	for _, c := range []struct {
		name string
		rule httplimit.Rule
		code string
	}{
		{"not configured", httplimit.Rule{Bucket: "unheard-of"}, "not_configured"},
		{"too many", httplimit.Rule{Bucket: "api", Permits: func(*http.Request) int64 { return 3 }}, "too_many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := sdkenv.Get(t, sdkenv.Serve(t, w.protect([]httplimit.Rule{c.rule})))
			a.WantStatus(t, 503)
			a.WantHeader(t, "Retry-After", "")
			body := a.Problem(t)
			if body["code"] != c.code || body["type"] != "about:blank" || body["title"] != "Service Unavailable" || body["retry_after"] != nil {
				t.Errorf("%s", a.Body)
			}
		})
	}
}

func TestWhileRedisIsStoppedTheFailurePolicyAnswers(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := &world{sdkenv.Connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))}
	closed, local := sdkenv.Definition("closed", 2), sdkenv.Definition("local", 1)
	closed.OnFailure, local.OnFailure = bucket.FailClosed, bucket.FailLocal
	w.Install(sdkenv.Definition("open", 2), closed, local)
	if err := w.Client.Preload(t.Context(), "open", "closed", "local"); err != nil {
		t.Fatal(err)
	}
	server := map[string]*httptest.Server{}
	for _, name := range []string{"open", "closed", "local"} {
		server[name] = sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: name}}))
	}
	sdkenv.Get(t, server["local"]).WantStatus(t, 200) // so that this process knows that nothing is left
	redisServer.Stop()

	a := sdkenv.Get(t, server["open"])
	a.WantStatus(t, 200)
	a.WantHeader(t, "RateLimit-Policy", `"open";q=2`, "RateLimit", "", "X-RateLimit-Remaining", "", "Retry-After", "")

	a = sdkenv.Get(t, server["closed"])
	a.WantStatus(t, 503)
	a.WantHeader(t, "Retry-After", "1", "RateLimit", "", "X-RateLimit-Remaining", "")
	if body := a.Problem(t); body["code"] != "unavailable" || body["retry_after"] != 1.0 || strings.Contains(a.Body, "edis") {
		t.Errorf("%s", a.Body)
	}
	sdkenv.Get(t, server["local"]).WantStatus(t, 429)
}

func TestARequestWithoutAKeyIsRefusedUnlessTheRuleHasAFallback(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("users", 1))
	strict := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User")}}))
	for _, header := range [][]string{nil, {"X-User", ""}, {"X-User", "  "}} {
		a := sdkenv.Get(t, strict, header...)
		a.WantStatus(t, 400)
		if body := a.Problem(t); body["code"] != "no_key" || body["title"] != "Bad Request" {
			t.Errorf("%s", a.Body)
		}
	}
	lenient := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User"), Fallback: "nobody"}}))
	sdkenv.Get(t, lenient).WantStatus(t, 200)
	sdkenv.Get(t, lenient).WantStatus(t, 429)
	sdkenv.Get(t, lenient, "X-User", "ann").WantStatus(t, 200)
	sdkenv.Get(t, strict, "X-User", "nobody").WantStatus(t, 429)
}

func TestAMisusedRuleIs500ToTheCallerAndALineToTheOperator(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("users", 1), sdkenv.Definition("api", 1))
	for name, rule := range map[string]httplimit.Rule{
		"no key":           {Bucket: "users"},
		"negative permits": {Bucket: "api", Permits: func(*http.Request) int64 { return -1 }},
		"ill-formed name":  {Bucket: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			h := w.protect([]httplimit.Rule{rule}, httplimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			for range 3 {
				a := sdkenv.Get(t, sdkenv.Serve(t, h))
				a.WantStatus(t, 500)
				if body := a.Problem(t); body["code"] != "internal" || strings.Contains(a.Body, "headgate") || strings.Contains(a.Body, rule.Bucket) {
					t.Errorf("%s", a.Body)
				}
			}
			if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 3 || !strings.Contains(log.String(), rule.Bucket) {
				t.Errorf("log: %s", log.String())
			}
		})
	}
	if left := w.Remaining("api"); left != 1 {
		t.Errorf("negative permits changed the bucket: %d are left", left)
	}
}

func TestARequestWhoseContextIsDoneGets503AndTakesNothing(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 2))
	h := w.protect([]httplimit.Rule{{Bucket: "api"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if rec.Code != 503 || !strings.Contains(rec.Body.String(), `"cancelled"`) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	sdkenv.Get(t, sdkenv.Serve(t, h)).WantHeader(t, "X-RateLimit-Remaining", "1")
}

func TestAHandlerOfOnesOwnAnswersRefusals(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.OnRefused(
		func(rw http.ResponseWriter, r *http.Request, v *httplimit.Verdict) {
			if v.Code != "limited" || v.Status != 429 || v.RetryAfter <= 0 || len(v.Decisions) != 1 || v.Err != nil || r.URL.Path != "/" {
				t.Errorf("%+v", v)
			}
			rw.WriteHeader(http.StatusTeapot)
		})))
	sdkenv.Get(t, server).WantStatus(t, 200)
	a := sdkenv.Get(t, server)
	a.WantStatus(t, http.StatusTeapot)
	if a.Header.Get("Retry-After") == "" || a.Header.Get("RateLimit") == "" || a.Body != "" {
		t.Errorf("%+v", a)
	}
}

func TestWithoutHeadersOnlyRetryAfterIsTold(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.WithoutHeaders()))
	sdkenv.Get(t, server).WantStatus(t, 200)
	a := sdkenv.Get(t, server)
	a.WantStatus(t, 429)
	a.WantHeader(t, "RateLimit", "", "RateLimit-Policy", "", "X-RateLimit-Limit", "", "X-RateLimit-Remaining", "", "X-RateLimit-Reset", "")
	if a.Header.Get("Retry-After") == "" {
		t.Error("Retry-After is left out too")
	}
}

func TestMistakesInRulesAreFoundAtTheStart(t *testing.T) {
	w := newWorld(t)
	key := httplimit.Static("x")
	for name, attempt := range map[string]func() error{
		"no limiter":     func() error { return build(nil, httplimit.Rule{Bucket: "a"}) },
		"no rules":       func() error { return build(w.Client) },
		"no bucket":      func() error { return build(w.Client, httplimit.Rule{Name: "x"}) },
		"too many rules": func() error { return build(w.Client, make([]httplimit.Rule, client.MaxRequests+1)...) },
		"same name twice": func() error {
			return build(w.Client, httplimit.Rule{Bucket: "a"}, httplimit.Rule{Bucket: "a", Key: key})
		},
		"unprintable name":   func() error { return build(w.Client, httplimit.Rule{Bucket: "a", Name: "ä"}) },
		"fallback, no key":   func() error { return build(w.Client, httplimit.Rule{Bucket: "a", Fallback: "x"}) },
		"wait with several":  func() error { return makeWith(w.Client, httplimit.WaitUpTo(time.Second), "a", "b") },
		"wait negative":      func() error { return makeWith(w.Client, httplimit.WaitUpTo(-1), "a") },
		"no refusal handler": func() error { return makeWith(w.Client, httplimit.OnRefused(nil), "a") },
	} {
		var misuse *client.MisuseError
		if err := attempt(); !errors.As(err, &misuse) || misuse.Advice == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := build(w.Client, httplimit.Rule{Bucket: "a", Name: "by user"}, httplimit.Rule{Bucket: "a", Name: "by address", Key: key}); err != nil {
		t.Error(err)
	}
}

func build(limiter httplimit.Limiter, rules ...httplimit.Rule) error {
	_, err := httplimit.New(limiter, rules)
	return err
}

func makeWith(limiter httplimit.Limiter, option httplimit.Option, buckets ...string) error {
	var rules []httplimit.Rule
	for _, name := range buckets {
		rules = append(rules, httplimit.Rule{Bucket: name})
	}
	_, err := httplimit.New(limiter, rules, option)
	return err
}
