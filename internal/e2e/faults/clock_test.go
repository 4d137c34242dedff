package faults_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// setClock is the clock of one process, as far from the machine's as it is set.
type setClock struct {
	t    *testing.T
	file *os.File
	env  []string // of the process
}

func newClock(t *testing.T) *setClock {
	t.Helper()
	dir := t.TempDir()
	shim := filepath.Join(dir, "clock.so")
	if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-O1", "-o", shim, "testdata/clock.c").CombinedOutput(); err != nil {
		t.Fatalf("no clock can be set without a C compiler, which the race detector needs too (Debian: apt-get install gcc libc6-dev): %v\n%s", err, out)
	}
	file, err := os.Create(filepath.Join(dir, "offset"))
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	c := &setClock{t: t, file: file, env: []string{"LD_PRELOAD=" + shim, "FAULTS_CLOCK=" + file.Name()}}
	c.set(0)
	return c
}

// set moves the clock to so far ahead of the machine's, or behind it.
func (c *setClock) set(ahead time.Duration) {
	c.t.Helper()
	_, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead.Microseconds())), 0)
	must(c.t, err)
}

// The clock of Redis is set while applications acquire: ahead, which refills what its rate grants for the time; far back,
// which costs max_permits once at most; and back by less than a second, which is waited for. Nothing freezes.
func TestStepsOfTheClockNeitherFreezeNorGrantMoreThanOnceMore(t *testing.T) {
	t.Parallel()
	clock := newClock(t)
	g, _ := onOwnRedis(t, testenv.RedisEnv(clock.env...))
	w := newWorld(t, g, 1)
	w.drained()
	for _, ahead := range []time.Duration{time.Minute, 0, -500 * time.Millisecond, 0} {
		clock.set(ahead)
		now, err := w.own.Time(t.Context()).Result()
		must(t, err)
		if off := now.Sub(time.Now().Add(ahead)).Abs(); off > 20*time.Second {
			t.Fatalf("the clock of Redis was not set: it is %v off", off)
		}
		w.goesOn()
	}
	// One minute refills stream once, and the one step far back may cost each bucket max_permits.
	w.settle(excess{vault: 1, burst: 1, stream: 2})
}
