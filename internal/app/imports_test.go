package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/headgate/headgate"

// mayImport is the whole dependency rule among our own packages: a package may import what stands beside it, and
// nothing else of ours. An entry that ends in "*" stands for every package that the pattern matches.
var mayImport = []struct {
	pkg  string
	uses []string
}{
	{"internal/model", nil},
	{"migrations", nil},
	{"web", nil},
	{"internal/bucket", nil},
	{"internal/auth", []string{"internal/model"}},
	{"internal/audit", []string{"internal/model"}},
	{"internal/store", []string{"internal/model", "internal/audit", "migrations"}},
	{"internal/figures", []string{"internal/model", "internal/bucket"}},
	{"internal/reconcile", []string{"internal/model", "internal/bucket"}},
	{"internal/api", []string{"internal/model", "internal/auth", "internal/audit"}},
	{"internal/webhook", []string{"internal/model"}},
	{"internal/alert", []string{"internal/model"}},
	{"internal/telemetry", nil},
	{"client", []string{"internal/bucket"}},
	{"client/httplimit", []string{"client"}},
	{"client/ginlimit", []string{"client", "client/httplimit"}}, // what the middlewares have in common stands in httplimit
	{"client/grpclimit", []string{"client", "client/httplimit"}},
	{"client/clientprom", []string{"client"}},
	{"client/clientotel", []string{"client"}},
	{"cmd/client-demo", []string{"client"}},
	{"cmd/admin", []string{"internal/app"}},
	{"internal/app", []string{"*", "internal/*", "client/*"}},
	{"internal/testenv", []string{"*", "internal/*", "internal/testenv/sqlrules"}},
	{"internal/testenv/sqlrules", nil},
	{"internal/testenv/seed", []string{"internal/model", "internal/audit"}},
	{"internal/testenv/sdkenv", []string{"internal/testenv", "internal/bucket", "client"}},
	{"internal/testenv/demand", []string{"internal/testenv", "client"}},
	{"internal/testenv/adminenv", []string{"internal/testenv"}},
	{"internal/testenv/bars", nil},
	{"internal/e2e", []string{"*", "internal/*", "client/*"}},
	{"internal/e2e/syncbench", []string{"internal/*"}},
	{"internal/e2e/apibench", []string{"internal/*"}},
	{"internal/e2e/topology", []string{"internal/*", "client"}},
	{"internal/e2e/faults", []string{"internal/*", "client"}},
	{"test/oidc", []string{"internal/app", "internal/auth", "internal/testenv"}},
	{"scripts/testreport", nil},
}

// mayUse names the packages that may import a big library; all others may not.
var mayUse = map[string][]string{
	"gorm.io/":                       {"internal/store"},
	"github.com/glebarez/sqlite":     {"internal/store"},
	"github.com/redis/go-redis":      {"internal/bucket", "client", "internal/app", "cmd/client-demo", "internal/testenv/sdkenv", "internal/testenv/demand"},
	"github.com/gin-gonic/gin":       {"internal/api", "client/ginlimit"},
	"github.com/danielgtaylor/huma":  {"internal/api"},
	"google.golang.org/grpc":         {"client/grpclimit"},
	"github.com/golang-jwt/jwt":      {"internal/auth"},
	"github.com/coreos/go-oidc":      {"internal/auth"},
	"golang.org/x/oauth2":            {"internal/auth"},
	"github.com/alicebob/miniredis":  {"internal/app"},
	"github.com/prometheus/":         {"client/clientprom", "internal/telemetry"},
	"go.yaml.in/":                    {"internal/app"},
	"go.opentelemetry.io/":           {"client/clientotel", "internal/telemetry"},
	"github.com/testcontainers/":     {},
	"github.com/Shopify/toxiproxy/":  {},
	"github.com/pressly/goose":       {"internal/store"},
	"github.com/go-sql-driver/mysql": {"internal/store", "internal/testenv/seed"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func ourPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(out); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// The arrows between our packages are those of mayImport; a new package must be entered there before it may stand.
func TestPackagesImportOnlyWhatTheHouseAllows(t *testing.T) {
	for _, p := range ourPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, known := usesOf(name)
		if !known {
			t.Errorf("%s is not in the table of the house; say there what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, ours) }) {
				t.Errorf("%s may not import %s", name, ours)
			}
		}
	}
}

// Each big library has its room: gorm in store, gin in api, and so on.
func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, p := range ourPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == "internal/testenv" || name == "internal/e2e" {
			continue
		}
		for _, imported := range p.Imports {
			for library, rooms := range mayUse {
				if strings.HasPrefix(imported, library) && !slices.Contains(rooms, name) {
					t.Errorf("%s may not import %s; only %v may", name, imported, rooms)
				}
			}
		}
	}
}

func usesOf(name string) ([]string, bool) {
	for _, rule := range mayImport {
		if matches(rule.pkg, name) {
			return rule.uses, true
		}
	}
	return nil, false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
