package httplimit_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestARefusalByOneRuleTakesNothingOfTheOthers(t *testing.T) {
	w := newWorld(t)
	w.install(definition("all", 4), keyed("user", 2))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "all"}, {Bucket: "user", Key: httplimit.Header("X-User")}}))

	a := get(t, server, "X-User", "ann")
	a.wantStatus(t, 200)
	a.wantHeader(t, "RateLimit-Policy", `"all";q=4, "user";q=2`, "RateLimit", `"all";r=3;t=3600, "user";r=1;t=3600`,
		"X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "3600")
	get(t, server, "X-User", "ann").wantStatus(t, 200)

	for range 3 {
		a = get(t, server, "X-User", "ann")
		a.wantStatus(t, 429)
		a.wantHeader(t, "RateLimit-Policy", `"all";q=4, "user";q=2`, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0")
		if body := a.problem(t); fmt.Sprint(body["violated-policies"]) != "[user]" {
			t.Errorf("%s", a.body)
		}
		if limits := a.header.Get("RateLimit"); !strings.HasSuffix(limits, `, "user";r=0;t=`+a.header.Get("Retry-After")) {
			t.Errorf("RateLimit: %s", limits)
		}
	}
	if left := w.remaining("all"); left != 2 {
		t.Fatalf("refusals by the other rule took from this one: %d are left, want 2", left)
	}
	get(t, server, "X-User", "bob").wantStatus(t, 200)
	get(t, server, "X-User", "bob").wantStatus(t, 200)
	get(t, server, "X-User", "cid").wantStatus(t, 429)
	if left := w.remaining("user", client.Key("cid")); left != 2 {
		t.Fatalf("the refusal by the common rule took from cid's: %d are left, want 2", left)
	}
}

func TestARefusalThatWaitingDoesNotEndOutweighsALimit(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 1))
	limited := serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}))
	get(t, limited).wantStatus(t, 200)
	a := get(t, serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}, {Bucket: "unheard-of"}})))
	a.wantStatus(t, 503)
	a.wantHeader(t, "Retry-After", "", "RateLimit-Policy", `"api";q=1`)
	if code := a.problem(t)["code"]; code != "not_configured" {
		t.Errorf("code %v", code)
	}
}

func TestOfSeveralLimitsTheLongestSaysWhenToRetry(t *testing.T) {
	w := newWorld(t)
	quick := definition("quick", 1)
	quick.Period = 10 * time.Minute
	w.install(definition("slow", 1), quick)
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "slow"}, {Bucket: "quick"}}))
	get(t, server).wantStatus(t, 200)
	a := get(t, server)
	a.wantStatus(t, 429)
	if retry, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || retry <= 3000 {
		t.Errorf("Retry-After: %s", a.header.Get("Retry-After"))
	}
}

func TestShadowRulesNeverRefuseAndAreInNoField(t *testing.T) {
	w := newWorld(t)
	shadow := definition("shadow", 1)
	shadow.Mode = bucket.ModeShadow
	w.install(shadow, definition("api", 3))
	alone := serve(t, w.protect([]httplimit.Rule{{Bucket: "shadow"}}))
	both := serve(t, w.protect([]httplimit.Rule{{Bucket: "shadow"}, {Bucket: "api"}}))
	for range 3 {
		a := get(t, alone)
		a.wantStatus(t, 200)
		a.wantHeader(t, "RateLimit", "", "RateLimit-Policy", "", "X-RateLimit-Limit", "", "X-RateLimit-Remaining", "")
	}
	for i := range 3 {
		a := get(t, both)
		a.wantStatus(t, 200)
		a.wantHeader(t, "RateLimit-Policy", `"api";q=3`, "X-RateLimit-Remaining", strconv.Itoa(2-i))
	}
	get(t, both).wantStatus(t, 429)
}

