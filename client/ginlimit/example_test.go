package ginlimit_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/ginlimit"
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

// An earlier handler finds out who the user is; the limit counts everybody together and each user.
func Example() {
	c, end := exampleClient()
	defer end()

	limit, err := ginlimit.New(c, []ginlimit.Rule{
		{Bucket: "api"},
		{Bucket: "api-per-user", Key: ginlimit.Value("user")},
	})
	if err != nil {
		log.Fatal(err)
	}
	authenticate := func(c *gin.Context) { c.Set("user", "ann") }

	router := gin.New()
	router.Use(authenticate, limit)
	router.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "hello") })

	for range 3 {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Code, w.Header().Get("X-RateLimit-Remaining"), "of", w.Header().Get("X-RateLimit-Limit"))
	}
	// Output:
	// 200 1 of 2
	// 200 0 of 2
	// 429 0 of 2
}
