// Package faults_test does to the running programs what nights do to them: it kills, stops, slows, fills and cuts off
// processes on loopback while applications acquire and people edit, and then settles an exact account: every answered
// save is in the database with its change row, every definition in Redis equals the database, and no more was granted
// than the design allows for that fault.
//
// Failovers as the SDK alone sees them are in internal/e2e/topology, single calls of the SDK under faults in client, the
// order of pushes and restarts in internal/reconcile, and each algorithm under a clock that is set in internal/bucket.
package faults_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv/adminenv"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

const (
	// comeback bounds how long everything may take to work again after a fault. It is far above what is seen, for
	// machines that are busy with something else.
	comeback = 100 * time.Second
	// atOnce is how many of these tests run at a time: they wait more than they work.
	atOnce = "5"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "headgate-faults-")
	if err != nil {
		panic(err)
	}
	if err := build(dir); err != nil {
		_ = os.RemoveAll(dir)
		panic(err)
	}
	code := sdkenv.Main(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// admin is the path of the admin server as it is shipped, without the race detector: memory is measured here too.
var admin string

func build(dir string) error {
	admin = filepath.Join(dir, "admin")
	return adminenv.Build(dir, nil, "admin")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
