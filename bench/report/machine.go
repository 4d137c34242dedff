// Package report writes what was measured: as text, JSON, Markdown and a plot.
package report

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Machine describes where a benchmark ran, and with what.
type Machine struct {
	CPU     string            `json:"cpu"`
	Cores   int               `json:"cores"`
	Kernel  string            `json:"kernel"`
	Go      string            `json:"go"`
	Redis   string            `json:"redis"`
	Load    string            `json:"load_before"` // 1, 5 and 15 minutes
	Modules map[string]string `json:"modules"`
	At      time.Time         `json:"at"`
}

// modules are those whose version matters to the figures.
var modules = []string{
	"github.com/redis/go-redis/v9", "github.com/go-redis/redis_rate/v10", "github.com/ulule/limiter/v3",
	"github.com/throttled/throttled/v2",
}

// Describe looks at this machine; the version of Redis is the caller's to tell.
func Describe(redisVersion string) Machine {
	m := Machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(), Kernel: firstLine("/proc/sys/kernel/osrelease"), Go: runtime.Version(),
		Redis: redisVersion, Load: firstLine("/proc/loadavg"), Modules: map[string]string{}, At: time.Now().UTC().Truncate(time.Second),
	}
	if fields := strings.Fields(m.Load); len(fields) >= 3 {
		m.Load = strings.Join(fields[:3], " ")
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			for _, path := range modules {
				if dep.Path == path {
					m.Modules[path] = dep.Version
				}
			}
		}
	}
	return m
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func firstLine(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(content), "\n")
	return line
}

// busy tells whether other work took a fifth of the machine or more in the minute before.
func (m Machine) busy() bool {
	var load float64
	if _, err := fmt.Sscan(m.Load, &load); err != nil {
		return false
	}
	return load > float64(m.Cores)/5
}
