//go:build browser

package oidc_test

import (
	"os"
	"os/exec"
	"testing"
)

// In a real browser the session's cookies, which no other site's requests carry, are there when the provider has led
// back: the console that the login ends in asks for its data from our own site.
func TestSignOnInABrowser(t *testing.T) {
	w := newWorld(t)
	w.provider.has("u-1", person{"Nina", "nina", []string{"platform-admins"}})
	shots := os.Getenv("HEADGATE_TEST_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	cmd := exec.CommandContext(t.Context(), "node", "console.mjs", w.url, shots)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the login in the browser failed: %v\n%s\nthe log:\n%s", err, out, w.log)
	}
}
