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
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestARefusalByOneRuleTakesNothingOfTheOthers(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("all", 4), sdkenv.Keyed("user", 2))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "all"}, {Bucket: "user", Key: httplimit.Header("X-User")}}))

	a := sdkenv.Get(t, server, "X-User", "ann")
	a.WantStatus(t, 200)
	a.WantHeader(t, "RateLimit-Policy", `"all";q=4, "user";q=2`, "RateLimit", `"all";r=3;t=3600, "user";r=1;t=3600`,
		"X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "3600")
	sdkenv.Get(t, server, "X-User", "ann").WantStatus(t, 200)

	for range 3 {
		a = sdkenv.Get(t, server, "X-User", "ann")
		a.WantStatus(t, 429)
		a.WantHeader(t, "RateLimit-Policy", `"all";q=4, "user";q=2`, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0")
		if body := a.Problem(t); fmt.Sprint(body["violated-policies"]) != "[user]" {
			t.Errorf("%s", a.Body)
		}
		if limits := a.Header.Get("RateLimit"); !strings.HasSuffix(limits, `, "user";r=0;t=`+a.Header.Get("Retry-After")) {
			t.Errorf("RateLimit: %s", limits)
		}
	}
	if left := w.Remaining("all"); left != 2 {
		t.Fatalf("refusals by the other rule took from this one: %d are left, want 2", left)
	}
	sdkenv.Get(t, server, "X-User", "bob").WantStatus(t, 200)
	sdkenv.Get(t, server, "X-User", "bob").WantStatus(t, 200)
	sdkenv.Get(t, server, "X-User", "cid").WantStatus(t, 429)
	if left := w.Remaining("user", client.Key("cid")); left != 2 {
		t.Fatalf("the refusal by the common rule took from cid's: %d are left, want 2", left)
	}
}

func TestARefusalThatWaitingDoesNotEndOutweighsALimit(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	limited := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}))
	sdkenv.Get(t, limited).WantStatus(t, 200)
	a := sdkenv.Get(t, sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}, {Bucket: "unheard-of"}})))
	a.WantStatus(t, 503)
	a.WantHeader(t, "Retry-After", "", "RateLimit-Policy", `"api";q=1`)
	if code := a.Problem(t)["code"]; code != "not_configured" {
		t.Errorf("code %v", code)
	}
}

func TestOfSeveralLimitsTheLongestSaysWhenToRetry(t *testing.T) {
	w := newWorld(t)
	quick := sdkenv.Definition("quick", 1)
	quick.Period = 10 * time.Minute
	w.Install(sdkenv.Definition("slow", 1), quick)
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "slow"}, {Bucket: "quick"}}))
	sdkenv.Get(t, server).WantStatus(t, 200)
	a := sdkenv.Get(t, server)
	a.WantStatus(t, 429)
	if retry, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || retry <= 3000 {
		t.Errorf("Retry-After: %s", a.Header.Get("Retry-After"))
	}
}

func TestShadowRulesNeverRefuseAndAreInNoField(t *testing.T) {
	w := newWorld(t)
	shadow := sdkenv.Definition("shadow", 1)
	shadow.Mode = bucket.ModeShadow
	w.Install(shadow, sdkenv.Definition("api", 3))
	alone := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "shadow"}}))
	both := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "shadow"}, {Bucket: "api"}}))
	for range 3 {
		a := sdkenv.Get(t, alone)
		a.WantStatus(t, 200)
		a.WantHeader(t, "RateLimit", "", "RateLimit-Policy", "", "X-RateLimit-Limit", "", "X-RateLimit-Remaining", "")
	}
	for i := range 3 {
		a := sdkenv.Get(t, both)
		a.WantStatus(t, 200)
		a.WantHeader(t, "RateLimit-Policy", `"api";q=3`, "X-RateLimit-Remaining", strconv.Itoa(2-i))
	}
	sdkenv.Get(t, both).WantStatus(t, 429)
}

