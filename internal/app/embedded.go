package app

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/alicebob/miniredis/v2"
)

// startEmbeddedRedis starts the in-process Redis on a TCP port, so that SDKs of other processes can connect. Its keys
// expire by the wall clock; they live as long as the process, and reconcile brings the definitions back at each start.
func startEmbeddedRedis(listen string) (*miniredis.Miniredis, error) {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr(listen); err != nil {
		return nil, fmt.Errorf("the embedded Redis can't listen on %s (%w); free the port, or set HEADGATE_EMBEDDED_REDIS_LISTEN", listen, err)
	}
	m.ClockTTL(true)
	return m, nil
}

// lockDataDir makes the embedded database's folder and keeps a second server away from it: each would have a Redis of
// its own and tell of saves that the other's applications never see. The lock ends with the process, however it ends.
func lockDataDir(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("HEADGATE_DATA_DIR: can't make the folder %s: %w", dir, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "server.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("HEADGATE_DATA_DIR: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("another embedded server runs on the folder %s; stop it, or set HEADGATE_DATA_DIR", dir)
	}
	return func() { _ = file.Close() }, nil
}
