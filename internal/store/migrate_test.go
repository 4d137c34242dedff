package store_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// Servers that start together agree on one schema and one identity.
func TestServersMigrateTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := make([]*store.Store, 6)
		for i := range servers {
			servers[i] = d.open(t)
		}
		for _, err := range together(len(servers), func(i int) error { return servers[i].Migrate(t.Context()) }) {
			ok(t, err)
		}
		id := must(servers[0].DeploymentID(t.Context()))(t)
		if len(id) != 32 {
			t.Errorf("deployment id %q, want 128 bits in hex", id)
		}
		for _, s := range servers[1:] {
			if got := must(s.DeploymentID(t.Context()))(t); got != id {
				t.Errorf("another deployment id: %s and %s", id, got)
			}
		}
		if n := d.count(t, "SELECT COUNT(*) FROM goose_db_version WHERE version_id = 1"); n != 1 {
			t.Errorf("the first migration ran %d times", n)
		}
		people(t, servers[5], "alice")
		if n := must(servers[0].CountUsers(t.Context()))(t); n != 1 {
			t.Errorf("%d users, want 1", n)
		}
	})
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		id := must(s.DeploymentID(t.Context()))(t)
		ok(t, s.Migrate(t.Context()))
		if got := must(s.DeploymentID(t.Context()))(t); got != id {
			t.Errorf("deployment id %s became %s", id, got)
		}
		must(s.User(t.Context(), "alice"))(t)
	})
}

// What is applied and what is missing is told without changing anything, also of an empty database, and of one that a newer
// version has taken further.
func TestMigrationsAreToldWithoutMakingAny(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.open(t)
		told := func() (applied int, steps []store.Migration) {
			t.Helper()
			steps = must(s.Migrations(t.Context()))(t)
			for _, m := range steps {
				if m.Applied {
					applied++
				}
			}
			return applied, steps
		}
		if applied, steps := told(); applied != 0 || len(steps) < 11 || steps[0].Version != 1 || steps[0].Name != "first_light" {
			t.Errorf("of an empty database %d are applied of %+v", applied, steps)
		}
		if err := s.CheckSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "admin migrate") {
			t.Errorf("an empty database: %v", err)
		}
		if applied, _ := told(); applied != 0 {
			t.Errorf("looking applied %d", applied)
		}
		ok(t, s.Migrate(t.Context()))
		ok(t, s.CheckSchema(t.Context()))
		applied, steps := told()
		if last := steps[len(steps)-1]; applied != len(steps) || time.Since(last.At).Abs() > time.Hour {
			t.Errorf("after migrating %d are applied of %+v", applied, steps)
		}
		d.exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
		ok(t, s.CheckSchema(t.Context()))
		if _, further := told(); len(further) != len(steps)+1 || further[len(steps)].Version != 99 || further[len(steps)].Name != "" {
			t.Errorf("with one of a newer version: %+v", further)
		}
		d.exec(t, "DELETE FROM goose_db_version WHERE version_id = 11")
		if err := s.CheckSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks 1 of") {
			t.Errorf("with one missing: %v", err)
		}
	})
}

func TestIdentityIsReplacedWithAChange(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		old := must(s.DeploymentID(t.Context()))(t)
		fresh := must(s.NewDeploymentID(t.Context(), byAlice))(t)
		if got := must(s.DeploymentID(t.Context()))(t); got != fresh || got == old {
			t.Errorf("identity %s, was %s, answered %s", got, old, fresh)
		}
		c := must(s.Changes(t.Context(), model.ChangeQuery{}))(t).Items[0]
		if c.Action != model.ActionIdentityReset || c.Actor != "alice" || !strings.Contains(string(c.Before), old) || !strings.Contains(string(c.After), fresh) {
			t.Errorf("change %+v", c)
		}
	})
}

// A wrong setting ends the start with one line that says what is wrong, and never with the password.
func TestOpenSaysInOneLineWhatIsWrong(t *testing.T) {
	const password = "s3cr3t-pass"
	good := testenv.MySQL(t)
	tests := map[string]struct {
		config store.Config
		code   model.Code
		says   string
	}{
		"neither":           {store.Config{}, model.CodeInvalid, "either"},
		"both":              {store.Config{MySQLDSN: good, SQLitePath: "x"}, model.CodeInvalid, "either"},
		"an URL":            {store.Config{MySQLDSN: "mysql://root:" + password + "@db:3306/x"}, model.CodeInvalid, "user:password@tcp(host:port)/database"},
		"no at sign":        {store.Config{MySQLDSN: "root:" + password + "(db:3306)/x"}, model.CodeInvalid, "user:password@tcp(host:port)/database"},
		"no database":       {store.Config{MySQLDSN: "root:" + password + "@tcp(127.0.0.1:1)/"}, model.CodeInvalid, "user:password@tcp(host:port)/database"},
		"bad option":        {store.Config{MySQLDSN: "root:" + password + "@tcp(127.0.0.1:1)/x?timeout=" + password}, model.CodeInvalid, "user:password@tcp(host:port)/database"},
		"nobody listens":    {store.Config{MySQLDSN: "root:" + password + "@tcp(127.0.0.1:1)/x"}, model.CodeUnavailable, "127.0.0.1:1 can't be reached"},
		"wrong password":    {store.Config{MySQLDSN: strings.Replace(good, ":", ":"+password, 1)}, model.CodeUnavailable, "refuses the user"},
		"no such database":  {store.Config{MySQLDSN: strings.Replace(good, "/headgate_test_", "/absent_", 1)}, model.CodeUnavailable, "has no database"},
		"no such folder":    {store.Config{SQLitePath: filepath.Join(t.TempDir(), "no", "such", "file.db")}, model.CodeUnavailable, "can't be opened"},
		"a folder, no file": {store.Config{SQLitePath: t.TempDir()}, model.CodeUnavailable, "can't be opened"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), test.config)
			if err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			}
			wantCode(t, err, test.code)
			if text := err.Error(); !strings.Contains(text, test.says) || strings.Contains(text, "\n") || strings.Contains(text, password) {
				t.Errorf("error %q, want one line that says %q", text, test.says)
			}
		})
	}
}

// What the store relies on is not the DSN's to change: times are UTC and texts have all characters, whatever it says.
func TestDSNOptionsDoNotChangeTheData(t *testing.T) {
	now := newClock()
	dsn, _, _ := strings.Cut(testenv.MySQL(t), "?")
	plain := database{"mysql", store.Config{MySQLDSN: dsn}}
	odd := database{"mysql", store.Config{MySQLDSN: dsn + "?parseTime=false&loc=Asia%2FShanghai&charset=latin1&collation=latin1_swedish_ci&time_zone=%27-05%3A00%27&sql_mode=%27%27&clientFoundRows=false"}}
	writer, reader := odd.migrated(t, now.use), plain.open(t)
	user := must(writer.CreateUser(t.Context(), model.User{Name: "alice", DisplayName: "愛 😀", Role: model.RoleMember}, byAlice))(t)
	for _, s := range []*store.Store{writer, reader} {
		got := must(s.User(t.Context(), "alice"))(t)
		if got != user || !got.CreatedAt.Equal(now.Now().Truncate(time.Microsecond)) || got.CreatedAt.Location() != time.UTC {
			t.Errorf("got %+v, want %+v", got, user)
		}
	}
	if n := plain.count(t, "SELECT COUNT(*) FROM users WHERE created_at = '2026-03-01 12:00:00.123456' AND CHAR_LENGTH(display_name) = 3"); n != 1 {
		t.Error("the database does not hold the time in UTC and the name in 3 characters")
	}
}