func TestARequestCostsWhatTheFunctionSays(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 5), sdkenv.Definition("other", 5))
	cost := func(r *http.Request) int64 {
		n, _ := strconv.ParseInt(r.Header.Get("X-Cost"), 10, 64)
		return n
	}
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Permits: cost}, {Bucket: "other"}}))
	a := sdkenv.Get(t, server, "X-Cost", "3")
	a.WantStatus(t, 200)
	a.WantHeader(t, "RateLimit-Policy", `"api";q=5, "other";q=5`, "X-RateLimit-Remaining", "2")
	sdkenv.Get(t, server, "X-Cost", "3").WantStatus(t, 429)
	free := sdkenv.Get(t, server, "X-Cost", "0")
	free.WantStatus(t, 200)
	free.WantHeader(t, "RateLimit-Policy", `"other";q=5`, "X-RateLimit-Remaining", "3")
	if left := w.Remaining("api"); left != 2 {
		t.Errorf("%d are left, want 2", left)
	}
	last := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "other"}, {Bucket: "api", Permits: cost}}))
	sdkenv.Get(t, last, "X-Cost", "0").WantHeader(t, "RateLimit-Policy", `"other";q=5`)
	nothing := sdkenv.Get(t, sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api", Permits: cost}})))
	nothing.WantStatus(t, 200)
	nothing.WantHeader(t, "RateLimit", "", "RateLimit-Policy", "")
}

func TestSkippedRequestsTakeNothing(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 1))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.Skip(func(r *http.Request) bool {
		return r.Header.Get("X-Health") != ""
	})))
	for range 3 {
		a := sdkenv.Get(t, server, "X-Health", "1")
		a.WantStatus(t, 200)
		a.WantHeader(t, "RateLimit", "")
	}
	sdkenv.Get(t, server).WantStatus(t, 200)
	sdkenv.Get(t, server).WantStatus(t, 429)
}

func TestARequestWaitsForItsTurnUpToTheTimeAllowed(t *testing.T) {
	w := newWorld(t)
	fast, slow := sdkenv.Definition("fast", 1), sdkenv.Definition("slow", 1)
	fast.Rate, fast.Period, fast.MaxWait = 1, 200*time.Millisecond, time.Minute
	slow.Period, slow.MaxWait = 30*time.Second, time.Minute
	w.Install(fast, slow)
	patient := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "fast"}}, httplimit.WaitUpTo(20*time.Second)))
	began := time.Now()
	for range 4 {
		sdkenv.Get(t, patient).WantStatus(t, 200)
	}
	if took := time.Since(began); took < 550*time.Millisecond {
		t.Errorf("four requests took %v; three of them had to wait 200 ms", took)
	}
	limited := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "slow"}}, httplimit.WaitUpTo(100*time.Millisecond)))
	sdkenv.Get(t, limited).WantStatus(t, 200)
	sdkenv.Get(t, limited).WantStatus(t, 429)
}

func TestARequestThatIsGivenUpWhileItWaitsEnds(t *testing.T) {
	w := newWorld(t)
	d := sdkenv.Definition("api", 1)
	d.Period, d.MaxWait = 30*time.Second, time.Minute
	w.Install(d)
	h := w.protect([]httplimit.Rule{{Bucket: "api"}}, httplimit.WaitUpTo(time.Minute))
	sdkenv.Get(t, sdkenv.Serve(t, h)).WantStatus(t, 200)
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
	w.Install(sdkenv.Keyed("users", 1))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Header("X-User")}}))
	longest, long := strings.Repeat("x", client.MaxKey), strings.Repeat("x", client.MaxKey+1)
	for _, key := range []string{longest, long, long + "y", strings.Repeat("z", 100_000)} {
		sdkenv.Get(t, server, "X-User", key).WantStatus(t, 200)
		sdkenv.Get(t, server, "X-User", key).WantStatus(t, 429)
	}
	if left := w.Remaining("users", client.Key(longest)); left != 0 {
		t.Error("a key of 512 bytes is not taken as it is")
	}
	if left := w.Remaining("users", client.Key(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(long))))); left != 0 {
		t.Error("a key of 513 bytes is not counted under its SHA-256")
	}
}

