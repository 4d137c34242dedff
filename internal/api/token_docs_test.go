package api_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

func tokensPage(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/api-tokens.md")
	must(t, err)
	return string(raw)
}

// Every example of docs/api-tokens.md runs as it stands there, one after the other, by a shell and curl. ann's token
// for read and write is enough for all of them.
func TestDocumentedExamplesRun(t *testing.T) {
	w := onSQLite(t)
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(tokensPage(t), -1)
	if len(examples) < 4 {
		t.Fatalf("%d examples", len(examples))
	}
	secret := w.token(ann, "documentation", model.ScopeRead, model.ScopeWrite)
	var said strings.Builder
	for _, example := range examples {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", example[1])
		cmd.Env = append(os.Environ(), "HEADGATE_URL="+w.server.URL, "HEADGATE_TOKEN="+secret)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s%s", err, example[1], out)
		}
		said.Write(out)
	}
	for _, want := range []string{`"name":"ann"`, `"name":"partner-api"`, `"name":"geocoder"`, `"max_permits":40`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no example was answered with %s:\n%s", want, said.String())
		}
	}
	w.as(root).do("GET", buckets+"/geocoder", nil).problem(t, http.StatusNotFound)
}

// The page's pattern is that of the tokens, and its table that of the scopes.
func TestDocumentedPatternAndScopesAreTrue(t *testing.T) {
	page := tokensPage(t)
	fence := regexp.MustCompile("(?s)```regexp\n(.*?)\n```").FindStringSubmatch(page)
	if fence == nil {
		t.Fatal("no pattern")
	}
	pattern := regexp.MustCompile(fence[1])
	for _, kind := range []model.TokenKind{model.TokenPersonal, model.TokenService} {
		secret, _, _ := auth.NewAPIToken(kind)
		if got := pattern.FindString(fmt.Sprintf(`{"token":"%s"}`, secret)); got != secret {
			t.Errorf("%s finds %q in place of %q", fence[1], got, secret)
		}
	}
	rows := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z_.]+`(?:, `[a-z_.]+`)*) \\|(.*)\\|$").FindAllStringSubmatch(page, -1) {
		cells := strings.Split(row[2], "|")
		if len(cells) != len(model.TokenScopes) {
			continue // another table's
		}
		for _, permission := range strings.Split(row[1], ", ") {
			rows++
			for i, scope := range model.TokenScopes {
				p := auth.Principal{Name: "x", Role: model.RoleAdmin, TokenID: 1, Scopes: []model.TokenScope{scope}}
				needs := auth.Permission(strings.Trim(permission, "`"))
				if said := strings.TrimSpace(cells[i]) == "yes"; said != p.Everywhere(needs) {
					t.Errorf("%s by %s: the page says %v", needs, scope, said)
				}
			}
		}
	}
	if rows < 12 {
		t.Errorf("only %d permissions are in the table", rows)
	}
}
