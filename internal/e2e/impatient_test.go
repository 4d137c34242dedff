package e2e_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// Whoever does not want to wait for a server that leaves in peace need not.
func TestCtrlCEndsAtOnceAServerThatIsLeaving(t *testing.T) {
	redisAddr, prefix := testenv.Redis(t)
	a := startAdmin(t, []string{
		"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t), "HEADGATE_REDIS_URL=redis://" + redisAddr, "HEADGATE_REDIS_PREFIX=" + prefix,
		"HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_DRAIN_DELAY=5m",
	}, "serve")
	a.Signal(syscall.SIGTERM)
	testenv.Eventually(t, 10*time.Second, "it leaves", func() bool { return a.Probe("/readyz") == http.StatusServiceUnavailable })
	a.Signal(os.Interrupt)
	var ended *exec.ExitError
	if err := a.Wait(10 * time.Second); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != os.Interrupt {
		t.Errorf("ended with %v, want it killed by the interrupt", err)
	}
}
