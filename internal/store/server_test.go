package store_test

import (
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// A server is listed from its first beat until it leaves or is silent for a day; the state is judged by its last beat.
func TestServersAreListedWhileTheyBeat(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := d.migrated(t, func(c *store.Config) { c.Now = func() time.Time { return now } })
		began := now
		one := model.Server{ID: "a", Host: "host-a", Version: "1.2.3", SyncState: "starting", StartedAt: began}
		ok(t, s.BeatServer(t.Context(), one))
		now = now.Add(time.Second)
		ok(t, s.BeatServer(t.Context(), model.Server{ID: "b", Host: "host-b", Version: "1.2.4", SyncState: "ok", StartedAt: now}))
		one.SyncState, one.Draining = "ok", true
		ok(t, s.BeatServer(t.Context(), one))

		all, err := s.Servers(t.Context())
		ok(t, err)
		if len(all) != 2 || all[0].ID != "a" || all[1].ID != "b" {
			t.Fatalf("servers %+v", all)
		}
		want := model.Server{ID: "a", Host: "host-a", Version: "1.2.3", SyncState: "ok", Draining: true, StartedAt: began, SeenAt: now}
		if all[0] != want {
			t.Errorf("%+v, want %+v", all[0], want)
		}
		for after, state := range map[time.Duration]model.ServerState{
			0: model.ServerDraining, model.ServerSilent: model.ServerDraining, model.ServerSilent + time.Second: model.ServerIsSilent,
			-2 * time.Minute: model.ServerIsSilent,
		} {
			if got := all[0].State(now.Add(after)); got != state {
				t.Errorf("%s after its beat it is %q, want %q", after, got, state)
			}
		}
		ok(t, s.LeaveServer(t.Context(), "a"))
		ok(t, s.LeaveServer(t.Context(), "ghost"))
		now = now.Add(model.ServerForgotten + time.Second)
		if all, err = s.Servers(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("after a day of silence: %+v, %v", all, err)
		}
		ok(t, s.ForgetServers(t.Context(), now.Add(-model.ServerForgotten)))
		if n := d.count(t, "SELECT COUNT(*) FROM servers"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		if n := d.count(t, "SELECT COUNT(*) FROM changes"); n != 0 {
			t.Errorf("%d change rows of beats", n)
		}
	})
}

// The waiting buckets come with the reason of their last push, the one that was changed longest ago first.
func TestPendingBucketsComeWithTheirReason(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := d.migrated(t, func(c *store.Config) { c.Now = func() time.Time { return now } })
		people(t, s, "alice")
		for _, name := range []string{"z-first", "a-second", "m-there"} {
			_, err := s.CreateBucket(t.Context(), name, definition("alice"), byAlice)
			ok(t, err)
			now = now.Add(time.Second)
		}
		row, err := s.SyncRow(t.Context(), "m-there")
		ok(t, err)
		ok(t, s.MarkInstalled(t.Context(), "m-there", row.Revision, row.Mark))
		row, err = s.SyncRow(t.Context(), "z-first")
		ok(t, err)
		next := now.Add(time.Minute)
		ok(t, s.MarkFailed(t.Context(), "z-first", row.Mark, model.SyncForeign.Message(), next))

		all, err := s.PendingBuckets(t.Context(), 10)
		ok(t, err)
		if len(all) != 2 || all[0].Name != "z-first" || all[1].Name != "a-second" {
			t.Fatalf("pending %+v", all)
		}
		first := all[0]
		if model.SyncReasonOf(first.LastError) != model.SyncForeign || first.Attempts != 1 || !first.NextAt.Equal(next) || first.Revision != 1 || first.InstalledRevision != 0 {
			t.Errorf("pending %+v", first)
		}
		if model.SyncReasonOf(all[1].LastError) != model.SyncOnItsWay {
			t.Errorf("pending %+v", all[1])
		}
		if all, err = s.PendingBuckets(t.Context(), 1); err != nil || len(all) != 1 {
			t.Errorf("one of them: %+v, %v", all, err)
		}
	})
}

func TestVersionNamesTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		kind, version, err := d.migrated(t).Version(t.Context())
		ok(t, err)
		if version == "" || d.name == "sqlite" && kind != "sqlite" || d.name == "mysql" && kind != "mysql" && kind != "mariadb" {
			t.Errorf("%q, version %q", kind, version)
		}
	})
}
