package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is shipped for deployment sets no variable that the program does not know, and the compose file asks for none that
// its example leaves out.
func TestDeploymentFilesKnowTheSettings(t *testing.T) {
	for _, name := range []string{"deploy/compose/compose.yaml", "deploy/compose/example.env", "deploy/systemd/headgate.service", "Dockerfile"} {
		for _, variable := range regexp.MustCompile(`HEADGATE_[A-Z_]+`).FindAllString(read(t, name), -1) {
			if variable != "HEADGATE_VERSION" && !IsSetting(variable) { // the version is stamped into the image
				t.Errorf("%s sets %s, which is no setting", name, variable)
			}
		}
	}
	compose, example := read(t, "deploy/compose/compose.yaml"), read(t, "deploy/compose/example.env")
	asked := regexp.MustCompile(`[^$]\$\{([A-Z_]+)([:}])`).FindAllStringSubmatch(compose, -1)
	if len(asked) == 0 {
		t.Error("the compose file asks for nothing")
	}
	for _, variable := range asked {
		if variable[1] != "HEADGATE_VERSION" && !strings.Contains(example, "\n"+variable[1]+"=") {
			t.Errorf("deploy/compose/example.env has no %s", variable[1])
		}
	}
}

// The image builds the console without its browser tests and benchmarks, so nothing else of it may import what is in them.
func TestImageLeavesOutOnlyWhatTheConsoleDoesNotNeed(t *testing.T) {
	var left []string
	for line := range strings.Lines(read(t, ".dockerignore")) {
		if folder, ok := strings.CutPrefix(strings.TrimSpace(line), "web/"); ok {
			left = append(left, filepath.Join(root, "web", folder))
		}
	}
	isLeft := func(path string) bool {
		return slices.ContainsFunc(left, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
	}
	imports := regexp.MustCompile(`(?:from|import) '(\.{1,2}/[^']+)'`)
	looked := 0
	err := filepath.WalkDir(filepath.Join(root, "web"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || isLeft(path)):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx"):
			return nil
		}
		looked++
		text, err := os.ReadFile(path)
		for _, found := range imports.FindAllStringSubmatch(string(text), -1) {
			if isLeft(filepath.Join(filepath.Dir(path), found[1])) {
				t.Errorf("%s imports %s, which .dockerignore keeps from the image's build", path, found[1])
			}
		}
		return err
	})
	if err != nil || looked < 50 {
		t.Fatalf("looked at %d files: %v", looked, err)
	}
}
