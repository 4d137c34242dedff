package store_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

func TestAppendedChangeComesBack(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		c := model.Change{
			Actor: "alice", Action: model.ActionLogin, TargetKind: model.TargetUser, Target: "alice", Before: nil,
			After: json.RawMessage(`{"b":1.50,  "a":"\u00e9 😀"}`), Address: "192.0.2.1", RequestID: "req",
		}
		ok(t, s.AppendChange(t.Context(), c))
		got := must(s.Changes(t.Context(), model.ChangeQuery{}))(t).Items
		c.ID, c.At, c.Count = 1, now.Now().Truncate(time.Microsecond), 1
		if diff := cmp.Diff([]model.Change{c}, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// The history takes what strangers type, as the names of failed logins are: too long or broken texts are cut, and the
// row is kept.
func TestChangeTakesWhateverStrangersType(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		long := strings.Repeat("😀", 100_000)
		for _, text := range append([]string{long, "\xff\xfe broken", "nul\x00"}, hostile...) {
			ok(t, s.AppendChange(t.Context(), model.Change{Actor: text, Action: model.ActionLoginRefused, TargetKind: model.TargetUser, Target: text, Reason: text, Address: text, RequestID: text}))
			got := must(s.Changes(t.Context(), model.ChangeQuery{Limit: 1}))(t).Items[0]
			whole := strings.ToValidUTF8(text, "\uFFFD")
			if !strings.HasPrefix(whole, got.Actor) || !strings.HasPrefix(whole, got.Reason) || utf8.RuneCountInString(got.Actor) != min(utf8.RuneCountInString(whole), model.TargetBound) {
				t.Errorf("%.40q came back as %.40q", text, got.Actor)
			}
		}
	})
}

func TestChangeFiltersAndOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		start := now.Now()
		for i := range 10 {
			actor := []string{"alice", "bob"}[i%2]
			ok(t, s.AppendChange(t.Context(), model.Change{Actor: actor, Action: model.ActionLogin, TargetKind: model.TargetUser, Target: actor, Revision: int64(i)}))
			now.move(time.Second)
		}
		revisions := func(q model.ChangeQuery) []int64 {
			q.Limit = 2
			var out []int64
			for _, c := range collect(t, 2, func(cursor string) (model.Page[model.Change], error) {
				q.Cursor = cursor
				return s.Changes(t.Context(), q)
			}) {
				out = append(out, c.Revision)
			}
			return out
		}
		tests := map[string]struct {
			q    model.ChangeQuery
			want []int64
		}{
			"all, newest first":             {model.ChangeQuery{}, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
			"actor":                         {model.ChangeQuery{Actor: "bob"}, []int64{9, 7, 5, 3, 1}},
			"target":                        {model.ChangeQuery{TargetKind: model.TargetUser, Target: "alice"}, []int64{8, 6, 4, 2, 0}},
			"action":                        {model.ChangeQuery{Action: model.ActionLogout}, nil},
			"revision":                      {model.ChangeQuery{MinRevision: 7}, []int64{9, 8, 7}},
			"from, inclusive; to, not":      {model.ChangeQuery{From: start.Add(2 * time.Second), To: start.Add(5 * time.Second)}, []int64{4, 3, 2}},
			"a time in another zone":        {model.ChangeQuery{From: start.Add(8 * time.Second).In(time.FixedZone("east", 8*3600))}, []int64{9, 8}},
			"actor and time":                {model.ChangeQuery{Actor: "bob", To: start.Add(2 * time.Second)}, []int64{1}},
			"a target of another kind":      {model.ChangeQuery{TargetKind: model.TargetBucket, Target: "alice"}, nil},
			"a viewer who is nobody at all": {model.ChangeQuery{Viewer: "nobody"}, nil},
		}
		for name, test := range tests {
			if got := revisions(test.q); !cmp.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
		}
		_, err := s.Changes(t.Context(), model.ChangeQuery{From: now.Now(), To: start})
		wantCode(t, err, model.CodeInvalid, "to")
	})
}

