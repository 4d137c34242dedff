package apibench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

const adminPassword = "tin lantern under seven maps"

// program is the admin server as it is shipped, in a process of its own.
type program struct {
	url  string
	pid  int
	stop func()
}

// build makes one of the programs in cmd, without the race detector.
func build(b *testing.B, name string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	cmd := exec.CommandContext(b.Context(), "go", "build", "-o", path, "../../../cmd/"+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// start runs the server until it is ready, and says how long that took.
func start(b *testing.B, binary, dsn, redisAddr string) (*program, time.Duration) {
	b.Helper()
	port, err := testenv.FreePort()
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var printed bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_MYSQL_DSN=" + dsn,
		"HEADGATE_REDIS_URL=redis://" + redisAddr + "/0", fmt.Sprintf("HEADGATE_LISTEN=127.0.0.1:%d", port),
	}
	cmd.Stdout, cmd.Stderr = &printed, &printed
	began := time.Now()
	must(b, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	p := &program{url: fmt.Sprintf("http://127.0.0.1:%d", port), pid: cmd.Process.Pid, stop: func() { cancel(); <-done }}
	b.Cleanup(p.stop)
	testenv.Eventually(b, 5*time.Minute, "the server is ready", func() bool {
		select {
		case <-done:
			b.Fatalf("the server ended at its start:\n%s", printed.String())
		default:
		}
		res, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		must(b, res.Body.Close())
		return res.StatusCode == http.StatusOK
	})
	return p, time.Since(began)
}

// memory reads a figure of the process from the kernel, in MB: VmRSS is what it has, VmHWM the most it ever had.
func (p *program) memory(b *testing.B, figure string) float64 {
	b.Helper()
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", p.pid))
	must(b, err)
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), figure+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			must(b, err)
			return kb / 1000
		}
	}
	b.Fatalf("the kernel tells no %s", figure)
	return 0
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
