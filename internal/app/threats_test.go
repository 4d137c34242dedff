package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that docs/security.md names as showing an answer is there.
func TestTestsOfTheThreatModelExist(t *testing.T) {
	there := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || name == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		for _, found := range definition.FindAllStringSubmatch(string(raw), -1) {
			there[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(read(t, "docs/security.md"), -1)
	if len(named) < 40 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, name := range named {
		if !there[name[1]] {
			t.Errorf("docs/security.md names %s, which is not there", name[1])
		}
	}
}
