package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// Whatever is asked of the list of buckets, by whom, in which order and in pages of which size: it answers what a plain
// filter over all definitions does. On every database, through either of two servers that edit side by side, and whether
// or not the texts fit into the memory for searches.
func TestListsAnswerAsAPlainFilter(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		w := &listWorld{
			dice: rand.New(rand.NewPCG(7, 8)), now: now,
			servers: []*store.Store{d.migrated(t, now.use), d.open(t, now.use, func(c *store.Config) { c.SearchBytes = 600 })},
		}
		people(t, w.servers[0], w.people()...)
		apps(t, w.servers[0], w.apps()...)
		for range 10 {
			for range 10 {
				w.edit(t)
			}
			all := w.read(t)
			for range 60 {
				w.ask(t, all)
			}
		}
	})
}

// listWorld edits at random, and asks at random.
type listWorld struct {
	dice    *rand.Rand
	now     *clock
	servers []*store.Store
}

func (*listWorld) people() []string { return numbered("p", 5) }
func (*listWorld) apps() []string   { return numbered("a", 4) }
func (*listWorld) names() []string {
	return []string{"Refunds", "refunds.eu", "mail-out", "MAIL", "a_b", "a-b", "web", "Web2", "search", "zz", "z0", "jobs"}
}

func pick[E any](dice *rand.Rand, from ...E) E { return from[dice.IntN(len(from))] }

// some picks up to two.
func (w *listWorld) some(from []string) []string {
	w.dice.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	return from[:w.dice.IntN(3)]
}

func (w *listWorld) definition() model.Definition {
	d := definition(pick(w.dice, w.people()...), w.some(w.apps())...)
	if w.dice.IntN(6) == 0 {
		d.Apps = []string{model.AllApps}
	}
	d.Description = pick(w.dice, "", "100% of MAIL", "Rückgabe über ÄÖÜ", "a_b! and refunds", strings.Repeat("long ", 60)+"Ende")
	d.Labels = map[string]string{}
	for _, name := range w.some([]string{"team", "tier", "stage"}) {
		d.Labels[name] = pick(w.dice, "core", "web")
	}
	d.Mode = pick(w.dice, model.ModeEnforce, model.ModeShadow, model.ModeOff)
	return d
}

// edit makes, changes, deletes or installs a bucket, or makes or ends a membership, through either server.
func (w *listWorld) edit(t *testing.T) {
	t.Helper()
	w.now.move(time.Duration(w.dice.IntN(2)) * time.Second) // some edits have the same time
	s, name := pick(w.dice, w.servers...), pick(w.dice, w.names()...)
	b, err := s.Bucket(t.Context(), name)
	app, user := pick(w.dice, w.apps()...), pick(w.dice, w.people()...)
	switch turn := w.dice.IntN(10); {
	case turn == 0:
		ok(t, s.SetMember(t.Context(), app, model.Member{User: user, Role: model.AppViewer}, byAlice))
	case turn == 1:
		if err := s.RemoveMember(t.Context(), app, user, byAlice); model.CodeOf(err) != model.CodeNotFound {
			ok(t, err)
		}
	case model.CodeOf(err) == model.CodeNotFound:
		bucket(t, s, name, w.definition())
	case turn == 2:
		must(s.DeleteBucket(t.Context(), name, b.Revision, byAlice))(t)
	case turn == 3:
		ok(t, s.MarkInstalled(t.Context(), name, b.Revision, 1000))
	default:
		must(s.UpdateBucket(t.Context(), name, b.Revision, w.definition(), byAlice))(t)
	}
}

// everything is all that lists are made of.
type everything struct {
	buckets []model.Bucket
	members map[string]map[string]bool // user -> app
}

func (w *listWorld) read(t *testing.T) everything {
	t.Helper()
	apps, buckets, err := w.servers[0].Definitions(t.Context())
	ok(t, err)
	all := everything{buckets, map[string]map[string]bool{}}
	for _, app := range apps {
		for _, m := range app.Members {
			if all.members[m.User] == nil {
				all.members[m.User] = map[string]bool{}
			}
			all.members[m.User][app.Name] = true
		}
	}
	return all
}

