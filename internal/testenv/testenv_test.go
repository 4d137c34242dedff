package testenv_test

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// Each test has a database of its own, empty and in UTC.
func TestMySQLGivesEachTestAFreshDatabase(t *testing.T) {
	for range 2 {
		db, err := sql.Open("mysql", testenv.MySQL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if _, err := db.Exec("CREATE TABLE only_here (id INT)"); err != nil {
			t.Errorf("a second test sees the first one's tables: %v", err)
		}
	}
}

// A stopped server refuses connections, and comes back on the same address without its data.
func TestOwnRedisStopsAndStartsEmpty(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	defer func() { _ = rdb.Close() }()
	ctx := context.Background()
	if err := rdb.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if err := rdb.Ping(ctx).Err(); err == nil {
		t.Error("a stopped server answered")
	}
	server.Start(t)
	testenv.Eventually(t, 5*time.Second, "the server answers again", func() bool { return rdb.Ping(ctx).Err() == nil })
	if n := rdb.Exists(ctx, "k").Val(); n != 0 {
		t.Errorf("a killed server without a snapshot kept %d keys", n)
	}
}

// A paused server keeps connections open and answers nothing until it is resumed.
func TestOwnRedisPauses(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ReadTimeout: 100 * time.Millisecond})
	defer func() { _ = rdb.Close() }()
	server.Pause(t)
	if err := rdb.Ping(context.Background()).Err(); err == nil {
		t.Error("a paused server answered")
	}
	server.Resume(t)
	testenv.Eventually(t, 5*time.Second, "the server answers again", func() bool { return rdb.Ping(context.Background()).Err() == nil })
}

// Tests that share a server have different prefixes, and their keys are gone afterwards.
func TestRedisPrefixIsRemovedAfterwards(t *testing.T) {
	addr, _ := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	var key string
	t.Run("inner", func(t *testing.T) {
		_, prefix := testenv.Redis(t)
		key = prefix + ":x"
		rdb.Set(t.Context(), key, "v", 0)
	})
	if rdb.Exists(t.Context(), key).Val() != 0 {
		t.Errorf("%s outlived its test", key)
	}
}