func TestKeysComeFromTheContextAndFromConstants(t *testing.T) {
	type user struct{}
	w := newWorld(t)
	w.Install(sdkenv.Keyed("users", 1))
	find := func(ctx context.Context) string {
		name, _ := ctx.Value(user{}).(string)
		return name
	}
	inner := w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.FromContext(find)}})
	server := sdkenv.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), user{}, r.Header.Get("Authorization"))))
	}))
	sdkenv.Get(t, server, "Authorization", "ann").WantStatus(t, 200)
	sdkenv.Get(t, server, "Authorization", "ann").WantStatus(t, 429)
	sdkenv.Get(t, server).WantStatus(t, 400)
	static := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "users", Key: httplimit.Static("everybody")}}))
	sdkenv.Get(t, static).WantStatus(t, 200)
	sdkenv.Get(t, static).WantStatus(t, 429)
	sdkenv.Get(t, server, "Authorization", "bob").WantStatus(t, 200)
}

func TestManyRequestsAtOnceAreAdmittedExactlyToTheLimit(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("all", 60), sdkenv.Keyed("user", 10))
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "all"}, {Bucket: "user", Key: httplimit.Header("X-User")}}))
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 40
	var admitted [8]atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for range 5 {
				if sdkenv.Get(t, server, "X-User", strconv.Itoa(i%8)).Status == 200 {
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
	if left := w.Remaining("all"); sum != 60 || left != 0 {
		t.Errorf("%d were admitted and %d are left, want 60 and 0", sum, left)
	}
}

func TestAPanicInAKeyFunctionReachesTheServerAndHarmsNoOtherRequest(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("users", 1))
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
	sdkenv.Get(t, sdkenv.Serve(t, h), "X-User", "ann").WantStatus(t, 200)
}

func TestNestedMiddlewaresListAllRulesAndTellOfTheOneNearestToItsLimit(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("wide", 10), sdkenv.Definition("narrow", 2))
	wide, err := httplimit.New(w.Client, []httplimit.Rule{{Bucket: "wide"}})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := httplimit.New(w.Client, []httplimit.Rule{{Bucket: "narrow"}})
	if err != nil {
		t.Fatal(err)
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	a := sdkenv.Get(t, sdkenv.Serve(t, wide(narrow(ok))))
	if got := strings.Join(a.Header.Values("RateLimit"), ", "); got != `"wide";r=9;t=3600, "narrow";r=1;t=3600` {
		t.Errorf("RateLimit: %s", got)
	}
	a.WantHeader(t, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "1")
	a = sdkenv.Get(t, sdkenv.Serve(t, narrow(wide(ok))))
	a.WantStatus(t, 200)
	a.WantHeader(t, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0")
	if got := len(a.Header.Values("RateLimit-Policy")); got != 2 {
		t.Errorf("%d lines of RateLimit-Policy, want 2", got)
	}
}

func TestModeOffAdmitsEverythingAlsoWhileRedisIsAway(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := &world{sdkenv.Connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))}
	off := sdkenv.Definition("off", 1)
	off.Mode, off.OnFailure = bucket.ModeOff, bucket.FailClosed
	w.Install(off)
	server := sdkenv.Serve(t, w.protect([]httplimit.Rule{{Bucket: "off"}}))
	for range 2 {
		sdkenv.Get(t, server).WantStatus(t, 200)
	}
	redisServer.Stop()
	a := sdkenv.Get(t, server)
	a.WantStatus(t, 200)
	a.WantHeader(t, "RateLimit", "", "X-RateLimit-Remaining", "")
}
