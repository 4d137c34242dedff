package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// moment is everything that the present told at an instant: what as-of must tell of it ever after.
type moment struct {
	at       time.Time
	buckets  map[string]model.Bucket
	people   []model.PersonAsOf
	members  map[string][]model.Member
	overlays []model.Overlay
}

func (h *history) moment() moment {
	h.t.Helper()
	m := moment{at: h.now.Now(), buckets: map[string]model.Bucket{}, members: map[string][]model.Member{}}
	for _, b := range must(h.s.Buckets(h.t.Context(), model.BucketQuery{Limit: 200}))(h.t).Items {
		m.buckets[b.Name] = b
	}
	for _, u := range must(h.s.Users(h.t.Context(), model.UserQuery{Limit: 200}))(h.t).Items {
		m.people = append(m.people, model.PersonAsOf{Name: u.Name, Role: u.Role, Disabled: u.Disabled})
	}
	for _, a := range must(h.s.Apps(h.t.Context(), model.AppQuery{Limit: 200}))(h.t).Items {
		m.members[a.Name] = a.Members
	}
	m.overlays = must(h.s.Overlays(h.t.Context()))(h.t)
	return m
}

// history makes random writes.
type history struct {
	t   *testing.T
	s   *store.Store
	now *clock
	rng *rand.Rand
}

func (h *history) pick(names ...string) string { return names[h.rng.IntN(len(names))] }

// someone is a name that somebody may have, now or at another time.
func (h *history) someone() string { return h.pick("alice", "bob", "carol", "dora", "emil") }

func (h *history) definition() model.Definition {
	d := definition(h.someone())
	if second := h.someone(); h.rng.IntN(3) == 0 && second != d.Owners[0] {
		d.Owners = append(d.Owners, second)
	}
	if app := h.pick("", "pay", "ship"); app != "" {
		d.Apps = []string{app}
	}
	d.MaxPermits, d.Rate = h.rng.Int64N(1000)+1, h.rng.Int64N(100)+1
	d.Labels = map[string]string{"n": fmt.Sprint(h.rng.IntN(5))}
	return d
}

// step tries one random write; one that the present state does not allow is refused and changes nothing.
func (h *history) step() {
	h.t.Helper()
	ctx, name, app := h.t.Context(), h.pick("a", "b", "c"), h.pick("pay", "ship")
	row, err := h.s.SyncRow(ctx, name)
	if err != nil {
		row = model.SyncRow{SyncHead: model.SyncHead{Deleted: true}}
	}
	switch h.rng.IntN(12) {
	case 0:
		_, _ = h.s.CreateBucket(ctx, name, h.definition(), byAlice)
	case 1, 2:
		_, _ = h.s.UpdateBucket(ctx, name, row.Revision, h.definition(), byBob)
	case 3:
		_, _ = h.s.DeleteBucket(ctx, name, row.Revision, byBob)
	case 4:
		if last, err := h.s.LastRevision(ctx, name); err == nil {
			d := *last.Definition
			d.Owners = last.OwnersNow
			_, _ = h.s.RestoreBucket(ctx, name, d, last.Revision, byBob)
		}
	case 5:
		_, _, _ = h.s.RaiseRevision(ctx, name, row.Revision+h.rng.Int64N(3))
	case 6:
		u, _ := h.s.User(ctx, h.someone())
		role, off := []model.Role{model.RoleAdmin, model.RoleAuditor, model.RoleMember}[h.rng.IntN(3)], h.rng.IntN(3) == 0
		_, _ = h.s.UpdateUser(ctx, u.Name, u.Revision, model.UserPatch{Role: &role, Disabled: &off}, byAlice)
	case 7:
		if h.rng.IntN(3) > 0 {
			role := []model.AppRole{model.AppOwner, model.AppViewer}[h.rng.IntN(2)]
			_ = h.s.SetMember(ctx, app, model.Member{User: h.someone(), Role: role}, byAlice)
		} else {
			_ = h.s.RemoveMember(ctx, app, h.someone(), byAlice)
		}
	case 8:
		a, _, err := h.s.AppFor(ctx, "alice", app)
		switch {
		case err != nil:
			_, _ = h.s.CreateApp(ctx, model.App{Name: app, Members: []model.Member{{User: "carol", Role: model.AppViewer}}}, byAlice)
		case h.rng.IntN(2) == 0:
			_, _ = h.s.UpdateApp(ctx, app, a.Revision, fmt.Sprint("about ", h.rng.IntN(9)), byAlice)
		default:
			_ = h.s.DeleteApp(ctx, app, a.Revision, byAlice)
		}
	case 9: // names go from one to another, and come back
		u, _ := h.s.User(ctx, h.someone())
		other := h.someone()
		_, _ = h.s.UpdateUser(ctx, u.Name, u.Revision, model.UserPatch{Name: &other}, byAlice)
	case 10:
		_, _ = h.s.CreateUser(ctx, model.User{Name: h.someone(), Role: model.RoleMember}, byAlice)
	case 11:
		if all := must(h.s.Overlays(ctx))(h.t); len(all) > 0 && h.rng.IntN(2) == 0 {
			_ = h.s.EndOverlay(ctx, all[h.rng.IntN(len(all))].ID, byBob)
		} else if h.rng.IntN(2) == 0 {
			_, _ = h.s.StartOverlay(ctx, model.Overlay{Scope: model.OverlayAll}, byAlice)
		} else {
			_, _ = h.s.StartOverlay(ctx, model.Overlay{Scope: model.OverlayApp, App: app}, byAlice)
		}
	}
}

