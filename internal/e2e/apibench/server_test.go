package apibench

import (
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv/adminenv"
)

const adminPassword = "tin lantern under seven maps"

// program is the admin server as it is shipped, in a process of its own.
type program struct{ *adminenv.Server }

// start runs the server until it is ready, and says how long that took.
func start(b *testing.B, binary, dsn, redisAddr string) (*program, time.Duration) {
	b.Helper()
	began := time.Now()
	p := adminenv.Serve(b, binary, []string{
		"HEADGATE_ADMIN_PASSWORD=" + adminPassword, "HEADGATE_MYSQL_DSN=" + dsn, "HEADGATE_REDIS_URL=redis://" + redisAddr + "/0",
	}, "serve")
	return &program{p}, time.Since(began)
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
