package testenv_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A bare machine gets every package that the tests need; a part without one would only be noticed there.
func TestEveryPartOfTheTestsHasItsPackage(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "../../scripts/deps.sh", "--packages").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"mariadb-server", "redis-server", "chromium-headless-shell", "gcc", "libc6-dev", "fonts-noto-cjk", "curl"}
	if got := strings.Fields(string(out)); !slices.Equal(got, want) {
		t.Errorf("packages %v, want %v", got, want)
	}
}
