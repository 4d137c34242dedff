package ginlimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/ginlimit"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestALimitedRequestIsAnsweredAndAborted(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("all", 5), sdkenv.Keyed("user", 1))
	var ran atomic.Int64
	server := w.serve(nil, func(c *gin.Context) { ran.Add(1); c.String(200, "done") },
		[]ginlimit.Rule{{Bucket: "all"}, {Bucket: "user", Key: ginlimit.Header("X-User")}})

	a := sdkenv.Get(t, server, "X-User", "ann")
	a.WantStatus(t, 200)
	a.WantHeader(t, "RateLimit-Policy", `"all";q=5, "user";q=1`, "RateLimit", `"all";r=4;t=3600, "user";r=0;t=3600`,
		"X-RateLimit-Limit", "1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "3600", "Retry-After", "")
	for range 3 {
		a = sdkenv.Get(t, server, "X-User", "ann")
		a.WantStatus(t, 429)
		body := a.Problem(t)
		if body["code"] != "limited" || fmt.Sprint(body["violated-policies"]) != "[user]" || a.Header.Get("Retry-After") != fmt.Sprint(body["retry_after"]) {
			t.Errorf("%v %s", a.Header, a.Body)
		}
	}
	if ran.Load() != 1 {
		t.Errorf("the handler ran %d times, want 1", ran.Load())
	}
	if left := w.Remaining("all"); left != 4 {
		t.Errorf("refusals by the other rule took from this one: %d are left, want 4", left)
	}
	sdkenv.Get(t, server, "X-User", "bob").WantStatus(t, 200)
	sdkenv.Get(t, server).WantStatus(t, 400)
}

func TestOtherRefusalsAreAnswered503(t *testing.T) {
	redisServer := testenv.OwnRedis(t)
	w := &world{sdkenv.Connect(t, redisServer.Addr, client.DefaultPrefix, client.WithDeadline(10*time.Second))}
	closed := sdkenv.Definition("closed", 5)
	closed.OnFailure = bucket.FailClosed
	w.Install(closed, sdkenv.Definition("open", 5))
	if err := w.Client.Preload(t.Context(), "open", "closed"); err != nil {
		t.Fatal(err)
	}
	a := sdkenv.Get(t, w.serve(nil, done, []ginlimit.Rule{{Bucket: "unheard-of"}}))
	a.WantStatus(t, 503)
	a.WantHeader(t, "Retry-After", "")
	redisServer.Stop()
	a = sdkenv.Get(t, w.serve(nil, done, []ginlimit.Rule{{Bucket: "closed"}}))
	a.WantStatus(t, 503)
	a.WantHeader(t, "Retry-After", "1")
	if code := a.Problem(t)["code"]; code != "unavailable" {
		t.Errorf("code %v", code)
	}
	sdkenv.Get(t, w.serve(nil, done, []ginlimit.Rule{{Bucket: "open"}})).WantStatus(t, 200)
}

func TestKeysComeFromGinsContext(t *testing.T) {
	w := newWorld(t)
	type inRequest struct{}
	before := func(c *gin.Context) {
		if user := c.GetHeader("Authorization"); user == "number" {
			c.Set("user", 7)
		} else if user != "" {
			c.Set("user", user)
		}
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), inRequest{}, c.GetHeader("Authorization")))
	}
	find := func(ctx context.Context) string { return ctx.Value(inRequest{}).(string) }
	for name, key := range map[string]func(*gin.Context) string{
		"value": ginlimit.Value("user"), "request": ginlimit.FromRequest(httplimit.FromContext(find)),
	} {
		w.Install(sdkenv.Keyed(name, 1))
		server := w.serve(before, done, []ginlimit.Rule{{Bucket: name, Key: key}})
		sdkenv.Get(t, server, "Authorization", "ann").WantStatus(t, 200)
		sdkenv.Get(t, server, "Authorization", "ann").WantStatus(t, 429)
		sdkenv.Get(t, server, "Authorization", "bob").WantStatus(t, 200)
		sdkenv.Get(t, server).WantStatus(t, 400)
	}
	sdkenv.Get(t, w.serve(before, done, []ginlimit.Rule{{Bucket: "value", Key: ginlimit.Value("user")}}), "Authorization", "number").WantStatus(t, 400)
}

