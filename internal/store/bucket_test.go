package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func TestBucketComesBackAsItWasSaved(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice", "bob")
		apps(t, s, "checkout", "pay")
		def := model.Definition{
			Description: "two\nlines and a\ttab", Labels: map[string]string{"team": "core", "tier": ""}, Apps: []string{"pay", "checkout"},
			Owners: []string{"bob", "alice"}, Algorithm: model.TokenBucket, MaxPermits: 1_000_000, Rate: 240, Period: time.Hour,
			Partition: model.PartitionAppKey, Shards: 1, Mode: model.ModeShadow, MaxWait: 1500 * time.Millisecond,
			OnRedisFailure: model.FailLocal, AfterLoss: model.LossRefill,
		}
		got := bucket(t, s, "partner-api", def)

		def.Apps, def.Owners = []string{"checkout", "pay"}, []string{"alice", "bob"}
		at := now.Now().Truncate(time.Microsecond)
		want := model.Bucket{
			Name: "partner-api", Definition: def, Revision: 1, CreatedRevision: 1,
			CreatedBy: "alice", CreatedAt: at, UpdatedBy: "alice", UpdatedAt: at, Sync: model.SyncState{Pending: true},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer of the write (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, must(s.Bucket(t.Context(), "partner-api"))(t)); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}

func TestBucketWithoutAppsOrForAllApps(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		if got := bucket(t, s, "none", definition("alice")).Apps; got == nil || len(got) != 0 {
			t.Errorf("apps of a bucket without any: %#v, want an empty list", got)
		}
		if got := bucket(t, s, "all", definition("alice", model.AllApps)).Apps; !cmp.Equal(got, []string{"*"}) {
			t.Errorf("apps %v, want *", got)
		}
		_, err := s.UpdateBucket(t.Context(), "all", 1, definition("alice"), byAlice)
		ok(t, err)
		if got := must(s.Bucket(t.Context(), "all"))(t).Apps; len(got) != 0 {
			t.Errorf("apps %v after the last one was removed, want none", got)
		}
	})
}

// Names are exact on both databases: another case or a space at the end is another name.
func TestNamesAreExact(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		apps(t, s, "Pay", "pay")
		bucket(t, s, "Limit", definition("alice", "Pay"))
		bucket(t, s, "limit", definition("alice", "pay"))
		if got := must(s.Bucket(t.Context(), "Limit"))(t).Apps; !cmp.Equal(got, []string{"Pay"}) {
			t.Errorf("apps %v, want Pay", got)
		}
		for _, name := range []string{"LIMIT", "limit ", "lïmit", "", "limit\x00", "' OR 1=1 -- ", strings.Repeat("x", 5000)} {
			_, err := s.Bucket(t.Context(), name)
			wantCode(t, err, model.CodeNotFound)
			_, err = s.App(t.Context(), name)
			wantCode(t, err, model.CodeNotFound)
			_, err = s.User(t.Context(), name)
			wantCode(t, err, model.CodeNotFound)
		}
		_, err := s.User(t.Context(), "alice ")
		wantCode(t, err, model.CodeNotFound)
		_, err = s.App(t.Context(), "pay ")
		wantCode(t, err, model.CodeNotFound)
		_, err = s.CreateBucket(t.Context(), "limit", definition("alice"), byAlice)
		wantCode(t, err, model.CodeTaken)
	})
}

func TestBucketRefusesWhatIsNotRegistered(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		apps(t, s, "pay")
		def := definition("alice", "checkout", "pay", "zoo")
		def.Owners = []string{"alice", "mallory"}
		_, err := s.CreateBucket(t.Context(), "b", def, byAlice)
		wantCode(t, err, model.CodeInvalid, "apps[0]", "apps[2]", "owners[1]")
		if namesField(err, "apps[1]") || namesField(err, "owners[0]") {
			t.Errorf("error %v names what is registered", err)
		}
		_, err = s.Bucket(t.Context(), "b")
		wantCode(t, err, model.CodeNotFound)
		if n := len(must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket}))(t).Items); n != 0 {
			t.Errorf("%d change rows of a write that was refused", n)
		}
		_, err = s.CreateBucket(t.Context(), "b", model.Definition{Owners: []string{"alice"}}, byAlice)
		wantCode(t, err, model.CodeInvalid, "max_permits")
		_, err = s.CreateBucket(t.Context(), "-b", definition("alice"), byAlice)
		wantCode(t, err, model.CodeInvalid, "name")
	})
}

func TestUpdateOfAStaleRevisionIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob")
		bucket(t, s, "b", definition("alice"))
		changed := definition("alice")
		changed.MaxPermits = 7
		got := must(s.UpdateBucket(t.Context(), "b", 1, changed, byBob))(t)
		if got.Revision != 2 || got.UpdatedBy != "bob" || got.CreatedBy != "alice" || got.MaxPermits != 7 {
			t.Errorf("after the update: %+v", got)
		}
		_, err := s.UpdateBucket(t.Context(), "b", 1, definition("alice"), byAlice)
		wantCode(t, err, model.CodeStale)
		_, err = s.DeleteBucket(t.Context(), "b", 1, byAlice)
		wantCode(t, err, model.CodeStale)
		_, err = s.UpdateBucket(t.Context(), "absent", 1, definition("alice"), byAlice)
		wantCode(t, err, model.CodeNotFound)
	})
}

