package testenv

import (
	"context"
	"fmt"
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

const (
	// createTimeout bounds getting the image and creating the container.
	createTimeout = 3 * time.Minute
	// mappedTimeout bounds the wait for the engine to map a port of a container that it has started. An engine without
	// a bridge network never does, and the next source of servers should not have to wait long for that.
	mappedTimeout = 10 * time.Second
	// answerTimeout bounds the wait for the server inside, a new database being made first.
	answerTimeout = 2 * time.Minute
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

// startContainer runs an image and returns the address of its port once ready answers nil for it. An open port is not
// waited for: the engine's proxy accepts connections before anything listens behind it. Any failure (no engine, no
// image, no port) is an error, upon which the caller goes on to the next source.
func startContainer(image, port string, env map[string]string, ready func(addr string) error, cmd ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), createTimeout)
	defer cancel()
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image: image, Env: env, Cmd: cmd,
			ExposedPorts: []string{port},
			WaitingFor:   wait.ForMappedPort(port).WithStartupTimeout(mappedTimeout),
		},
		Started: true,
	})
	end := func() {
		if c != nil {
			_ = testcontainers.TerminateContainer(c)
		}
	}
	if err != nil {
		end()
		return "", fmt.Errorf("image %s: %w", image, err)
	}
	addr, err := answeringAddr(c, port, ready)
	if err != nil {
		end()
		return "", fmt.Errorf("image %s: %w", image, err)
	}
	atExit(end)
	return addr, nil
}

// answeringAddr polls ready until it answers nil, the container ends or the time is over.
func answeringAddr(c testcontainers.Container, port string, ready func(addr string) error) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	addr, err := c.PortEndpoint(ctx, port, "")
	if err != nil {
		return "", err
	}
	for {
		err := ready(addr)
		if err == nil {
			return addr, nil
		}
		if state, stateErr := c.State(ctx); stateErr != nil || !state.Running {
			return "", fmt.Errorf("the container ended before its server answered: %w", err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("its server does not answer at %s after %v: %w", addr, answerTimeout, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
