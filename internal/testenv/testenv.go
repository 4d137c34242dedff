// Package testenv gives tests real servers: MariaDB or MySQL, Redis, and the embedded Redis.
//
// Each server is looked for in this order: an address in the environment (HEADGATE_TEST_MYSQL_DSN,
// HEADGATE_TEST_REDIS_ADDR), a container where a Docker engine answers and the image can be had, and a server of the
// distribution started on a free loopback port in a temporary folder. With none the test fails and says what is missing;
// it never skips. A test binary shares one server of each kind; every test has a database and a key prefix of its own.
package testenv

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"testing"
	"time"
)

var stops struct {
	sync.Mutex
	list []func()
}

// atExit remembers what Main must undo when the test binary ends.
func atExit(stop func()) {
	stops.Lock()
	defer stops.Unlock()
	stops.list = append(stops.list, stop)
}

// Main runs the tests of a package and then stops the servers that they shared. Use it as
//
//	func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	stops.Lock()
	defer stops.Unlock()
	for i := len(stops.list) - 1; i >= 0; i-- {
		stops.list[i]()
	}
	return code
}

// Eventually polls ok until it holds, and fails the test when it has not held within the given time.
func Eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func randomName(prefix string) string {
	raw := make([]byte, 6)
	if _, err := rand.Read(raw); err != nil {
		panic(err) // crypto/rand never fails on the platforms that we test on
	}
	return prefix + hex.EncodeToString(raw)
}