// Mistake 17 of earlier systems: created_by and updated_by were never set, and two editors overwrote each other's app
// list. Here every editor adds its own app, through two servers at once; none is lost, and the history tells each step.
func TestMistake17TwoEditorsOfOneBucketLoseNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		s := servers[0]
		names := numbered("app", 12)
		people(t, s, "alice")
		apps(t, s, names...)
		bucket(t, s, "b", definition("alice"))

		for _, err := range together(len(names), func(i int) error { return addApp(t, servers[i%2], names[i]) }) {
			ok(t, err)
		}
		got := must(s.Bucket(t.Context(), "b"))(t)
		if !cmp.Equal(got.Apps, names) || got.Revision != int64(len(names)+1) {
			t.Errorf("revision %d with apps %v, want %d with all", got.Revision, got.Apps, len(names)+1)
		}
		if got.CreatedBy != "alice" || !strings.HasPrefix(got.UpdatedBy, "app") {
			t.Errorf("created by %q, updated by %q", got.CreatedBy, got.UpdatedBy)
		}
		checkChain(t, s, "b")
	})
}

// addApp edits as a careful person does: read, add, save, and again when somebody was faster.
func addApp(t testing.TB, s *store.Store, app string) error {
	for {
		b, err := s.Bucket(t.Context(), "b")
		if err != nil {
			return err
		}
		b.Apps = append(b.Apps, app)
		_, err = s.UpdateBucket(t.Context(), "b", b.Revision, b.Definition, model.Origin{Actor: app, Reason: "mine too"})
		if model.CodeOf(err) != model.CodeStale {
			return err
		}
	}
}

// checkChain checks that a bucket's history has every revision once and that each step begins where the last ended.
func checkChain(t testing.TB, s *store.Store, name string) {
	t.Helper()
	changes := collect(t, 5, func(cursor string) (model.Page[model.Change], error) {
		return s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: name, Limit: 5, Cursor: cursor})
	})
	for i, c := range changes {
		if want := int64(len(changes) - i); c.Revision != want {
			t.Fatalf("change %d has revision %d, want %d", i, c.Revision, want)
		}
		if i+1 < len(changes) && string(c.Before) != string(changes[i+1].After) {
			t.Errorf("revision %d begins with %s, the one before ended with %s", c.Revision, c.Before, changes[i+1].After)
		}
	}
}

// Of several editors with the same base exactly one saves.
func TestOneOfManyWritesOnOneRevisionWins(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		people(t, servers[0], "alice")
		bucket(t, servers[0], "b", definition("alice"))
		var won int
		for _, err := range together(10, func(i int) error {
			_, err := servers[i%2].UpdateBucket(t.Context(), "b", 1, definition("alice"), byAlice)
			return err
		}) {
			if err == nil {
				won++
			} else {
				wantCode(t, err, model.CodeStale)
			}
		}
		if won != 1 {
			t.Errorf("%d writes on revision 1 went through, want 1", won)
		}
	})
}

func TestOneOfManyCreatesOfANameWins(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		people(t, servers[0], "alice")
		creators := map[string]func(s *store.Store, name string) error{
			"bucket": func(s *store.Store, name string) error {
				_, err := s.CreateBucket(t.Context(), name, definition("alice"), byAlice)
				return err
			},
			"app": func(s *store.Store, name string) error {
				_, err := s.CreateApp(t.Context(), model.App{Name: name}, byAlice)
				return err
			},
			"user": func(s *store.Store, name string) error {
				_, err := s.CreateUser(t.Context(), model.User{Name: name, Role: model.RoleMember}, byAlice)
				return err
			},
		}
		for kind, create := range creators {
			for round := range 3 {
				var won int
				for _, err := range together(8, func(i int) error { return create(servers[i%2], fmt.Sprintf("name%d", round)) }) {
					if err == nil {
						won++
					} else {
						wantCode(t, err, model.CodeTaken)
					}
				}
				if won != 1 {
					t.Errorf("%d of 8 made the %s, want 1", won, kind)
				}
			}
		}
	})
}