// lived makes a random history and returns what the present told after each step.
func lived(t *testing.T, s *store.Store, now *clock, steps int) []moment {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := &history{t: t, s: s, now: now, rng: rand.New(rand.NewPCG(seed, 1))}
	admins(t, s, "root")
	people(t, s, "alice", "bob", "carol")
	apps(t, s, "pay", "ship")
	moments := []moment{h.moment()}
	for range steps {
		now.move(time.Duration(h.rng.IntN(3)) * time.Second) // several writes may share a time
		h.step()
		m := h.moment()
		if last := &moments[len(moments)-1]; last.at.Equal(m.at) {
			*last = m
		} else {
			moments = append(moments, m)
		}
	}
	return moments
}

// checkMoment asks for an instant and compares with what the present told then.
func checkMoment(t *testing.T, s *store.Store, at time.Time, m moment) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		want, living := m.buckets[name]
		got, err := s.BucketAsOf(t.Context(), name, at)
		if model.CodeOf(err) == model.CodeNotFound {
			continue // never made in this history
		}
		ok(t, err)
		if (got.State == model.AsOfInForce) != living {
			t.Fatalf("%s at %v: %+v, though living is %v", name, at, got, living)
		}
		if living && (got.Revision != want.Revision || got.By != want.UpdatedBy || !got.Since.Equal(want.UpdatedAt) || !cmp.Equal(*got.Definition, want.Definition)) {
			t.Fatalf("%s at %v: %+v, want %+v", name, at, got, want)
		}
	}
	people, known, err := s.PeopleAsOf(t.Context(), at)
	ok(t, err)
	if diff := cmp.Diff(m.people, people); !known || diff != "" {
		t.Fatalf("people at %v (-want +got):\n%s", at, diff)
	}
	members := must(s.MembersAsOf(t.Context(), []string{model.AllApps}, at))(t)
	if diff := cmp.Diff(m.members, members); diff != "" {
		t.Fatalf("members at %v (-want +got):\n%s", at, diff)
	}
	overlays, known, err := s.OverlaysAsOf(t.Context(), at)
	ok(t, err)
	if diff := cmp.Diff(m.overlays, overlays); !known || diff != "" {
		t.Fatalf("break-glass at %v (-want +got):\n%s", at, diff)
	}
}

// Whatever was written, asking for an instant answers what the present told at it.
func TestAsOfTellsWhatThePresentToldThen(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		moments := lived(t, s, now, 150)
		for i, m := range moments {
			checkMoment(t, s, m.at, m)
			if i+1 < len(moments) { // up to the very last microsecond before the next
				checkMoment(t, s, moments[i+1].at.Add(-time.Microsecond), m)
			}
		}
	})
}

func TestAllBucketsAsOfAreListedPageByPage(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		for _, m := range lived(t, s, now, 60) {
			var names []string
			for _, one := range collect(t, 1, func(cursor string) (model.Page[model.AsOf], error) {
				return s.BucketsAsOf(t.Context(), m.at, cursor, 1)
			}) {
				names = append(names, one.Name)
			}
			if want := slices.Sorted(maps.Keys(m.buckets)); !slices.Equal(names, want) {
				t.Fatalf("at %v: %q, want %q", m.at, names, want)
			}
		}
		_, err := s.BucketsAsOf(t.Context(), now.Now(), "forged", 1)
		wantCode(t, err, model.CodeInvalid, "cursor")
	})
}

func TestAsOfBeforeTheBeginningIsAbsent(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		bucket(t, s, "b", definition("alice"))
		got := must(s.BucketAsOf(t.Context(), "b", now.Now().Add(-time.Second)))(t)
		if got.State != model.AsOfAbsent || got.Revision != 0 || got.Definition != nil {
			t.Errorf("before its creation: %+v", got)
		}
	})
}
