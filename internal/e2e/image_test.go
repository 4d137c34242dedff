//go:build image

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// imageVersion is stamped into the image that the test builds.
const imageVersion = "0.0.0-imagetest"

// The image that the Dockerfile builds starts on real servers as nobody, turns healthy by its own probe, serves the
// console and the API, has its version, and ends cleanly when it is told to. `make image-test` runs it; it fails where no
// Docker engine answers. HEADGATE_TEST_IMAGE_ARGS has further arguments for the build, such as other base images.
func TestImageIsBuiltAndServes(t *testing.T) {
	build := append([]string{"build", "--build-arg", "VERSION=" + imageVersion, "-t", "headgate:imagetest"}, strings.Fields(os.Getenv("HEADGATE_TEST_IMAGE_ARGS"))...)
	docker(t, append(build, "../..")...)
	t.Cleanup(func() { docker(t, "image", "rm", "--force", "headgate:imagetest") })
	if user := docker(t, "image", "inspect", "--format", "{{.Config.User}}", "headgate:imagetest"); user != "65532:65532" {
		t.Errorf("it runs as %q", user)
	}
	redisAddr, prefix := testenv.Redis(t)
	port := freePort(t)
	const password = "from-a-container-1"
	container := docker(t, "run", "--detach", "--network", "host", "--read-only", "--cap-drop", "ALL",
		"--env", fmt.Sprintf("HEADGATE_LISTEN=127.0.0.1:%d", port), "--env", "HEADGATE_MYSQL_DSN="+testenv.MySQL(t),
		"--env", "HEADGATE_REDIS_URL=redis://"+redisAddr, "--env", "HEADGATE_REDIS_PREFIX="+prefix, "--env", "HEADGATE_ADMIN_PASSWORD="+password,
		"headgate:imagetest")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(docker(t, "logs", container))
		}
		docker(t, "rm", "--force", container)
	})
	testenv.Eventually(t, 90*time.Second, "the container is healthy", func() bool {
		return docker(t, "inspect", "--format", "{{.State.Health.Status}}", container) == "healthy"
	})
	a := &admin{&adminenv.Server{URL: fmt.Sprintf("http://127.0.0.1:%d", port)}, t}
	a.login("admin", password)
	res, err := http.Get(a.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the console: %s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	if said := docker(t, "run", "--rm", "headgate:imagetest", "version"); !strings.Contains(said, imageVersion) {
		t.Errorf("version says %s", said)
	}
	docker(t, "stop", "--time", "20", container)
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", container); code != "0" {
		t.Errorf("it ended with %s", code)
	}
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
