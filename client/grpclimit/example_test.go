package grpclimit_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/grpclimit"
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
	for _, d := range []bucket.Definition{sdkenv.Definition("api", 1000), sdkenv.Definition("orders", 2)} {
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

// One method has rules of its own, health checks have none, and everything else shares a bucket.
func Example() {
	c, end := exampleClient()
	defer end()

	limit, err := grpclimit.New(c, map[string][]grpclimit.Rule{
		"/":                                   {{Bucket: "api"}},
		"/grpc.testing.TestService/EmptyCall": {{Bucket: "api"}, {Bucket: "orders"}},
		"/grpc.health.v1.Health/":             nil,
	})
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(limit.Unary()), grpc.StreamInterceptor(limit.Stream()))
	testgrpc.RegisterTestServiceServer(server, &service{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for range 3 {
		_, err := testgrpc.NewTestServiceClient(conn).EmptyCall(context.Background(), &testgrpc.Empty{})
		fmt.Println(status.Code(err))
	}
	// Output:
	// OK
	// OK
	// ResourceExhausted
}
