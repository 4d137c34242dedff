package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

func embeddedSettings(dir string, more ...string) []string {
	return append([]string{"HEADGATE_DATA_DIR=" + dir, "HEADGATE_EMBEDDED_REDIS_LISTEN=127.0.0.1:0"}, more...)
}

// `admin serve --embedded` comes up with sample data, its logins printed, and traffic that the console can show, on a bucket
// of each algorithm.
func TestEmbeddedStartShowsSampleTraffic(t *testing.T) {
	a := startAdmin(t, embeddedSettings(t.TempDir()), "serve", "--embedded")
	for _, wanted := range []string{a.URL, "headgate-demo", "olivia", "audrey", "for evaluation only"} {
		a.WaitFor(wanted)
	}
	root := a.login("admin", "headgate-demo")
	for _, bucket := range []string{"partner-api", "message-quota", "page-views", "password-resets", "report-exports"} {
		testenv.Eventually(t, 15*time.Second, "granted permits of "+bucket+" are reported", func() bool {
			usage := root.must(http.StatusOK, http.MethodGet, "/buckets/"+bucket+"/usage?minutes=2", nil, nil)
			items, _ := usage.Body["items"].([]any)
			for _, item := range items {
				row, _ := item.(map[string]any)
				if granted, _ := row["granted"].(float64); granted > 0 {
					return true
				}
			}
			return false
		})
	}
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}
}

// What was edited is there after a restart, and the embedded Redis gets its definitions back.
func TestEmbeddedDataSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	a := startAdmin(t, embeddedSettings(dir), "serve", "--embedded")
	olivia := a.login("olivia", "headgate-demo")
	before := olivia.must(http.StatusOK, http.MethodGet, "/buckets/partner-api", nil, nil)
	edit := definition(25, 60, "half of it")
	edit["apps"] = []string{"checkout", "mobile"}
	olivia.must(http.StatusOK, http.MethodPut, "/buckets/partner-api", map[string]string{"If-Match": before.ETag}, edit)
	if err := a.interrupt(); err != nil {
		t.Errorf("Ctrl-C ended with %v", err)
	}
	again := startAdmin(t, embeddedSettings(dir), "serve", "--embedded").login("olivia", "headgate-demo")
	after := again.must(http.StatusOK, http.MethodGet, "/buckets/partner-api", nil, nil)
	if after.Body["rate"] != float64(25) || after.Body["max_permits"] != float64(60) {
		t.Errorf("the edit is gone after a restart: %s", after.Raw)
	}
	testenv.Eventually(t, 10*time.Second, "the embedded Redis has the definition", func() bool {
		return again.must(http.StatusOK, http.MethodGet, "/buckets/partner-api/live", nil, nil).Body["present"] == true
	})
}

// HEADGATE_DEMO=off leaves samples, their logins and the traffic out.
func TestDemoCanBeSwitchedOff(t *testing.T) {
	a := startAdmin(t, embeddedSettings(t.TempDir(), "HEADGATE_DEMO=off", "HEADGATE_ADMIN_PASSWORD="+adminPassword), "serve", "--embedded")
	root := a.login("admin", adminPassword)
	if list := root.must(http.StatusOK, http.MethodGet, "/buckets", nil, nil); len(list.Body["items"].([]any)) != 0 {
		t.Errorf("there are sample buckets: %s", list.Raw)
	}
	if strings.Contains(a.Out.String(), "headgate-demo") {
		t.Errorf("the sample password is printed:\n%s", a.Out)
	}
}

// Two servers on one data folder would have a Redis each and contradict one another: the second does not start, and the
// folder is free again when the first was killed.
func TestOneEmbeddedServerADataFolder(t *testing.T) {
	dir := t.TempDir()
	first := startAdmin(t, embeddedSettings(dir), "serve", "--embedded")
	settings := embeddedSettings(dir, fmt.Sprintf("HEADGATE_LISTEN=127.0.0.1:%d", freePort(t)))
	if code, printed := runAdmin(t, settings, "serve", "--embedded"); code != 1 || !strings.Contains(printed, "another embedded server runs on the folder") {
		t.Errorf("the second server: exit code %d, %s", code, printed)
	}
	first.Kill()
	startAdmin(t, embeddedSettings(dir), "serve", "--embedded")
}
