package httplimit_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

// exampleClient returns a client of the SDK on an embedded Redis that has the examples' buckets, and what ends both. In a
// program it is client.New(rdb, "shop"), and the buckets come from the console.
func exampleClient() (*client.Client, func()) {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	for _, d := range []bucket.Definition{sdkenv.Definition("api", 1000), sdkenv.Keyed("api-per-user", 2)} {
		if _, err := bucket.New(rdb, "").Install(context.Background(), d, bucket.InstallOptions{Deployment: "examples"}); err != nil {
			log.Fatal(err)
		}
	}
	c, err := client.New(rdb, "shop", client.WithDeadline(20*time.Second)) // so that a busy machine changes no output
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		_ = rdb.Close()
		server.Close()
	}
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") })

// show prints what a request of a user gets.
func show(h http.Handler, user string) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-User", user)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(user, w.Code, w.Header().Get("X-RateLimit-Remaining"), "of", w.Header().Get("X-RateLimit-Limit"))
}

// Everybody together is held to one bucket, and each user to another. A user who is limited takes nothing of what all
// have together.
func Example() {
	c, end := exampleClient()
	defer end()

	limit, err := httplimit.New(c, []httplimit.Rule{
		{Bucket: "api"},
		{Bucket: "api-per-user", Key: httplimit.Header("X-User")},
	})
	if err != nil {
		log.Fatal(err)
	}
	h := limit(hello)

	show(h, "ann")
	show(h, "ann")
	show(h, "ann")
	show(h, "bob")
	// Output:
	// ann 200 1 of 2
	// ann 200 0 of 2
	// ann 429 0 of 2
	// bob 200 1 of 2
}

// Behind proxies in 10.0.0.0/8, clients count by their own address.
func ExampleIP() {
	c, end := exampleClient()
	defer end()

	proxies, err := httplimit.Networks("10.0.0.0/8")
	if err != nil {
		log.Fatal(err)
	}
	byIP := httplimit.IP(httplimit.Address{Trusted: proxies})
	limit, err := httplimit.New(c, []httplimit.Rule{{Bucket: "api-per-user", Key: byIP}})
	if err != nil {
		log.Fatal(err)
	}
	h := limit(hello)

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "10.0.0.1:4711"
	r.Header.Set("X-Forwarded-For", "1.1.1.1, 203.0.113.9") // the proxy appended the last one, the client sent the rest
	h.ServeHTTP(httptest.NewRecorder(), r)
	fmt.Println(byIP(r))
	// Output:
	// 203.0.113.9
}

// An upload costs a permit for each MiB that it announces, and health checks cost nothing.
func ExampleRuleFor_permits() {
	c, end := exampleClient()
	defer end()

	limit, err := httplimit.New(c, []httplimit.Rule{{
		Bucket:  "api",
		Permits: func(r *http.Request) int64 { return 1 + max(0, r.ContentLength)>>20 },
	}}, httplimit.Skip(func(r *http.Request) bool { return r.URL.Path == "/healthz" }))
	if err != nil {
		log.Fatal(err)
	}
	h := limit(hello)

	r := httptest.NewRequest(http.MethodPost, "/upload", nil)
	r.ContentLength = 5 << 20
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Header().Get("RateLimit-Policy"), w.Header().Get("X-RateLimit-Remaining"))
	// Output:
	// "api";q=1000 994
}

// A page of one's own instead of problem+json.
func ExampleOnRefused() {
	c, end := exampleClient()
	defer end()

	limit, err := httplimit.New(c, []httplimit.Rule{{Bucket: "api-per-user", Key: httplimit.Header("X-User")}},
		httplimit.OnRefused(func(w http.ResponseWriter, _ *http.Request, v *httplimit.Verdict) {
			http.Error(w, fmt.Sprintf("Please come back in %v.", v.RetryAfter.Round(time.Minute)), v.Status)
		}))
	if err != nil {
		log.Fatal(err)
	}
	h := limit(hello)

	var w *httptest.ResponseRecorder
	for range 3 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-User", "ann")
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
	}
	fmt.Print(w.Code, " ", w.Body)
	// Output:
	// 429 Please come back in 1h0m0s.
}