// A name made again goes on counting, so that a late push of its past never looks newer; the new bucket's history
// begins at its own creation.
func TestRecreatedNameGoesOnCounting(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice", "bob")
		apps(t, s, "pay")
		first := definition("alice", "pay")
		first.Labels = map[string]string{"old": "yes"}
		bucket(t, s, "b", first)
		if tombstone := must(s.DeleteBucket(t.Context(), "b", 1, byAlice))(t); tombstone != 2 {
			t.Errorf("tombstone at revision %d, want 2", tombstone)
		}
		_, err := s.Bucket(t.Context(), "b")
		wantCode(t, err, model.CodeNotFound)
		_, err = s.DeleteBucket(t.Context(), "b", 2, byAlice)
		wantCode(t, err, model.CodeNotFound)
		if row := must(s.SyncRow(t.Context(), "b"))(t); !row.Deleted || row.Revision != 2 || row.Bucket != nil {
			t.Errorf("sync row of the deleted bucket: %+v", row)
		}

		again := must(s.CreateBucket(t.Context(), "b", definition("bob"), byBob))(t)
		if again.Revision != 3 || again.CreatedRevision != 3 || again.CreatedBy != "bob" || len(again.Labels)+len(again.Apps) != 0 {
			t.Errorf("made again: %+v", again)
		}
		if got := must(s.Bucket(t.Context(), "b"))(t).CreatedRevision; got != 3 {
			t.Errorf("created revision %d, want 3", got)
		}
		page := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: "b", MinRevision: 3}))(t)
		if len(page.Items) != 1 || page.Items[0].Action != model.ActionBucketCreate {
			t.Errorf("history from revision 3: %+v", page.Items)
		}
		if seen := must(s.Changes(t.Context(), model.ChangeQuery{Viewer: "bob"}))(t).Items; len(seen) != 1 || seen[0].Revision != 3 {
			t.Errorf("the newcomer sees %+v, want the new bucket's one change", seen)
		}
		if seen := must(s.Changes(t.Context(), model.ChangeQuery{Viewer: "alice"}))(t).Items; len(seen) != 0 {
			t.Errorf("the former owner sees %+v of another's bucket", seen)
		}
	})
}

func TestBucketChangesHoldTheDefinitionAsTheAPIShowsIt(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		apps(t, s, "pay")
		def := definition("alice", "pay")
		def.MaxWait = 2500 * time.Millisecond
		bucket(t, s, "b", def)
		now.move(time.Minute)
		def.Period = time.Hour
		must(s.UpdateBucket(t.Context(), "b", 1, def, byBob))(t)
		c := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket}))(t).Items[0]
		want := model.Change{
			ID: c.ID, At: now.Now().Truncate(time.Microsecond), Actor: "bob", Action: model.ActionBucketUpdate, TargetKind: model.TargetBucket, Target: "b",
			Revision: 2, Before: c.Before, After: c.After, Reason: "why not", Address: "2001:db8::1", RequestID: "req-2", Count: 1,
		}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("change (-want +got):\n%s", diff)
		}
		const after = `{"description":"","labels":{},"apps":["pay"],"owners":["alice"],"algorithm":"token_bucket","max_permits":100,"rate":50,` +
			`"period_ms":3600000,"partition":"shared","shards":1,"mode":"enforce","max_wait_ms":2500,"on_redis_failure":"open","after_loss":"refill"}`
		if string(c.After) != after {
			t.Errorf("after:\n%s\nwant:\n%s", c.After, after)
		}
		if string(c.Before) != strings.Replace(after, "3600000", "1000", 1) {
			t.Errorf("before:\n%s", c.Before)
		}
	})
}

// hostile are texts that break what is careless: each must come back byte for byte and harm nothing.
var hostile = []string{
	`'; DROP TABLE buckets; --`, `" OR ""="`, `\`, `\'`, `\\' OR 1=1 #`, "`name`", `%`, `_`, `!%`, `<script>alert("x")</script>`, `&lt;b&gt;`,
	"😀👩‍👩‍👧 𝒳", "中文 日本語 한국어", "ﬀ ß İ ı", "e\u0301 é", "a ", " a", "\u202eabc", "{{.}} ${x} ?", "?", ":name @x", "tab\tline\nend",
}

func TestHostileTextsStayText(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		for i, text := range hostile {
			def := definition("alice")
			def.Description = text
			if !strings.ContainsAny(text, "\n\t") {
				def.Labels = map[string]string{"k": text}
			}
			name := fmt.Sprintf("b%d", i)
			origin := model.Origin{Actor: "alice", Reason: text, Address: text, RequestID: text}
			must(s.CreateBucket(t.Context(), name, def, origin))(t)
			if got := must(s.Bucket(t.Context(), name))(t); got.Description != text || got.Labels["k"] != def.Labels["k"] {
				t.Errorf("%q came back as %q, label %q", text, got.Description, got.Labels["k"])
			}
			c := must(s.Changes(t.Context(), model.ChangeQuery{Target: name}))(t).Items[0]
			var after model.DefinitionFields
			ok(t, json.Unmarshal(c.After, &after))
			if c.Reason != text || c.Address != text || after.Description != text {
				t.Errorf("change of %q has reason %q and description %q", text, c.Reason, after.Description)
			}
			found := must(s.Buckets(t.Context(), model.BucketQuery{Search: text, Limit: 200}))(t).Items
			for _, b := range found {
				if !strings.Contains(strings.ToLower(b.Description), strings.ToLower(text)) && !strings.Contains(b.Name, text) {
					t.Errorf("search %q found %q", text, b.Description)
				}
			}
			if len(found) == 0 {
				t.Errorf("search %q found nothing", text)
			}
			if text[0] != ' ' && !strings.ContainsAny(text, "\n\t") {
				labelled := must(s.Buckets(t.Context(), model.BucketQuery{Label: "k=" + text}))(t).Items
				if len(labelled) == 0 {
					t.Errorf("label %q found nothing", text)
				}
			}
		}
	})
}