func TestARequestCostsWhatTheFunctionSays(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 5), definition("other", 5))
	cost := func(r *http.Request) int64 {
		n, _ := strconv.ParseInt(r.Header.Get("X-Cost"), 10, 64)
		return n
	}
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Permits: cost}, {Bucket: "other"}}))
	a := get(t, server, "X-Cost", "3")
	a.wantStatus(t, 200)
	a.wantHeader(t, "RateLimit-Policy", `"api";q=5, "other";q=5`, "X-RateLimit-Remaining", "2")
	get(t, server, "X-Cost", "3").wantStatus(t, 429)
	free := get(t, server, "X-Cost", "0")
	free.wantStatus(t, 200)
	free.wantHeader(t, "RateLimit-Policy", `"other";q=5`, "X-RateLimit-Remaining", "3")
	if left := w.remaining("api"); left != 2 {
		t.Errorf("%d are left, want 2", left)
	}
	last := serve(t, w.protect([]httplimit.Rule{{Bucket: "other"}, {Bucket: "api", Permits: cost}}))
	get(t, last, "X-Cost", "0").wantHeader(t, "RateLimit-Policy", `"other";q=5`)
	nothing := get(t, serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Permits: cost}})))
	nothing.wantStatus(t, 200)
	nothing.wantHeader(t, "RateLimit", "", "RateLimit-Policy", "")
}

func TestSkippedRequestsTakeNothing(t *testing.T) {
	w := newWorld(t)
	w.install(definition("api", 1))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.Skip(func(r *http.Request) bool {
		return r.Header.Get("X-Health") != ""
	})))
	for range 3 {
		a := get(t, server, "X-Health", "1")
		a.wantStatus(t, 200)
		a.wantHeader(t, "RateLimit", "")
	}
	get(t, server).wantStatus(t, 200)
	get(t, server).wantStatus(t, 429)
}

func TestARequestWaitsForItsTurnUpToTheTimeAllowed(t *testing.T) {
	w := newWorld(t)
	fast, slow := definition("fast", 1), definition("slow", 1)
	fast.Rate, fast.Period, fast.MaxWait = 1, 200*time.Millisecond, time.Minute
	slow.Period, slow.MaxWait = 30*time.Second, time.Minute
	w.install(fast, slow)
	patient := serve(t, w.protect([]httplimit.Rule{{Bucket: "fast"}}, httplimit.WaitUpTo(20*time.Second)))
	began := time.Now()
	for range 4 {
		get(t, patient).wantStatus(t, 200)
	}
	if took := time.Since(began); took < 550*time.Millisecond {
		t.Errorf("four requests took %v; three of them had to wait 200 ms", took)
	}
	limited := serve(t, w.protect([]httplimit.Rule{{Bucket: "slow"}}, httplimit.WaitUpTo(100*time.Millisecond)))
	get(t, limited).wantStatus(t, 200)
	get(t, limited).wantStatus(t, 429)
}

func TestARequestThatIsGivenUpWhileItWaitsEnds(t *testing.T) {
	w := newWorld(t)
	d := definition("api", 1)
	d.Period, d.MaxWait = 30*time.Second, time.Minute
	w.install(d)
	h := w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.WaitUpTo(time.Minute))
	get(t, serve(t, h)).wantStatus(t, 200)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	rec := httptest.NewRecorder()
	began := time.Now()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if rec.Code != 503 || time.Since(began) > 10*time.Second {
		t.Errorf("%d after %v", rec.Code, time.Since(began))
	}

	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	rec = httptest.NewRecorder()
	began = time.Now()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if rec.Code != 429 || time.Since(began) > 4*time.Second {
		t.Errorf("%d after %v for a request whose time ends before its turn, want 429 at once", rec.Code, time.Since(began))
	}
}

func TestKeysThatAreTooLongAreHashed(t *testing.T) {
	w := newWorld(t)
	w.install(keyed("users", 1))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User")}}))
	longest, long := strings.Repeat("x", client.MaxKey), strings.Repeat("x", client.MaxKey+1)
	for _, key := range []string{longest, long, long + "y", strings.Repeat("z", 100_000)} {
		get(t, server, "X-User", key).wantStatus(t, 200)
		get(t, server, "X-User", key).wantStatus(t, 429)
	}
	if left := w.remaining("users", client.Key(longest)); left != 0 {
		t.Error("a key of 512 bytes is not taken as it is")
	}
	if left := w.remaining("users", client.Key(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(long))))); left != 0 {
		t.Error("a key of 513 bytes is not counted under its SHA-256")
	}
}

