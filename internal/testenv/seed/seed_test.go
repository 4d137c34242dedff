package seed_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/seed"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// What is seeded is what the store would have written: valid definitions, revisions that the history tells, a chain that
// verifies behind what was there before.
func TestSeededRowsAreThoseOfTheStore(t *testing.T) {
	dsn := testenv.MySQL(t)
	s, err := store.Open(t.Context(), store.Config{MySQLDSN: dsn, Log: slog.New(slog.DiscardHandler)})
	ok(t, err)
	t.Cleanup(func() { ok(t, s.Close()) })
	ok(t, s.Migrate(t.Context()))
	_, err = s.CreateUser(t.Context(), model.User{Name: "ada", Role: model.RoleAdmin, PasswordHash: "none"}, model.Origin{Actor: "ada"})
	ok(t, err)
	size := seed.Size{Users: 20, Apps: 7, Buckets: 600, Changes: 2000}
	ok(t, seed.Fill(t.Context(), dsn, size))

	report, err := audit.VerifySource(t.Context(), s, audit.Expect{}, nil, nil)
	ok(t, err)
	if !report.OK() || report.Rows != int64(size.Changes)+1 {
		t.Errorf("the chain: %+v", report)
	}
	seen := 0
	for q := (model.BucketQuery{Limit: model.PageMax}); ; {
		page, err := s.Buckets(t.Context(), q)
		ok(t, err)
		for _, b := range page.Items {
			seen++
			wantTrue(t, s, &b)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if seen != size.Buckets {
		t.Errorf("%d buckets, want %d", seen, size.Buckets)
	}
	few, err := s.Buckets(t.Context(), model.BucketQuery{Viewer: seed.Viewer(), Limit: model.PageMax})
	ok(t, err)
	many, err := s.Buckets(t.Context(), model.BucketQuery{Owner: seed.Owner(), Limit: model.PageMax})
	ok(t, err)
	if len(few.Items) == 0 || few.Next != "" || len(many.Items) != size.Buckets/10 {
		t.Errorf("the viewer sees %d buckets, the owner owns %d", len(few.Items), len(many.Items))
	}
}

// wantTrue compares a bucket with the newest row of its history.
func wantTrue(t *testing.T, s *store.Store, b *model.Bucket) {
	t.Helper()
	if err := b.Validate(); err != nil {
		t.Errorf("%s: %v", b.Name, err)
	}
	changes, err := s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetBucket, Target: b.Name, Limit: model.PageMax})
	ok(t, err)
	if int64(len(changes.Items)) != b.Revision || b.Sync.Pending {
		t.Fatalf("%s: %d changes at revision %d, sync %+v", b.Name, len(changes.Items), b.Revision, b.Sync)
	}
	newest := changes.Items[0]
	if newest.Revision != b.Revision || string(newest.After) != string(model.DefinitionJSON(&b.Definition)) || !newest.At.Equal(b.UpdatedAt) || newest.Actor != b.UpdatedBy {
		t.Errorf("%s ends as %+v, its history as %+v %s", b.Name, b, newest, newest.After)
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
