package app

import (
	"fmt"
	"os"
	"path/filepath"

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

// embeddedDatabase returns the path of the embedded database's file and makes its folder.
func embeddedDatabase(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("HEADGATE_DATA_DIR: can't make the folder %s: %w", dir, err)
	}
	return filepath.Join(dir, "headgate.db"), nil
}
