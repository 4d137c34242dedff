package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func hash(n int) []byte { return []byte(fmt.Sprintf("%032d", n)) }

// login makes a session of a user under the hash 1, good for an hour from the clock's time.
func login(t testing.TB, s *store.Store, now *clock, user, id string) model.Session {
	t.Helper()
	at := now.Now().Truncate(time.Microsecond)
	session := model.Session{
		ID: id, UserID: must(s.User(t.Context(), user))(t).ID, RefreshHash: hash(1), CreatedAt: at, RotatedAt: at, ExpiresAt: at.Add(time.Hour),
		Address: "192.0.2.7", UserAgent: "Browser 😀",
	}
	ok(t, s.CreateSession(t.Context(), session, loginOf(user)))
	return session
}

func loginOf(user string) model.Change {
	return model.Change{Actor: user, Action: model.ActionLogin, TargetKind: model.TargetUser, Target: user}
}

func logoutOf(user string) model.Change {
	return model.Change{Actor: user, Action: model.ActionLogout, TargetKind: model.TargetUser, Target: user}
}

func TestSessionComesBackWithItsUser(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		want := login(t, s, now, "alice", "s1")
		got, user, err := s.Session(t.Context(), "s1")
		ok(t, err)
		if diff := cmp.Diff(want, got); diff != "" || user.Name != "alice" {
			t.Errorf("user %q, session (-want +got):\n%s", user.Name, diff)
		}
		_, _, err = s.Session(t.Context(), "S1")
		wantCode(t, err, model.CodeNotFound)
		ok(t, s.DeleteSession(t.Context(), "s1", logoutOf("alice")))
		ok(t, s.DeleteSession(t.Context(), "s1", logoutOf("alice")))
		_, _, err = s.Session(t.Context(), "s1")
		wantCode(t, err, model.CodeNotFound)
		for action, want := range map[model.Action]int{model.ActionLogin: 1, model.ActionLogout: 1} {
			if rows := must(s.Changes(t.Context(), model.ChangeQuery{Action: action}))(t).Items; len(rows) != want {
				t.Errorf("%d rows of %s, want %d", len(rows), action, want)
			}
		}
	})
}

// A login or a logout that can't be kept in the history does not happen.
func TestSessionsAndTheirRowsAreWrittenTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		there := login(t, s, now, "alice", "there")
		d.exec(t, "DELETE FROM audit_head") // no row can be added to the chain
		another := there
		another.ID = "another"
		wantCode(t, s.CreateSession(t.Context(), another, loginOf("alice")), model.CodeInternal)
		wantCode(t, s.DeleteSession(t.Context(), "there", logoutOf("alice")), model.CodeInternal)
		if list := must(s.SessionsOf(t.Context(), there.UserID))(t); len(list) != 1 || list[0].ID != "there" {
			t.Errorf("sessions %+v", list)
		}
	})
}

func TestDisablingAndANewPasswordEndTheSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice", "bob")
		login(t, s, now, "alice", "a1")
		login(t, s, now, "bob", "b1")
		gone := func(id string) {
			t.Helper()
			_, _, err := s.Session(t.Context(), id)
			wantCode(t, err, model.CodeNotFound)
		}
		alice := must(s.User(t.Context(), "alice"))(t)
		ok(t, s.SetPassword(t.Context(), alice.ID, "secret-new-hash", byAlice))
		gone("a1")
		if got := must(s.User(t.Context(), "alice"))(t); got.PasswordHash != "secret-new-hash" || got.Revision != alice.Revision {
			t.Errorf("after the new password: %+v", got)
		}
		wantCode(t, s.SetPassword(t.Context(), 999_999, "x", byAlice), model.CodeNotFound)

		login(t, s, now, "alice", "a2")
		login(t, s, now, "alice", "a3")
		must(s.UpdateUser(t.Context(), "alice", 1, model.UserPatch{Disabled: to(true)}, byBob))(t)
		gone("a2")
		gone("a3")
		wantCode(t, s.CreateSession(t.Context(), model.Session{ID: "a4", UserID: alice.ID, RefreshHash: hash(1), CreatedAt: now.Now(), RotatedAt: now.Now(), ExpiresAt: now.Now()}, loginOf("alice")), model.CodeUnauthorized)
		if _, _, err := s.Session(t.Context(), "b1"); err != nil {
			t.Errorf("another user's session: %v", err)
		}
	})
}

func TestExpiredSessionsAreRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		login(t, s, now, "alice", "old")
		now.move(30 * time.Minute)
		login(t, s, now, "alice", "new")
		now.move(31 * time.Minute)
		if n := must(s.DeleteExpiredSessions(t.Context(), now.Now()))(t); n != 1 {
			t.Errorf("removed %d sessions, want 1", n)
		}
		_, _, err := s.Session(t.Context(), "new")
		ok(t, err)
	})
}

// A refresh token is good once. Its return within the grace is taken for another tab, later for a theft; neither
// changes the session.
func TestRefreshTokenIsGoodOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use, func(c *store.Config) { c.RotationGrace = 5 * time.Second })
		people(t, s, "alice")
		login(t, s, now, "alice", "s1")
		rotate := func(old, next int, want model.RotateResult) {
			t.Helper()
			got, err := s.RotateSession(t.Context(), "s1", hash(old), hash(next), now.Now(), now.Now().Add(time.Hour))
			if err != nil || got != want {
				t.Fatalf("rotate %d to %d: %q, %v; want %q", old, next, got, err, want)
			}
		}
		now.move(time.Minute)
		rotate(1, 2, model.Rotated)
		now.move(5 * time.Second)
		rotate(1, 3, model.RotateConcurrent)
		now.move(time.Microsecond)
		rotate(1, 3, model.RotateReused)
		rotate(9, 3, model.RotateReused)
		rotate(2, 3, model.Rotated)
		rotate(1, 4, model.RotateReused) // two exchanges old, however fresh the last one is
		now.move(-time.Hour)
		rotate(2, 4, model.RotateReused) // a clock that was set back does not make the grace an hour long
		now.move(time.Hour)
		got, _, err := s.Session(t.Context(), "s1")
		ok(t, err)
		if string(got.RefreshHash) != string(hash(3)) || string(got.PrevHash) != string(hash(2)) || !got.RotatedAt.Equal(now.Now().Truncate(time.Microsecond)) {
			t.Errorf("session %+v", got)
		}
		now.move(time.Hour)
		_, err = s.RotateSession(t.Context(), "s1", hash(3), hash(4), now.Now(), now.Now().Add(time.Hour))
		wantCode(t, err, model.CodeNotFound)
		_, err = s.RotateSession(t.Context(), "absent", hash(3), hash(4), now.Now(), now.Now().Add(time.Hour))
		wantCode(t, err, model.CodeNotFound)
	})
}

func TestOneOfManyRotationsWins(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		servers := []*store.Store{d.migrated(t, now.use), d.open(t, now.use)}
		people(t, servers[0], "alice")
		login(t, servers[0], now, "alice", "s1")
		results := make([]model.RotateResult, 10)
		for _, err := range together(len(results), func(i int) (err error) {
			results[i], err = servers[i%2].RotateSession(t.Context(), "s1", hash(1), hash(100+i), now.Now(), now.Now().Add(time.Hour))
			return err
		}) {
			ok(t, err)
		}
		winner := -1
		for i, result := range results {
			switch {
			case result == model.Rotated && winner < 0:
				winner = i
			case result != model.RotateConcurrent:
				t.Errorf("results %v, want one rotated and the others concurrent", results)
			}
		}
		got, _, err := servers[0].Session(t.Context(), "s1")
		ok(t, err)
		if winner < 0 || string(got.RefreshHash) != string(hash(100+winner)) {
			t.Errorf("winner %d, kept hash %s", winner, got.RefreshHash)
		}
	})
}

