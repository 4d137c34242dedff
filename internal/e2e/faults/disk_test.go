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

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// smallDisk mounts a file system of so many bytes until the test ends.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir, size := t.TempDir(), fmt.Sprintf("size=%d,mode=0777", bytes)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, size); err == nil {
		t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
		return dir
	}
	if out, err := exec.CommandContext(t.Context(), "sudo", "-n", "mount", "-t", "tmpfs", "-o", size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("no small disk can be mounted: run the tests as root, or with a sudo that asks for no password (%v %s)", err, out)
	}
	t.Cleanup(func() { must(t, exec.Command("sudo", "-n", "umount", "--lazy", dir).Run()) })
	return dir
}

// fill leaves no room on the disk, and returns what makes room again.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	must(t, err)
	for block := make([]byte, 4096); err == nil; _, err = ballast.Write(block) {
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, ballast.Close())
	return func() { must(t, os.Remove(ballast.Name())) }
}

// The disk of the embedded database is full: who saves is told so and what to do, whoever reads reads on, applications
// notice nothing, and once there is room again everything goes on without a restart.
func TestFullDiskRefusesSavesSaysWhyAndLosesNone(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 8<<20)
	port, err := testenv.FreePort()
	must(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	g := ground{
		database: store.Config{SQLitePath: filepath.Join(dir, "headgate.db")},
		settings: []string{"HEADGATE_DATA_DIR=" + dir, "HEADGATE_EMBEDDED_REDIS_LISTEN=" + addr, "HEADGATE_DEMO=off", "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_REPAIR_INTERVAL=1s"},
		args:     []string{"--embedded"},
		connect:  func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: addr}) },
		own:      redis.NewClient(&redis.Options{Addr: addr}),
		deadline: patient,
	}
	t.Cleanup(func() { _ = g.own.Close() })
	w := newWorld(t, g, 1)
	for range 2 {
		free := fill(t, dir)
		a := w.edits.refused(t, http.StatusInsufficientStorage)
		if a.body.Code != "disk_full" || !strings.Contains(a.body.Detail, "nothing was saved") || !strings.Contains(a.body.Detail, "free some space") {
			t.Errorf("a save on a full disk is answered %s", a.raw)
		}
		w.person.must(http.StatusOK, http.MethodGet, "/buckets", 0, nil)
		w.load.goOn(t, stream, 50)
		free()
		w.goesOn()
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}