func TestKeysComeFromTheContextAndFromConstants(t *testing.T) {
	type user struct{}
	w := newWorld(t)
	w.install(keyed("users", 1))
	find := func(ctx context.Context) string {
		name, _ := ctx.Value(user{}).(string)
		return name
	}
	inner := w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.FromContext(find)}})
	server := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), user{}, r.Header.Get("Authorization"))))
	}))
	get(t, server, "Authorization", "ann").wantStatus(t, 200)
	get(t, server, "Authorization", "ann").wantStatus(t, 429)
	get(t, server).wantStatus(t, 400)
	static := serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Static("everybody")}}))
	get(t, static).wantStatus(t, 200)
	get(t, static).wantStatus(t, 429)
	get(t, server, "Authorization", "bob").wantStatus(t, 200)
}

func TestManyRequestsAtOnceAreAdmittedExactlyToTheLimit(t *testing.T) {
	w := newWorld(t)
	w.install(definition("all", 60), keyed("user", 10))
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "all"}, {Bucket: "user", Key: httplimit.Header("X-User")}}))
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 40
	var admitted [8]atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for range 5 {
				if get(t, server, "X-User", strconv.Itoa(i%8)).status == 200 {
					admitted[i%8].Add(1)
				}
			}
		})
	}
	all.Wait()
	var sum int64
	for i := range admitted {
		n := admitted[i].Load()
		if sum += n; n > 10 {
			t.Errorf("user %d was admitted %d times, limit 10", i, n)
		}
	}
	if left := w.remaining("all"); sum != 60 || left != 0 {
		t.Errorf("%d were admitted and %d are left, want 60 and 0", sum, left)
	}
}

func TestAPanicInAKeyFunctionReachesTheServerAndHarmsNoOtherRequest(t *testing.T) {
	w := newWorld(t)
	w.install(keyed("users", 1))
	h := w.protect([]httplimit.Rule{{Bucket: "users", Key: func(r *http.Request) string {
		if r.Header.Get("X-User") == "bad" {
			panic("key function")
		}
		return r.Header.Get("X-User")
	}}})
	bad := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	bad.Header.Set("X-User", "bad")
	func() {
		defer func() {
			if got := recover(); got != "key function" {
				t.Errorf("recovered %v", got)
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), bad)
	}()
	get(t, serve(t, h), "X-User", "ann").wantStatus(t, 200)
}

func TestNestedMiddlewaresListAllRulesAndTellOfTheOneNearestToItsLimit(t *testing.T) {
	w := newWorld(t)
	w.install(definition("wide", 10), definition("narrow", 2))
	wide, err := httplimit.New(w.c, []httplimit.Rule{{Bucket: "wide"}})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := httplimit.New(w.c, []httplimit.Rule{{Bucket: "narrow"}})
	if err != nil {
		t.Fatal(err)
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	a := get(t, serve(t, wide(narrow(ok))))
	if got := strings.Join(a.header.Values("RateLimit"), ", "); got != `"wide";r=9;t=3600, "narrow";r=1;t=3600` {
		t.Errorf("RateLimit: %s", got)
	}
	a.wantHeader(t, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "1")
	a = get(t, serve(t, narrow(wide(ok))))
	a.wantStatus(t, 200)
	a.wantHeader(t, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0")
	if got := len(a.header.Values("RateLimit-Policy")); got != 2 {
		t.Errorf("%d lines of RateLimit-Policy, want 2", got)
	}
}

func TestModeOffAdmitsEverythingAlsoWhileRedisIsAway(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))
	off := definition("off", 1)
	off.Mode, off.OnFailure = bucket.ModeOff, bucket.FailClosed
	w.install(off)
	server := serve(t, w.protect([]httplimit.Rule{{Bucket: "off"}}))
	for range 2 {
		get(t, server).wantStatus(t, 200)
	}
	redisServer.Stop()
	a := get(t, server)
	a.wantStatus(t, 200)
	a.wantHeader(t, "RateLimit", "", "X-RateLimit-Remaining", "")
}
