package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/headgate/headgate/client/grpclimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

func TestMain(m *testing.M) {
	os.Exit(sdkenv.Main(m))
}

// world is a World with the middleware under test.
type world struct{ *sdkenv.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{sdkenv.New(t)}
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
	w.T.Helper()
	limit, err := grpclimit.New(w.Client, rules, opts...)
	if err != nil {
		w.T.Fatal(err)
	}
	return serve(w.T, limit)
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
