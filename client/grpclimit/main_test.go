package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/grpclimit"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	code := testenv.Main(m)
	os.Exit(code)
}

// silent keeps go-redis's lines on failing connections, which these tests cause, out of the output.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// world is a real Redis with an engine to define buckets, and a client of the SDK.
type world struct {
	t      *testing.T
	engine *bucket.Engine
	c      *client.Client
}

// newWorld connects to the Redis that the tests share. It is patient, so that a busy machine changes no outcome.
func newWorld(t *testing.T) *world {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	return connect(t, addr, prefix, client.WithDeadline(20*time.Second))
}

func connect(t *testing.T, addr, prefix string, opts ...client.Option) *world {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	opts = append([]client.Option{client.Prefix(prefix), client.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	c, err := client.New(rdb, "shop", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = rdb.Close()
	})
	return &world{t: t, engine: bucket.New(rdb, prefix), c: c}
}

// definition is a bucket of max permits that gets one more an hour, so that nothing comes in during a test.
func definition(name string, maxPermits int64) bucket.Definition {
	return bucket.Definition{
		Name: name, Revision: 1, Apps: []string{bucket.AllApps}, Algorithm: bucket.TokenBucket,
		MaxPermits: maxPermits, Rate: 1, Period: time.Hour, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
}

// keyed is a definition that counts by key.
func keyed(name string, maxPermits int64) bucket.Definition {
	d := definition(name, maxPermits)
	d.Partition = bucket.PartitionKey
	return d
}

func (w *world) install(definitions ...bucket.Definition) {
	w.t.Helper()
	for _, d := range definitions {
		result, err := w.engine.Install(w.t.Context(), d, bucket.InstallOptions{Deployment: "grpclimit-tests"})
		if err != nil || result.Status != bucket.StatusInstalled {
			w.t.Fatalf("install %s: %+v, %v", d.Name, result, err)
		}
	}
}

// remaining is how many permits a bucket has.
func (w *world) remaining(name string, opts ...client.CallOption) int64 {
	w.t.Helper()
	d, err := w.c.Peek(w.t.Context(), name, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Remaining
}

// service answers the calls of gRPC's own test service.
type service struct {
	testgrpc.UnimplementedTestServiceServer
	calls atomic.Int64 // that reached the service
}

func (s *service) EmptyCall(context.Context, *testgrpc.Empty) (*testgrpc.Empty, error) {
	s.calls.Add(1)
	return &testgrpc.Empty{}, nil
}

func (s *service) UnaryCall(context.Context, *testgrpc.SimpleRequest) (*testgrpc.SimpleResponse, error) {
	s.calls.Add(1)
	return &testgrpc.SimpleResponse{}, nil
}

// FullDuplexCall answers each message at once.
func (s *service) FullDuplexCall(stream testgrpc.TestService_FullDuplexCallServer) error {
	s.calls.Add(1)
	for {
		_, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&testgrpc.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
}

// serve starts a real server on loopback behind the limit and connects to it.
func serve(t *testing.T, limit *grpclimit.Limit) (testgrpc.TestServiceClient, *service) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(limit.Unary()), grpc.StreamInterceptor(limit.Stream()))
	s := &service{}
	testgrpc.RegisterTestServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return testgrpc.NewTestServiceClient(conn), s
}

// protect makes a Limit and serves behind it.
func (w *world) protect(rules map[string][]grpclimit.Rule, opts ...grpclimit.Option) (testgrpc.TestServiceClient, *service) {
	w.t.Helper()
	limit, err := grpclimit.New(w.c, rules, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return serve(w.t, limit)
}

// as makes a context with an entry of metadata.
func as(t *testing.T, name, value string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(), name, value)
}

// empty makes the simplest call.
func empty(ctx context.Context, c testgrpc.TestServiceClient) error {
	_, err := c.EmptyCall(ctx, &testgrpc.Empty{})
	return err
}

// wantCode compares the code of an error.
func wantCode(t *testing.T, err error, code codes.Code) {
	t.Helper()
	if status.Code(err) != code {
		t.Fatalf("got %v, want %v", err, code)
	}
}

// details are the details of an error's status.
type details struct {
	info  *errdetails.ErrorInfo
	retry *errdetails.RetryInfo
	quota *errdetails.QuotaFailure
}

func detailsOf(t *testing.T, err error) details {
	t.Helper()
	var all details
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			all.info = d
		case *errdetails.RetryInfo:
			all.retry = d
		case *errdetails.QuotaFailure:
			all.quota = d
		default:
			t.Errorf("unexpected detail %v", d)
		}
	}
	return all
}
