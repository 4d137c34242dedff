package testenv

import (
	"context"
	"os"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// The images that stand in for servers of the distribution; override them where a registry mirrors others.
var (
	mysqlImage = envOr("HEADGATE_TEST_MYSQL_IMAGE", "mariadb:10.11")
	redisImage = envOr("HEADGATE_TEST_REDIS_IMAGE", "redis:7")
)

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

// dockerAnswers tells whether a Docker engine may be there, without the seconds that a full look takes.
func dockerAnswers() bool {
	if os.Getenv("DOCKER_HOST") != "" {
		return true
	}
	_, err := os.Stat("/var/run/docker.sock")
	return err == nil
}

// startContainer runs an image and returns the loopback address of its port. Any failure (no engine, no image) is an
// error, upon which the caller goes on to the next source.
func startContainer(image, port string, env map[string]string, cmd ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image: image, Env: env, Cmd: cmd,
			ExposedPorts: []string{port},
			WaitingFor:   wait.ForListeningPort(port).WithStartupTimeout(2 * time.Minute),
		},
		Started: true,
	})
	if err != nil {
		if c != nil {
			_ = c.Terminate(ctx)
		}
		return "", err
	}
	atExit(func() { _ = testcontainers.TerminateContainer(c) })
	return c.PortEndpoint(ctx, port, "")
}
