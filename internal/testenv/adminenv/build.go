// Package adminenv is what tests share that drive the admin server from outside: programs that are built, a server in a
// process of its own or in the test's, and people who talk to it over HTTP.
package adminenv

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Build makes programs of cmd/ in a folder, with further flags for `go build`.
func Build(dir string, flags []string, programs ...string) error {
	args := append([]string{"build", "-o", dir + "/"}, flags...)
	for _, name := range programs {
		args = append(args, "github.com/headgate/headgate/cmd/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// Environment is what a process gets: nothing of the developer's own HEADGATE_… settings, and these.
func Environment(settings []string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HEADGATE_") {
			env = append(env, v)
		}
	}
	return append(env, settings...)
}
