package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test that docs/security.md or docs/operations.md names as showing an answer is there.
func TestTestsThatDocumentsNameExist(t *testing.T) {
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
	for page, least := range map[string]int{"docs/security.md": 40, "docs/operations.md": 20} {
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(read(t, page), -1)
		if len(named) < least {
			t.Errorf("%s names only %d tests", page, len(named))
		}
		for _, name := range named {
			if !there[name[1]] {
				t.Errorf("%s names %s, which is not there", page, name[1])
			}
		}
	}
}
