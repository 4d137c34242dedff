package app

import (
	"regexp"
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
