package store_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

// apiToken is a valid personal token of a user.
func apiToken(u model.User, name string, at time.Time) model.Token {
	return model.Token{
		Kind: model.TokenPersonal, Name: name, UserID: u.ID, MakerID: u.ID, Scopes: []model.TokenScope{model.ScopeRead, model.ScopeAudit},
		Hash: []byte("hash of " + u.Name + name), Hint: "hgp_abc", ExpiresAt: at.Add(24 * time.Hour),
	}
}

func TestTokenComesBackAsItWasSaved(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		c := newClock()
		s := d.migrated(t, c.use)
		people(t, s, "ann")
		ann := must(s.User(t.Context(), "ann"))(t)
		made := must(s.CreateToken(t.Context(), apiToken(ann, "t", c.Now()), byAlice))(t)
		got, user, err := s.TokenByHash(t.Context(), made.Hash)
		ok(t, err)
		if user.ID != ann.ID || got.ID != made.ID || got.Kind != model.TokenPersonal || got.Name != "t" || got.User != "ann" || got.Maker != "ann" || got.Hint != "hgp_abc" ||
			!slices.Equal(got.Scopes, made.Scopes) || !got.ExpiresAt.Equal(c.Now().Add(24*time.Hour).Truncate(time.Microsecond)) || !got.RevokedAt.IsZero() || !got.LastUsedAt.IsZero() || got.Suspended {
			t.Errorf("token %+v", got)
		}
		_, _, err = s.TokenByHash(t.Context(), []byte("another"))
		wantCode(t, err, model.CodeNotFound)
	})
}

// Of several that make a token of one name at once, one gets it.
func TestOneOfManyTokensOfANameIsMade(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "ann")
		ann := must(s.User(t.Context(), "ann"))(t)
		made := 0
		for _, err := range together(8, func(i int) error {
			token := apiToken(ann, "t", time.Now())
			token.Hash = append(token.Hash, byte(i))
			_, err := s.CreateToken(t.Context(), token, byAlice)
			return err
		}) {
			if err == nil {
				made++
			} else {
				wantCode(t, err, model.CodeTaken)
			}
		}
		if made != 1 {
			t.Errorf("%d tokens of the name were made", made)
		}
	})
}

// A token fits its user: a personal one is its maker's own, a service token a service account's.
func TestTokenOfAnotherPersonIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "ann", "bob")
		ann, bob := must(s.User(t.Context(), "ann"))(t), must(s.User(t.Context(), "bob"))(t)
		robot := must(s.CreateServiceAccount(t.Context(), model.User{Name: "robot", Role: model.RoleMember, PasswordHash: "smuggled"}, byAlice))(t)
		if !robot.Service || robot.PasswordHash != "" {
			t.Errorf("service account %+v", robot)
		}
		for name, change := range map[string]func(*model.Token){
			"of another":                 func(t *model.Token) { t.MakerID = bob.ID },
			"for a service of a person":  func(t *model.Token) { t.Kind = model.TokenService },
			"personal of a service":      func(t *model.Token) { t.UserID = robot.ID },
			"personal, by a service too": func(t *model.Token) { t.UserID, t.MakerID = robot.ID, robot.ID },
		} {
			token := apiToken(ann, name, time.Now())
			token.Name = "t"
			change(&token)
			_, err := s.CreateToken(t.Context(), token, byAlice)
			wantCode(t, err, model.CodeInvalid, "service_account")
		}
		wantCode(t, s.SetPassword(t.Context(), robot.ID, "hash", byAlice), model.CodeInvalid, "password")
		wantCode(t, s.CreateSession(t.Context(), model.Session{ID: "x", UserID: robot.ID, RefreshHash: []byte("r"), ExpiresAt: time.Now().Add(time.Hour)}, loginOf("robot")), model.CodeUnauthorized)
	})
}

func TestEndedTokensAreRemovedAfterTheirTime(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		c := newClock()
		s := d.migrated(t, c.use)
		people(t, s, "ann")
		ann := must(s.User(t.Context(), "ann"))(t)
		revoked := must(s.CreateToken(t.Context(), apiToken(ann, "revoked", c.Now()), byAlice))(t)
		living := apiToken(ann, "living", c.Now())
		living.ExpiresAt = c.Now().Add(model.TokenLifeMax)
		must(s.CreateToken(t.Context(), living, byAlice))(t)
		ok(t, s.RevokeToken(t.Context(), revoked.ID, ann.ID, byAlice))
		c.move(time.Hour)
		must(s.CreateToken(t.Context(), apiToken(ann, "expired", c.Now()), byAlice))(t)
		c.move(24 * time.Hour)
		for _, step := range []struct {
			pass time.Duration
			left []string
		}{{0, []string{"expired", "living", "revoked"}}, {model.TokenKeptAfterEnd - 24*time.Hour, []string{"expired", "living"}}, {24*time.Hour + time.Second, []string{"living"}}} {
			c.move(step.pass)
			must(s.DeleteEndedTokens(t.Context(), c.Now().Add(-model.TokenKeptAfterEnd)))(t)
			var left []string
			for _, token := range must(s.Tokens(t.Context(), model.TokenQuery{}))(t).Items {
				left = append(left, token.Name)
			}
			if !slices.Equal(left, step.left) {
				t.Errorf("%s later %v are left, want %v", step.pass, left, step.left)
			}
		}
	})
}

// MySQL commits each statement of a migration by itself: one that was interrupted anywhere runs again from its top.
func TestTokensMigrationCanBeRepeated(t *testing.T) {
	d := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(t)}}
	s := d.migrated(t)
	people(t, s, "ann")
	db, err := sql.Open(d.name, d.config.MySQLDSN)
	ok(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id >= 5")
	ok(t, err)
	ok(t, s.Migrate(t.Context()))
	if u := must(s.User(t.Context(), "ann"))(t); u.Service {
		t.Error("a person became a service account")
	}
}