func TestKeysComeFromTheRoute(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("tenant", 1), sdkenv.Keyed("route", 1))
	tenant, err := ginlimit.New(w.Client, []ginlimit.Rule{{Bucket: "tenant", Key: ginlimit.Param("tenant")}})
	if err != nil {
		t.Fatal(err)
	}
	route, err := ginlimit.New(w.Client, []ginlimit.Rule{{Bucket: "route", Key: ginlimit.Route()}})
	if err != nil {
		t.Fatal(err)
	}
	router := gin.New()
	router.GET("/tenants/:tenant", tenant, done)
	router.GET("/routes/:any", route, done)
	router.GET("/other", route, done)
	router.NoRoute(route)
	server := sdkenv.Serve(t, router)
	for _, c := range []struct {
		path   string
		status int
	}{
		{"/tenants/a", 200}, {"/tenants/a", 429}, {"/tenants/b", 200},
		{"/routes/a", 200}, {"/routes/b", 429}, {"/other", 200}, {"/other", 429}, {"/nowhere", 400},
	} {
		if a := sdkenv.GetPath(t, server, c.path); a.Status != c.status {
			t.Errorf("%s: %d %s, want %d", c.path, a.Status, a.Body, c.status)
		}
	}
	if left := w.Remaining("route", client.Key("GET /routes/:any")); left != 0 {
		t.Error("the route is not counted by method and pattern")
	}
}

func TestASpoofedHeaderIsIgnoredWhateverGinTrusts(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Keyed("addresses", 1))
	server := w.serve(nil, done, []ginlimit.Rule{{Bucket: "addresses", Key: ginlimit.IP(httplimit.Address{})}})
	sdkenv.Get(t, server, "X-Forwarded-For", "203.0.113.1").WantStatus(t, 200)
	sdkenv.Get(t, server, "X-Forwarded-For", "203.0.113.2").WantStatus(t, 429)
}

func TestOptionsHoldForGin(t *testing.T) {
	w := newWorld(t)
	fast := sdkenv.Definition("fast", 1)
	fast.Period, fast.MaxWait = 100*time.Millisecond, time.Minute
	w.Install(fast, sdkenv.Definition("one", 1), sdkenv.Keyed("static", 1))

	patient := w.serve(nil, done, []ginlimit.Rule{{Bucket: "fast"}}, ginlimit.WaitUpTo(20*time.Second))
	for range 3 {
		sdkenv.Get(t, patient).WantStatus(t, 200)
	}
	own := w.serve(nil, done, []ginlimit.Rule{{Bucket: "one"}}, ginlimit.WithoutHeaders(),
		ginlimit.Skip(func(c *gin.Context) bool { return c.GetHeader("X-Health") != "" }),
		ginlimit.OnRefused(func(c *gin.Context, v *httplimit.Verdict) { c.JSON(http.StatusTeapot, gin.H{"code": v.Code}) }))
	sdkenv.Get(t, own, "X-Health", "1").WantStatus(t, 200)
	sdkenv.Get(t, own).WantStatus(t, 200)
	a := sdkenv.Get(t, own)
	a.WantStatus(t, http.StatusTeapot)
	a.WantHeader(t, "RateLimit", "", "X-RateLimit-Limit", "")
	if a.Body != `{"code":"limited"}` || a.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", a.Header, a.Body)
	}
	static := w.serve(nil, done, []ginlimit.Rule{{Bucket: "static", Key: ginlimit.Static("x"), Permits: func(c *gin.Context) int64 {
		return int64(len(c.GetHeader("X-Cost")))
	}}})
	sdkenv.Get(t, static).WantStatus(t, 200)
	sdkenv.Get(t, static, "X-Cost", "1").WantStatus(t, 200)
	sdkenv.Get(t, static, "X-Cost", "1").WantStatus(t, 429)
}

func TestMistakesAreFoundAtTheStart(t *testing.T) {
	w := newWorld(t)
	for name, build := range map[string]func() (gin.HandlerFunc, error){
		"no rules": func() (gin.HandlerFunc, error) { return ginlimit.New(w.Client, nil) },
		"no refusal handler": func() (gin.HandlerFunc, error) {
			return ginlimit.New(w.Client, []ginlimit.Rule{{Bucket: "a"}}, ginlimit.OnRefused(nil))
		},
	} {
		var misuse *client.MisuseError
		if _, err := build(); !errors.As(err, &misuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyRequestsAtOnceAreAdmittedExactlyToTheLimit(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 30))
	server := w.serve(nil, done, []ginlimit.Rule{{Bucket: "api"}})
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 20
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 4 {
				if sdkenv.Get(t, server).Status == 200 {
					admitted.Add(1)
				}
			}
		})
	}
	all.Wait()
	if admitted.Load() != 30 {
		t.Errorf("%d were admitted, want 30", admitted.Load())
	}
}

func TestAStreamedAnswerIsNotHeldBack(t *testing.T) {
	w := newWorld(t)
	w.Install(sdkenv.Definition("api", 30))
	read := make(chan struct{})
	server := w.serve(nil, func(c *gin.Context) {
		_, _ = io.WriteString(c.Writer, strings.Repeat("x", 10))
		c.Writer.Flush()
		select {
		case <-read:
		case <-time.After(20 * time.Second):
			t.Error("the first part did not arrive before the handler ended")
		}
	}, []ginlimit.Rule{{Bucket: "api"}})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	close(read)
}
