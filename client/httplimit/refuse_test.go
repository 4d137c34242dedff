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
)

func TestALimitedRequestIsAnswered429WithProblemJSONAndRetryAfter(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 1))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Name: "public"}}))

	first := get(t, server)
	first.wantStatus(t, 200)
	first.wantHeader(t, "RateLimit-Policy", `"public";q=1`, "RateLimit", `"public";r=0;t=3600`, "Retry-After", "",
		"X-RateLimit-Limit", "1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "3600")

	second := get(t, server)
	second.wantStatus(t, 429)
	retry := second.header.Get("Retry-After")
	if n, err := strconv.Atoi(retry); err != nil || n > 3600 || n < 3500 { // full seconds that passed in between count
		t.Errorf("Retry-After: %q", retry)
	}
	second.wantHeader(t, "RateLimit-Policy", `"public";q=1`, "RateLimit", `"public";r=0;t=`+retry,
		"X-RateLimit-Limit", "1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", retry)
	body := second.problem(t)
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
	if strings.Contains(second.body, `"api"`) {
		t.Errorf("the bucket's name is told in spite of the rule's: %s", second.body)
	}
}

func TestRefusalsThatAreNoLimitAreAnswered503(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 2))
	for _, c := range []struct {
		name string
		rule httplimit.Rule
		code string
	}{
		{"not configured", httplimit.Rule{Bucket: "unheard-of"}, "not_configured"},
		{"too many", httplimit.Rule{Bucket: "api", Permits: func(*http.Request) int64 { return 3 }}, "too_many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := get(t, serve(t, w.protect([]httplimit.Rule{c.rule})))
			a.wantStatus(t, 503)
			a.wantHeader(t, "Retry-After", "")
			body := a.problem(t)
			if body["code"] != c.code || body["type"] != "about:blank" || body["title"] != "Service Unavailable" || body["retry_after"] != nil {
				t.Errorf("%s", a.body)
			}
		})
	}
}

func TestWhileRedisIsStoppedTheFailurePolicyAnswers(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))
	closed, local := definition("closed", 2), definition("local", 1)
	closed.OnFailure, local.OnFailure = bucket.FailClosed, bucket.FailLocal
	w.install(definition("open", 2), closed, local)
	if err := w.c.Preload(t.Context(), "open", "closed", "local"); err != nil {
		t.Fatal(err)
	}
	server := map[string]*httptest.Server{}
	for _, name := range []string{"open", "closed", "local"} {
		server[name] = serve(t, w.protect([]httplimit.Rule{{Bucket: name}}))
	}
	get(t, server["local"]).wantStatus(t, 200) // so that this process knows that nothing is left
	redisServer.Stop()

	a := get(t, server["open"])
	a.wantStatus(t, 200)
	a.wantHeader(t, "RateLimit-Policy", `"open";q=2`, "RateLimit", "", "X-RateLimit-Remaining", "", "Retry-After", "")

	a = get(t, server["closed"])
	a.wantStatus(t, 503)
	a.wantHeader(t, "Retry-After", "1", "RateLimit", "", "X-RateLimit-Remaining", "")
	if body := a.problem(t); body["code"] != "unavailable" || body["retry_after"] != 1.0 || strings.Contains(a.body, "edis") {
		t.Errorf("%s", a.body)
	}
	get(t, server["local"]).wantStatus(t, 429)
}

func TestARequestWithoutAKeyIsRefusedUnlessTheRuleHasAFallback(t *testing.T) {
	w := newWorld(t)
	w.install(keyed("users", 1))
	strict := serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User")}}))
	for _, header := range [][]string{nil, {"X-User", ""}, {"X-User", "  "}} {
		a := get(t, strict, header...)
		a.wantStatus(t, 400)
		if body := a.problem(t); body["code"] != "no_key" || body["title"] != "Bad Request" {
			t.Errorf("%s", a.body)
		}
	}
	lenient := serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User"), Fallback: "nobody"}}))
	get(t, lenient).wantStatus(t, 200)
	get(t, lenient).wantStatus(t, 429)
	get(t, lenient, "X-User", "ann").wantStatus(t, 200)
	get(t, strict, "X-User", "nobody").wantStatus(t, 429)
}