func TestWithoutGraceEveryReturnIsReuse(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use, func(c *store.Config) { c.RotationGrace = -1 })
		people(t, s, "alice")
		login(t, s, now, "alice", "s1")
		rotate := func() model.RotateResult {
			return must(s.RotateSession(t.Context(), "s1", hash(1), hash(2), now.Now(), now.Now().Add(time.Hour)))(t)
		}
		if first, second := rotate(), rotate(); first != model.Rotated || second != model.RotateReused {
			t.Errorf("%q, then %q", first, second)
		}
	})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice", "bob")
		login(t, s, now, "alice", "old")
		now.move(59 * time.Minute)
		second := login(t, s, now, "alice", "second")
		now.move(2 * time.Minute) // the first one's hour is over
		third := login(t, s, now, "alice", "third")
		login(t, s, now, "bob", "b1")
		alice, bob := must(s.User(t.Context(), "alice"))(t), must(s.User(t.Context(), "bob"))(t)
		list := must(s.SessionsOf(t.Context(), alice.ID))(t)
		if diff := cmp.Diff([]model.Session{third, second}, list); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		wantCode(t, s.EndSession(t.Context(), bob.ID, second.PublicID(), byBob), model.CodeNotFound)
		wantCode(t, s.EndSession(t.Context(), alice.ID, second.ID, byAlice), model.CodeNotFound)
		ok(t, s.EndSession(t.Context(), alice.ID, second.PublicID(), byAlice))
		wantCode(t, s.EndSession(t.Context(), alice.ID, second.PublicID(), byAlice), model.CodeNotFound)
		login(t, s, now, "alice", "fourth")
		if n := must(s.EndSessions(t.Context(), alice.ID, "third", byAlice))(t); n != 2 { // the one that is over goes too
			t.Errorf("ended %d sessions, want 2", n)
		}
		if n := must(s.EndSessions(t.Context(), alice.ID, "third", byAlice))(t); n != 0 {
			t.Errorf("ended %d sessions more", n)
		}
		if list := must(s.SessionsOf(t.Context(), alice.ID))(t); len(list) != 1 || list[0].ID != "third" {
			t.Errorf("left: %+v", list)
		}
		if list := must(s.SessionsOf(t.Context(), bob.ID))(t); len(list) != 1 {
			t.Errorf("another user's sessions: %+v", list)
		}
		_, err := s.EndSessions(t.Context(), 999_999, "", byAlice)
		wantCode(t, err, model.CodeNotFound)
		rows := must(s.Changes(t.Context(), model.ChangeQuery{Action: model.ActionSessionEnd}))(t).Items
		if len(rows) != 2 || string(rows[0].After) != `{"ended":2}` || string(rows[1].After) != `{"session":"`+second.PublicID()+`","ended":1}` {
			t.Errorf("rows %+v", rows)
		}
	})
}

func TestPasswordChangeKeepsOneSessionAndRehashingAll(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		now := newClock()
		s := d.migrated(t, now.use)
		people(t, s, "alice")
		alice := must(s.User(t.Context(), "alice"))(t)
		login(t, s, now, "alice", "a1")
		login(t, s, now, "alice", "a2")
		ok(t, s.RehashPassword(t.Context(), alice.ID, "hash-of-alice", "dearer", byAlice))
		ok(t, s.RehashPassword(t.Context(), alice.ID, "hash-of-alice", "late", byAlice))
		if got := must(s.User(t.Context(), "alice"))(t); got.PasswordHash != "dearer" || got.Revision != alice.Revision {
			t.Errorf("rehashed %+v", got)
		}
		if n := len(must(s.SessionsOf(t.Context(), alice.ID))(t)); n != 2 {
			t.Errorf("%d sessions after rehashing", n)
		}
		wantCode(t, s.ChangePassword(t.Context(), alice.ID, "hash-of-alice", "next", "a1", byAlice), model.CodeStale)
		ok(t, s.ChangePassword(t.Context(), alice.ID, "dearer", "next", "a1", byAlice))
		if list := must(s.SessionsOf(t.Context(), alice.ID))(t); len(list) != 1 || list[0].ID != "a1" {
			t.Errorf("left: %+v", list)
		}
		if rows := must(s.Changes(t.Context(), model.ChangeQuery{Action: model.ActionUserRehash}))(t).Items; len(rows) != 1 {
			t.Errorf("%d rows of one rehashing", len(rows))
		}
	})
}
