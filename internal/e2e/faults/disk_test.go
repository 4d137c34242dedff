package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// disk is a folder that can be filled: a small file system of its own, or, where none may be mounted, as in a container
// without the right to, an ordinary one with a limit on the size of the server's files. To a database it is the same: what
// it has stands, and nothing can be added.
type disk struct {
	dir   string
	small bool
}

func newDisk(t *testing.T, megabytes int) disk {
	t.Helper()
	dir, err := os.MkdirTemp("", "disk-") // a short path, for sockets in it
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	size := fmt.Sprintf("size=%dm,mode=0777", megabytes)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, size) == nil {
		t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
		return disk{dir, true}
	}
	if exec.CommandContext(t.Context(), "sudo", "-n", "mount", "-t", "tmpfs", "-o", size, "tmpfs", dir).Run() == nil {
		t.Cleanup(func() { must(t, exec.Command("sudo", "-n", "umount", "--lazy", dir).Run()) })
		return disk{dir, true}
	}
	t.Log("no small disk can be mounted; a limit on what the database may write stands in for it")
	return disk{dir, false}
}

// fill leaves the process that has the database no room, and returns what makes room again.
func (d disk) fill(t *testing.T, pid int) (free func()) {
	t.Helper()
	if !d.small {
		const room = 64 << 10 // far less than the database has already
		before := limitFiles(t, pid, room)
		return func() { limitFiles(t, pid, before) }
	}
	ballast, err := os.Create(filepath.Join(d.dir, "ballast"))
	must(t, err)
	for block := make([]byte, 4096); err == nil; _, err = ballast.Write(block) {
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, ballast.Close())
	return func() { must(t, os.Remove(ballast.Name())) }
}

// limitFiles sets how far a process may write into any file, and returns how far it might before.
func limitFiles(t *testing.T, pid int, bytes uint64) (before uint64) {
	t.Helper()
	var now syscall.Rlimit
	must(t, prlimit(pid, nil, &now))
	must(t, prlimit(pid, &syscall.Rlimit{Cur: bytes, Max: now.Max}, nil))
	return now.Cur
}

func prlimit(pid int, set, get *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 0, 0) //nolint:gosec // as prlimit(2) wants it
	if errno != 0 {
		return errno
	}
	return nil
}

// The disk of the embedded database is full: who saves is told so and what to do, whoever reads reads on, applications
// notice nothing, and once there is room again everything goes on without a restart.
func TestFullDiskRefusesSavesSaysWhyAndLosesNone(t *testing.T) {
	t.Parallel()
	disk := newDisk(t, 8)
	port, err := testenv.FreePort()
	must(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	g := ground{
		database: store.Config{SQLitePath: filepath.Join(disk.dir, "headgate.db")},
		settings: []string{"HEADGATE_DATA_DIR=" + disk.dir, "HEADGATE_EMBEDDED_REDIS_LISTEN=" + addr, "HEADGATE_DEMO=off", "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1s"},
		args:     []string{"--embedded"},
		connect:  func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: addr}) },
		own:      redis.NewClient(&redis.Options{Addr: addr}),
		deadline: patient,
	}
	t.Cleanup(func() { _ = g.own.Close() })
	w := newWorld(t, g, 1)
	w.isFull(func() (free func()) { return disk.fill(t, w.servers[0].PID()) })
}

// isFull fills the disk of the database twice and settles.
func (w *world) isFull(fill func() (free func())) {
	w.Helper()
	t := w.T
	for range 2 {
		free := fill()
		a := w.edits.refused(t, http.StatusInsufficientStorage)
		if a.body.Code != "disk_full" || !strings.Contains(a.body.Detail, "nothing was saved") || !strings.Contains(a.body.Detail, "free some space") {
			t.Errorf("a save on a full disk is answered %s", a.Raw)
		}
		w.person.must(http.StatusOK, http.MethodGet, "/buckets", 0, nil)
		w.load[stream].IsGranted(t, 50)
		free()
		w.goesOn()
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}