func TestAMisusedRuleIs500ToTheCallerAndALineToTheOperator(t *testing.T) {
	w := newWorld(t)
	w.install(keyed("users", 1), definition("api", 1))
	for name, rule := range map[string]httplimit.Rule{
		"no key":           {Bucket: "users"},
		"negative permits": {Bucket: "api", Permits: func(*http.Request) int64 { return -1 }},
		"ill-formed name":  {Bucket: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			h := w.protect([]httplimit.Rule{rule}, httplimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			for range 3 {
				a := get(t, serve(t, h))
				a.wantStatus(t, 500)
				if body := a.problem(t); body["code"] != "internal" || strings.Contains(a.body, "headgate") || strings.Contains(a.body, rule.Bucket) {
					t.Errorf("%s", a.body)
				}
			}
			if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 3 || !strings.Contains(log.String(), rule.Bucket) {
				t.Errorf("log: %s", log.String())
			}
		})
	}
	if left := w.remaining("api"); left != 1 {
		t.Errorf("negative permits changed the bucket: %d are left", left)
	}
}

func TestARequestWhoseContextIsDoneGets503AndTakesNothing(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 2))
	h := w.protect([]httplimit.Rule{{Bucket: "api"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if rec.Code != 503 || !strings.Contains(rec.Body.String(), `"cancelled"`) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	get(t, serve(t, h)).wantHeader(t, "X-RateLimit-Remaining", "1")
}

func TestAHandlerOfOnesOwnAnswersRefusals(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 1))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.OnRefused(
		func(rw http.ResponseWriter, r *http.Request, v *httplimit.Verdict) {
			if v.Code != "limited" || v.Status != 429 || v.RetryAfter <= 0 || len(v.Decisions) != 1 || v.Err != nil || r.URL.Path != "/" {
				t.Errorf("%+v", v)
			}
			rw.WriteHeader(http.StatusTeapot)
		})))
	get(t, server).wantStatus(t, 200)
	a := get(t, server)
	a.wantStatus(t, http.StatusTeapot)
	if a.header.Get("Retry-After") == "" || a.header.Get("RateLimit") == "" || a.body != "" {
		t.Errorf("%+v", a)
	}
}

func TestWithoutHeadersOnlyRetryAfterIsTold(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 1))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.WithoutHeaders()))
	get(t, server).wantStatus(t, 200)
	a := get(t, server)
	a.wantStatus(t, 429)
	a.wantHeader(t, "RateLimit", "", "RateLimit-Policy", "", "X-RateLimit-Limit", "", "X-RateLimit-Remaining", "", "X-RateLimit-Reset", "")
	if a.header.Get("Retry-After") == "" {
		t.Error("Retry-After is left out too")
	}
}

func TestMistakesInRulesAreFoundAtTheStart(t *testing.T) {
	w := newWorld(t)
	key := httplimit.Static("x")
	for name, attempt := range map[string]func() error{
		"no limiter":         func() error { return build(nil, httplimit.Rule{Bucket: "a"}) },
		"no rules":           func() error { return build(w.c) },
		"no bucket":          func() error { return build(w.c, httplimit.Rule{Name: "x"}) },
		"too many rules":     func() error { return build(w.c, make([]httplimit.Rule, client.MaxRequests+1)...) },
		"same name twice":    func() error { return build(w.c, httplimit.Rule{Bucket: "a"}, httplimit.Rule{Bucket: "a", Key: key}) },
		"unprintable name":   func() error { return build(w.c, httplimit.Rule{Bucket: "a", Name: "ä"}) },
		"fallback, no key":   func() error { return build(w.c, httplimit.Rule{Bucket: "a", Fallback: "x"}) },
		"wait with several":  func() error { return makeWith(w.c, httplimit.WaitUpTo(time.Second), "a", "b") },
		"wait negative":      func() error { return makeWith(w.c, httplimit.WaitUpTo(-1), "a") },
		"no refusal handler": func() error { return makeWith(w.c, httplimit.OnRefused(nil), "a") },
	} {
		var misuse *client.MisuseError
		if err := attempt(); !errors.As(err, &misuse) || misuse.Advice == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := build(w.c, httplimit.Rule{Bucket: "a", Name: "by user"}, httplimit.Rule{Bucket: "a", Name: "by address", Key: key}); err != nil {
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
