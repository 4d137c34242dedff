package app

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// defsWorld is a database for exports and imports.
type defsWorld struct {
	*testing.T
	cfg   Config
	store *store.Store
}

// emptyWorld has three users and nothing else.
func emptyWorld(t *testing.T) *defsWorld {
	t.Helper()
	w := &defsWorld{T: t, cfg: Defaults()}
	w.cfg.MySQLDSN = testenv.MySQL(t)
	s, err := openStore(t.Context(), w.cfg, quiet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w.store = s
	for _, name := range []string{"olivia", "omar", "vera"} {
		if _, err := s.CreateUser(t.Context(), model.User{Name: name, Role: model.RoleMember}, commandOrigin); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *defsWorld) export() string {
	w.Helper()
	var out bytes.Buffer
	if err := Export(w.Context(), w.cfg, quiet(), &out); err != nil {
		w.Fatal(err)
	}
	return out.String()
}

func (w *defsWorld) try(file string, o ImportOptions) (string, error) {
	w.Helper()
	if o.Reason == "" {
		o.Reason = "the test wants it"
	}
	var out bytes.Buffer
	err := Import(w.Context(), w.cfg, quiet(), strings.NewReader(file), o, &out)
	return out.String(), err
}

func (w *defsWorld) load(file string, o ImportOptions) string {
	w.Helper()
	said, err := w.try(file, o)
	if err != nil {
		w.Fatal(err)
	}
	return said
}

// bare is a file without its comments, which tell revisions and times.
func bare(file string) string { return regexp.MustCompile(`(?m)^ *#.*\n`).ReplaceAllString(file, "") }

const small = `format: headgate/v1
apps:
  - name: checkout
    description: "takes money: \"yes\"\n  and more\n\n# no comment"
    members: [{user: olivia, role: owner}, {user: vera, role: viewer}]
  - {name: "123"}
buckets:
  - name: partner-api
    description: |2

        begins with spaces
      ends with a colon:
    labels: {team: pay, "on": "yes", n: "1"}
    apps: [checkout, "123"]
    owners: [omar, olivia]
    max_permits: 100
    rate: 50
  - name: exports
    owners: [omar]
    apps: ["*"]
    algorithm: concurrency
    max_permits: 5
    max_wait_ms: 0
`

// What is exported and imported elsewhere is the same there, whatever the texts hold; importing it again changes
// nothing, and the same definitions give the same bytes.
func TestDefinitionsSurviveTheRoundTrip(t *testing.T) {
	first := emptyWorld(t)
	said := first.load(small, ImportOptions{})
	if !strings.Contains(said, "Made: 4 created, 0 changed, 0 deleted.") {
		t.Errorf("said %s", said)
	}
	file := first.export()
	if again := first.export(); again != file {
		t.Errorf("the same definitions were written as\n%s\nand as\n%s", file, again)
	}
	for _, says := range []string{"# owned by olivia, omar", "# used by checkout, of olivia", "# revision 1, by system at "} {
		if !strings.Contains(file, says) {
			t.Errorf("no comment says %q in\n%s", says, file)
		}
	}
	if said := first.load(file, ImportOptions{Prune: true}); said != "Made: 0 created, 0 changed, 0 deleted.\n" {
		t.Errorf("importing what is there changed something: %s", said)
	}
	second := emptyWorld(t)
	second.load(file, ImportOptions{})
	if got := second.export(); bare(got) != bare(file) {
		t.Errorf("exported\n%s\nand, imported elsewhere, again\n%s", file, got)
	}
	b, err := second.store.Bucket(t.Context(), "partner-api")
	if err != nil || b.Description != "\n  begins with spaces\nends with a colon:\n" || b.Labels["on"] != "yes" || b.MaxWait != model.DefaultMaxWait {
		t.Errorf("got %+v, %v", b, err)
	}
}

// The sample data, in which every algorithm is, survive it too.
func TestSampleDefinitionsSurviveTheRoundTrip(t *testing.T) {
	w := emptyWorld(t)
	other := Defaults()
	other.MySQLDSN = testenv.MySQL(t)
	s, err := openStore(t.Context(), other, quiet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := seedDemo(t.Context(), s, auth.NewHasher(auth.DefaultHashing)); err != nil {
		t.Fatal(err)
	}
	demo := &defsWorld{T: t, cfg: other, store: s}
	file := demo.export()
	users, err := s.Users(t.Context(), model.UserQuery{Limit: model.PageMax})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users.Items {
		if _, err := w.store.CreateUser(t.Context(), model.User{Name: u.Name, Role: u.Role}, commandOrigin); err != nil && model.CodeOf(err) != model.CodeTaken {
			t.Fatal(err)
		}
	}
	w.load(file, ImportOptions{})
	if got := w.export(); bare(got) != bare(file) {
		t.Errorf("exported\n%s\nand, imported elsewhere, again\n%s", file, got)
	}
}

// An import shows what it changes, leaves the rows of edits by hand with its reason, asks for the push, and a dry run
// tells the same without any of it.
func TestImportShowsAndRecordsWhatItChanges(t *testing.T) {
	w := emptyWorld(t)
	w.load(small, ImportOptions{})
	edited := strings.NewReplacer("rate: 50", "rate: 75", "{user: vera, role: viewer}", "{user: omar, role: owner}", "- name: exports", "- name: imports").Replace(small)
	before, head := w.export(), w.rows()
	dry := w.load(edited, ImportOptions{DryRun: true, Prune: true})
	if after := w.export(); after != before || w.rows() != head+1 { // the export leaves its row
		t.Errorf("a dry run changed something: %d rows were %d\n%s", w.rows(), head, after)
	}
	wet := w.load(edited, ImportOptions{Prune: true, Reason: "new year"})
	tail := func(s string) string {
		return strings.TrimSuffix(s, s[strings.LastIndex(strings.TrimSpace(s), "\n")+1:])
	}
	if tail(dry) != tail(wet) {
		t.Errorf("the dry run said\n%s\nthe import\n%s", dry, wet)
	}
	for _, says := range []string{"~ bucket partner-api (revision 2)\n    rate: 50 -> 75\n", "+ bucket imports (revision 1)", "- bucket exports (revision 2)", "~ app checkout", "Made: 1 created, 2 changed, 1 deleted."} {
		if !strings.Contains(wet, says) {
			t.Errorf("%q is not in\n%s", says, wet)
		}
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, c := range page.Items {
		actions = append(actions, string(c.Action)+" "+c.Target)
		if c.Reason != "command line: new year" {
			t.Errorf("%s has the reason %q", c.Action, c.Reason)
		}
	}
	if got := strings.Join(actions, ", "); got != "bucket.delete exports, bucket.update partner-api, bucket.create imports, member.remove checkout, member.set checkout" {
		t.Errorf("the history has %s", got)
	}
	row, err := w.store.SyncRow(t.Context(), "imports")
	if pending, _ := w.store.CountDirty(t.Context()); err != nil || row.InstalledRevision != 0 || pending != 3 {
		t.Errorf("%d buckets wait for Redis, %+v, %v", pending, row, err)
	}
}

func (w *defsWorld) rows() int64 {
	w.Helper()
	head, err := w.store.AuditHead(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return head.Seq
}

// One fault anywhere, also one that only the database knows, keeps everything out, and all faults are told with lines.
func TestImportIsAllOrNothingAndNamesEveryFaultByItsLine(t *testing.T) {
	w := emptyWorld(t)
	before := w.rows()
	_, err := w.try(`format: headgate/v1
apps:
  - name: fine
  - name: other
    members:
      - {user: nobody, role: owner}
buckets:
  - name: good
    owners: [omar]
    max_permits: 1
    rate: 1
  - name: bad
    owners: [omar, nobody]
    apps:
      - fine
      - missing
    max_permits: 1
    rate: 1
`, ImportOptions{})
	for _, says := range []string{"line 6: apps[1].members[0].user is not registered", "line 15: buckets[1].apps missing is not registered", "line 13: buckets[1].owners nobody is not registered"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in %v", says, err)
		}
	}
	if after := w.rows(); after != before {
		t.Errorf("%d rows came into the history", after-before)
	}
	if _, err := w.store.App(t.Context(), "fine"); model.CodeOf(err) != model.CodeNotFound {
		t.Errorf("an app of the broken file is there: %v", err)
	}
	for what, reason := range map[string]string{"without a reason": " ", "with one that is too long": strings.Repeat("x", 501)} {
		if _, err := w.try(small, ImportOptions{Reason: reason}); err == nil || strings.Count(err.Error(), "reason must be") != 1 {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.load(small, ImportOptions{})
	_, err = w.try("format: headgate/v1\nbuckets:\n  - {name: partner-api, owners: [omar], apps: [checkout], max_permits: 1, rate: 1}\n", ImportOptions{Prune: true})
	if err == nil || !strings.Contains(err.Error(), "app checkout the app checkout is listed by 1 bucket") {
		t.Errorf("an app in use was pruned: %v", err)
	}
}

// Hostile and careless files are refused, each with the line, before a database is asked.
func TestBrokenDefinitionFilesAreRefusedByLine(t *testing.T) {
	bomb := "format: headgate/v1\nx: &a [1,1,1,1,1,1,1,1,1]\n"
	for i := range 12 {
		bomb += strings.Repeat(string(rune('b'+i)), 1) + ": &" + string(rune('b'+i)) + " [*" + string(rune('a'+i)) + ",*" + string(rune('a'+i)) + "]\n"
	}
	bucket := "format: headgate/v1\nbuckets:\n  - name: a\n    owners: [o]\n    max_permits: 1\n    rate: 1\n"
	for name, c := range map[string]struct{ file, says string }{
		"an alias bomb":          {bomb, "line 2: anchors (&)"},
		"a merge":                {"format: headgate/v1\nbuckets:\n  - <<: {name: a}\n", "line 3: merging"},
		"an unknown field":       {bucket + "    max_permit: 5\n", "line 7: field max_permit not found"},
		"a field twice":          {bucket + "    rate: 2\n", "line 7: mapping key \"rate\" already defined at line 6"},
		"a bucket twice":         {bucket + "  - {name: a, owners: [o], max_permits: 1, rate: 1}\n", `line 7: buckets[1].name "a" is named twice`},
		"a text for a number":    {strings.Replace(bucket, "max_permits: 1", "max_permits: many", 1), "line 5: must be a whole number, in digits alone"},
		"a number as a text":     {strings.Replace(bucket, "max_permits: 1", "max_permits: '1'", 1), "line 5: must be a whole number, in digits alone"},
		"a part of a permit":     {strings.Replace(bucket, "rate: 1", "rate: 2.5", 1), "line 6: must be a whole number, in digits alone"},
		"an exponent":            {strings.Replace(bucket, "rate: 1", "rate: 1e3", 1), "line 6: must be a whole number, in digits alone"},
		"what YAML takes for 8":  {strings.Replace(bucket, "max_permits: 1", "max_permits: 010", 1), "line 5: must be a whole number, in digits alone"},
		"half a second":          {bucket + "    period_ms: 0.5\n", "line 7: must be a whole number, in digits alone"},
		"beyond all numbers":     {strings.Replace(bucket, "max_permits: 1", "max_permits: 99999999999999999999", 1), "line 5: buckets[0].max_permits must be 1..1,000,000,000"},
		"out of bounds":          {strings.Replace(bucket, "max_permits: 1", "max_permits: 0", 1), "line 5: buckets[0].max_permits must be 1..1,000,000,000"},
		"a period of nothing":    {bucket + "    period_ms: 0\n", "line 7: buckets[0].period_ms must be"},
		"a period that wraps":    {bucket + "    period_ms: 18446744073709551\n", "line 7: buckets[0].period_ms must be"},
		"no owner":               {strings.Replace(bucket, "[o]", "[]", 1), "line 4: buckets[0].owners must be 1..100"},
		"another format":         {strings.Replace(bucket, "v1", "v2", 1), "line 1: format must be headgate/v1"},
		"no format":              {"apps: []\n", "format must be headgate/v1"},
		"a second document":      {bucket + "---\nformat: headgate/v1\n", "line 7: a second document"},
		"nothing":                {"", "the file is empty"},
		"no YAML":                {"format: [", "line 1"},
		"a list":                 {"- a\n", "line 1"},
		"a name that is no name": {strings.Replace(bucket, "name: a", "name: 'a b'", 1), "line 3: buckets[0].name"},
	} {
		_, err := readDefs(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.says)
		} else if strings.Contains(err.Error(), "app.") {
			t.Errorf("%s: %v shows a type of ours", name, err)
		}
	}
}
