package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// docs/operations.md has one row for each setting, no more and no fewer.
func TestEverySettingIsInTheOperationsTable(t *testing.T) {
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(HEADGATE_[A-Z_]+)` \\|").FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		documented = append(documented, row[1])
	}
	var known []string
	for _, s := range settings {
		known = append(known, s.name)
	}
	slices.Sort(documented)
	slices.Sort(known)
	if !slices.Equal(documented, known) {
		t.Errorf("the table has\n%v\nthe program knows\n%v", documented, known)
	}
}

// The defaults in the table are those of the program.
func TestDocumentedDefaultsAreTrue(t *testing.T) {
	table, d := read(t, "docs/operations.md"), Defaults()
	for name, value := range map[string]string{
		"HEADGATE_LISTEN": d.Listen, "HEADGATE_REDIS_PREFIX": d.RedisPrefix, "HEADGATE_DATA_DIR": d.DataDir,
		"HEADGATE_EMBEDDED_REDIS_LISTEN": d.EmbeddedRedisListen, "HEADGATE_REPAIR_INTERVAL": d.RepairInterval.String(), "HEADGATE_DRAIN_DELAY": d.DrainDelay.String(),
		"HEADGATE_LOG_LEVEL": strings.ToLower(d.LogLevel.String()),
	} {
		if row := fmt.Sprintf("| `%s` | `%s` |", name, value); !strings.Contains(table, row) {
			t.Errorf("docs/operations.md has no row %q", row)
		}
	}
}

// Every `make` target that a document names exists.
func TestDocumentedMakeTargetsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		for _, target := range regexp.MustCompile("(?m)(?:^|`)(?:HEADGATE_[A-Z_]+=\\S+ )?make ([a-z-]+)").FindAllStringSubmatch(read(t, name), -1) {
			if !strings.Contains(makefile, "\n"+target[1]+":") {
				t.Errorf("%s names make %s, which the Makefile has not", name, target[1])
			}
		}
	}
}

// Every file that a document links to or tells of is there.
func TestDocumentedFilesExist(t *testing.T) {
	links := regexp.MustCompile(`\]\(([A-Za-z0-9_./-]+)\)`)
	paths := regexp.MustCompile("`((?:internal|client|cmd|web|docs|migrations)/[A-Za-z0-9_./-]+)`")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		text := read(t, name)
		for _, found := range append(links.FindAllStringSubmatch(text, -1), paths.FindAllStringSubmatch(text, -1)...) {
			if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
				t.Errorf("%s tells of %s, which is not there", name, found[1])
			}
		}
	}
}
