package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// misuse checks that an error is of a kind, and that it says what to do.
func misuse(t *testing.T, err error, kind *client.MisuseError) {
	t.Helper()
	var typed *client.MisuseError
	if !errors.Is(err, kind) || !errors.As(err, &typed) {
		t.Errorf("got %v, want the misuse %v", err, kind)
		return
	}
	if !strings.Contains(err.Error(), typed.Argument) || !strings.Contains(err.Error(), typed.Advice) {
		t.Errorf("%q does not say what to do", err)
	}
}

func TestNewRefusesMisuse(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = rdb.Close() }()
	var noClient *redis.Client
	with := func(o client.Option) []client.Option { return []client.Option{o} }
	for name, test := range map[string]struct {
		rdb  redis.UniversalClient
		app  string
		opts []client.Option
		kind *client.MisuseError
	}{
		"nil Redis":             {nil, "checkout", nil, client.ErrRedis},
		"nil pointer":           {noClient, "checkout", nil, client.ErrRedis},
		"empty app":             {rdb, "", nil, client.ErrApp},
		"app with a space":      {rdb, "check out", nil, client.ErrApp},
		"app with braces":       {rdb, "a{b}", nil, client.ErrApp},
		"app too long":          {rdb, strings.Repeat("a", 129), nil, client.ErrApp},
		"app starting with -":   {rdb, "-a", nil, client.ErrApp},
		"the app of all apps":   {rdb, "*", nil, client.ErrApp},
		"empty prefix":          {rdb, "checkout", with(client.Prefix("")), client.ErrPrefix},
		"prefix with braces":    {rdb, "checkout", with(client.Prefix("{x}")), client.ErrPrefix},
		"prefix too long":       {rdb, "checkout", with(client.Prefix(strings.Repeat("p", 129))), client.ErrPrefix},
		"no deadline":           {rdb, "checkout", with(client.WithDeadline(0)), client.ErrOption},
		"deadline too long":     {rdb, "checkout", with(client.WithDeadline(time.Hour)), client.ErrOption},
		"unknown policy local":  {rdb, "checkout", with(client.WithUnknownPolicy(client.Local)), client.ErrOption},
		"not configured policy": {rdb, "checkout", with(client.WithNotConfigured("maybe")), client.ErrOption},
		"no instances":          {rdb, "checkout", with(client.WithInstances(0)), client.ErrOption},
		"no logger":             {rdb, "checkout", with(client.WithLogger(nil)), client.ErrOption},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New(test.rdb, test.app, test.opts...)
			misuse(t, err, test.kind)
			if c != nil {
				t.Error("there is a client beside the error")
			}
		})
	}
}

func TestCallsRefuseMisuseAndTakeNothing(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	keyed := definition("keyed", 1, 1, time.Hour)
	keyed.Partition = bucket.PartitionAppKey
	w.install(keyed)
	for name, test := range map[string]struct {
		bucket string
		opts   []client.CallOption
		kind   *client.MisuseError
	}{
		"empty bucket":       {"", nil, client.ErrBucket},
		"bucket with braces": {"a}b", nil, client.ErrBucket},
		"bucket too long":    {strings.Repeat("b", 129), nil, client.ErrBucket},
		"no permits":         {"keyed", []client.CallOption{client.Key("k"), client.Permits(0)}, client.ErrPermits},
		"negative permits":   {"keyed", []client.CallOption{client.Key("k"), client.Permits(-100)}, client.ErrPermits},
		"no key":             {"keyed", nil, client.ErrNoKey},
		"empty key":          {"keyed", []client.CallOption{client.Key("")}, client.ErrNoKey},
		"key too long":       {"keyed", []client.CallOption{client.Key(strings.Repeat("k", 513))}, client.ErrKey},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // before and after the bucket was learned
				d, err := w.c.Acquire(t.Context(), test.bucket, test.opts...)
				misuse(t, err, test.kind)
				if d != (client.Decision{}) {
					t.Errorf("a decision beside the error: %+v", d)
				}
				_, err = w.c.Peek(t.Context(), test.bucket, test.opts...)
				misuse(t, err, test.kind)
			}
		})
	}
	misuse(t, w.c.Preload(t.Context(), "keyed", ""), client.ErrBucket)
	wants(t, w.acquire("keyed", client.Key("k")), client.Granted, true)
}

func TestAClosedClientRefusesCalls(t *testing.T) {
	addr, prefix := testenv.Redis(t)
	w := newWorld(t, addr, prefix)
	for range 2 {
		if err := w.c.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	_, err := w.c.Acquire(t.Context(), "b")
	misuse(t, err, client.ErrIsClosed)
	misuse(t, w.c.Preload(t.Context(), "b"), client.ErrIsClosed)
	if err := w.rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatalf("Close closed the caller's Redis client: %v", err)
	}
}

func TestPreloadReportsEachBucketThatItCouldNotLearn(t *testing.T) {
	onEach(t, func(t *testing.T, addr, prefix string) {
		w := newWorld(t, addr, prefix)
		w.install(definition("here", 1, 1, time.Hour))
		if err := w.c.Preload(t.Context(), "here"); err != nil {
			t.Fatal(err)
		}
		err := w.c.Preload(t.Context(), "absent-1", "here", "absent-2")
		if !errors.Is(err, client.ErrNotConfigured) || !strings.Contains(err.Error(), "absent-1") || !strings.Contains(err.Error(), "absent-2") || strings.Contains(err.Error(), "here") {
			t.Fatalf("%v", err)
		}
	})
}