// Every write leaves one change row, with who, why and when, and never a password's hash.
func TestEveryWriteLeavesOneChangeRowWithoutSecrets(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		admins(t, s, "root")
		people(t, s, "alice")
		id := must(s.User(t.Context(), "alice"))(t).ID
		steps := []func() error{
			func() error { _, err := s.CreateApp(t.Context(), model.App{Name: "pay"}, byAlice); return err },
			func() error { _, err := s.UpdateApp(t.Context(), "pay", 1, "x", byAlice); return err },
			func() error {
				return s.SetMember(t.Context(), "pay", model.Member{User: "alice", Role: model.AppOwner}, byAlice)
			},
			func() error {
				_, err := s.CreateBucket(t.Context(), "b", definition("alice", "pay"), byAlice)
				return err
			},
			func() error {
				_, err := s.UpdateBucket(t.Context(), "b", 1, definition("alice", "pay"), byAlice)
				return err
			},
			func() error { _, err := s.DeleteBucket(t.Context(), "b", 2, byAlice); return err },
			func() error { return s.RemoveMember(t.Context(), "pay", "alice", byAlice) },
			func() error { return s.DeleteApp(t.Context(), "pay", 4, byAlice) },
			func() error { return s.SetPassword(t.Context(), id, "hash-of-a-new-one", byAlice) },
			func() error {
				_, err := s.UpdateUser(t.Context(), "alice", 1, model.UserPatch{Disabled: to(true)}, byAlice)
				return err
			},
			func() error { _, err := s.NewDeploymentID(t.Context(), byAlice); return err },
		}
		count := func() []model.Change { return must(s.Changes(t.Context(), model.ChangeQuery{Limit: 200}))(t).Items }
		before := len(count())
		for i, step := range steps {
			ok(t, step())
			if n := len(count()); n != before+i+1 {
				t.Fatalf("%d change rows after step %d, want %d", n, i, before+i+1)
			}
		}
		for _, c := range count() {
			if c.Actor == "" || c.Reason == "" || c.At.IsZero() || strings.Contains(string(c.Before)+string(c.After), "hash-of") {
				t.Errorf("change %+v", c)
			}
		}
	})
}

// The history is append-only: no code of this package updates or deletes a change, by gorm or by SQL, and neither does
// a migration. The one exception is retention, in a file of its own.
func TestChangesAreAppendOnly(t *testing.T) {
	sql := regexp.MustCompile(`(?i)(update|delete\s+from|replace\s+into|truncate(\s+table)?)\s+.?changes\b`)
	for _, tree := range []fs.FS{os.DirFS("."), os.DirFS("../../migrations")} {
		ok(t, fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, path)
			if found := sql.Find(text); found != nil && (path != "audit_prune.go" || string(found) != "DELETE FROM changes") {
				t.Errorf("%s changes the history: %s", path, sql.Find(text))
			}
			if strings.HasSuffix(path, ".go") {
				checkChangeRowUse(t, path, text)
			}
			return err
		}))
	}
}

// checkChangeRowUse fails on a call of Delete, Save or Update… that is handed a changeRow or has one as its Model.
func checkChangeRowUse(t *testing.T, path string, text []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	ok(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		method, isMethod := call.Fun.(*ast.SelectorExpr)
		if !isMethod || !regexp.MustCompile(`^(Delete|Save|Update|Updates|UpdateColumns?|FirstOrCreate)$`).MatchString(method.Sel.Name) {
			return true
		}
		ast.Inspect(call, func(inner ast.Node) bool {
			if name, isName := inner.(*ast.Ident); isName && name.Name == "changeRow" {
				t.Errorf("%s: %s of a changeRow", path, method.Sel.Name)
			}
			return true
		})
		return true
	})
}