// ask asks one thing and compares all pages of the answer with the plain filter's.
func (w *listWorld) ask(t *testing.T, all everything) {
	t.Helper()
	q := model.BucketQuery{
		Viewer: pick(w.dice, append(w.people(), "", "", "nobody")...),
		Search: pick(w.dice, "", "", "a", "RE", "refunds", "über", "ÜBER", "äö", "%", "_", "!", "ende", "mail", "b! and", "nothing"),
		Sort:   pick(w.dice, "", "name", "-name", "updated_at", "-updated_at"),
		Limit:  pick(w.dice, 1, 2, 3, 50),
	}
	switch w.dice.IntN(8) {
	case 0:
		q.App = pick(w.dice, append(w.apps(), model.AllApps, "no-app")...)
	case 1:
		q.Owner = pick(w.dice, append(w.people(), "nobody")...)
	case 2:
		q.Label = pick(w.dice, "team", "team=core", "tier=web", "team=", "no")
	case 3:
		q.Mode = pick(w.dice, model.ModeEnforce, model.ModeShadow)
	case 4:
		q.Sync = pick(w.dice, model.SyncPending, model.SyncSynced)
	}
	s := pick(w.dice, w.servers...)
	got := bucketNames(collect(t, q.Limit, func(cursor string) (model.Page[model.Bucket], error) {
		part := q
		part.Cursor = cursor
		return s.Buckets(t.Context(), part)
	}))
	if want := all.list(q); !slices.Equal(got, want) {
		t.Fatalf("%+v:\n got %v\nwant %v", q, got, want)
	}
	w.count(t, s, all, q.Viewer)
}

// count compares how many a viewer sees.
func (w *listWorld) count(t *testing.T, s *store.Store, all everything, viewer string) {
	t.Helper()
	seen := all.list(model.BucketQuery{Viewer: viewer})
	waiting := all.list(model.BucketQuery{Viewer: viewer, Sync: model.SyncPending})
	n, pending, err := s.CountBuckets(t.Context(), viewer)
	ok(t, err)
	if int(n) != len(seen) || int(pending) != len(waiting) {
		t.Fatalf("%q sees %d buckets of which %d wait, want %d and %d", viewer, n, pending, len(seen), len(waiting))
	}
	mine := map[string]bool{}
	for _, name := range seen {
		mine[name] = slices.Contains(all.list(model.BucketQuery{Owner: viewer}), name) && viewer != ""
	}
	if diff := gocmp.Diff(mine, must(s.SeenBuckets(t.Context(), viewer, viewer))(t)); diff != "" {
		t.Fatalf("what %q sees and owns: %s", viewer, diff)
	}
}

// list is the plain filter.
func (all everything) list(q model.BucketQuery) []string {
	found := []model.Bucket{}
	for _, b := range all.buckets {
		if all.sees(q.Viewer, b) && all.takes(q, b) {
			found = append(found, b)
		}
	}
	field, desc := strings.CutPrefix(q.Sort, "-")
	slices.SortFunc(found, func(a, b model.Bucket) int {
		order := cmp.Compare(a.Name, b.Name)
		if field == model.SortUpdated {
			order = cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), order)
		}
		if desc {
			return -order
		}
		return order
	})
	return bucketNames(found)
}

func (all everything) sees(viewer string, b model.Bucket) bool {
	if viewer == "" || slices.Contains(b.Owners, viewer) {
		return true
	}
	for app := range all.members[viewer] {
		if slices.Contains(b.Apps, app) || slices.Contains(b.Apps, model.AllApps) {
			return true
		}
	}
	return false
}

func (all everything) takes(q model.BucketQuery, b model.Bucket) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(q.Search)) }
	if !has(b.Name) && !has(b.Description) || q.Mode != "" && b.Mode != q.Mode {
		return false
	}
	if q.App != "" && !slices.Contains(b.Apps, q.App) || q.Owner != "" && !slices.Contains(b.Owners, q.Owner) {
		return false
	}
	if q.Sync != "" && b.Sync.Pending != (q.Sync == model.SyncPending) {
		return false
	}
	name, value, valued := strings.Cut(q.Label, "=")
	label, found := b.Labels[name]
	return name == "" || found && (!valued || label == value)
}

// The second of two servers knows what the first one did as soon as the first one's answer is there.
func TestListsKnowWhatAnotherServerJustDid(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		first := d.migrated(t)
		second := d.open(t)
		people(t, first, "alice")
		find := func(text string) []string {
			t.Helper()
			return bucketNames(must(second.Buckets(t.Context(), model.BucketQuery{Search: text}))(t).Items)
		}
		for i := range 5 {
			name := fmt.Sprintf("b%d", i)
			b := bucket(t, first, name, definition("alice"))
			if got := find(name); !slices.Equal(got, []string{name}) {
				t.Fatalf("made by the other server, and found: %v", got)
			}
			changed := definition("alice")
			changed.Description = "now about plums " + name
			b = must(first.UpdateBucket(t.Context(), name, b.Revision, changed, byAlice))(t)
			if got := find("PLUMS " + name); !slices.Equal(got, []string{name}) {
				t.Fatalf("changed by the other server, and found: %v", got)
			}
			must(first.DeleteBucket(t.Context(), name, b.Revision, byAlice))(t)
			if got := find("plums"); len(got) != 0 {
				t.Fatalf("deleted by the other server, and found: %v", got)
			}
		}
	})
}
