package auth_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// What docs/api-tokens.md tells secret scanners to look for.
var documented = regexp.MustCompile(`\bhg[ps]_[0-9A-Za-z]{49}\b`)

func TestTokensAreRecognisableAndNeverTheSame(t *testing.T) {
	seen := map[string]bool{}
	for i := range 2000 {
		kind, prefix := model.TokenPersonal, "hgp_"
		if i%2 == 1 {
			kind, prefix = model.TokenService, "hgs_"
		}
		secret, hash, hint := auth.NewAPIToken(kind)
		if documented.FindString("token="+secret+"\n") != secret || secret[:4] != prefix || secret[:len(hint)] != hint || len(hint) > 12 || len(hash) != 32 || seen[secret] {
			t.Fatalf("token %q with hint %q and a hash of %d bytes", secret, hint, len(hash))
		}
		seen[secret] = true
	}
}

// issue makes an API token past the API.
func (w *world) issue(t *testing.T, user, maker model.User, kind model.TokenKind, scopes ...model.TokenScope) string {
	t.Helper()
	secret, hash, hint := auth.NewAPIToken(kind)
	_, err := w.store.CreateToken(t.Context(), model.Token{
		Kind: kind, Name: "t" + hint[4:], UserID: user.ID, MakerID: maker.ID, Scopes: scopes, Hash: hash, Hint: hint,
		ExpiresAt: w.time().Add(24 * time.Hour),
	}, model.Origin{Actor: maker.Name})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestTokenSaysWhoItActsAs(t *testing.T) {
	w := newWorld(t)
	ann := w.user(t, "ann", model.RoleAuditor)
	secret := w.issue(t, ann, ann, model.TokenPersonal, model.ScopeRead, model.ScopeAudit)
	p, err := w.AuthenticateToken(t.Context(), secret, here)
	if err != nil || p.Name != "ann" || p.Role != model.RoleAuditor || p.UserID != ann.ID || p.TokenID == 0 || p.Token == "" || p.SessionID != "" {
		t.Fatalf("principal %+v, %v", p, err)
	}
	if !p.Everywhere(auth.AuditRead) || p.Everywhere(auth.UserManage) || p.Conceivable(auth.Self) || !p.Conceivable(auth.Known) {
		t.Errorf("rights of %+v", p)
	}
	// A token that has anything changed, added or cut off is nobody's.
	for _, bad := range []string{"", secret[:len(secret)-1], secret + "0", "hgs_" + secret[4:], secret[:20] + flipped(secret[20]) + secret[21:], " " + secret, secret + "\n"} {
		_, err := w.AuthenticateToken(t.Context(), bad, here)
		wantCode(t, err, model.CodeUnauthorized)
	}
	if rows := w.actions(t, "ann"); slices.Contains(rows, model.ActionTokenRefused) {
		t.Error("what was no token of ours leaves a row under somebody's name")
	}
}

func flipped(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

// Whatever ends a token ends it at once, and its use afterwards leaves a row.
func TestEndedTokenIsRefusedAtOnceAndItsUseIsRecorded(t *testing.T) {
	disable := func(w *world, u model.User) error {
		yes := true
		_, err := w.store.UpdateUser(t.Context(), u.Name, u.Revision, model.UserPatch{Disabled: &yes}, model.Origin{Actor: "boss"})
		return err
	}
	for name, end := range map[string]func(w *world, user, maker model.User) error{
		"expired": func(w *world, _, _ model.User) error { w.pass(24 * time.Hour); return nil },
		"revoked": func(w *world, user, _ model.User) error {
			page, err := w.store.Tokens(t.Context(), model.TokenQuery{UserID: user.ID})
			if err != nil {
				return err
			}
			return w.store.RevokeToken(t.Context(), page.Items[0].ID, 0, model.Origin{Actor: "boss"})
		},
		"user disabled":  func(w *world, user, _ model.User) error { return disable(w, user) },
		"maker disabled": func(w *world, _, maker model.User) error { return disable(w, maker) },
		"maker no admin any more": func(w *world, _, maker model.User) error {
			member := model.RoleMember
			_, err := w.store.UpdateUser(t.Context(), maker.Name, maker.Revision, model.UserPatch{Role: &member}, model.Origin{Actor: "boss"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.user(t, "boss", model.RoleAdmin)
			maker := w.user(t, "maker", model.RoleAdmin)
			robot, err := w.store.CreateServiceAccount(t.Context(), model.User{Name: "robot", Role: model.RoleAuditor}, model.Origin{Actor: "boss"})
			if err != nil {
				t.Fatal(err)
			}
			secret := w.issue(t, robot, maker, model.TokenService, model.ScopeRead)
			if _, err := w.AuthenticateToken(t.Context(), secret, here); err != nil {
				t.Fatal(err)
			}
			if err := end(w, robot, maker); err != nil {
				t.Fatal(err)
			}
			_, err = w.AuthenticateToken(t.Context(), secret, here)
			wantCode(t, err, model.CodeUnauthorized)
			if rows := w.actions(t, "robot"); !slices.Contains(rows, model.ActionTokenRefused) {
				t.Errorf("history %v", rows)
			}
		})
	}
}

func TestLastUseIsNotedOnceAMinuteWithItsAddress(t *testing.T) {
	w := newWorld(t)
	ann := w.user(t, "ann", model.RoleMember)
	secret := w.issue(t, ann, ann, model.TokenPersonal, model.ScopeRead)
	used := func(address string) model.Token {
		t.Helper()
		c := here
		c.Address = address
		if _, err := w.AuthenticateToken(t.Context(), secret, c); err != nil {
			t.Fatal(err)
		}
		page, err := w.store.Tokens(t.Context(), model.TokenQuery{UserID: ann.ID})
		if err != nil {
			t.Fatal(err)
		}
		return page.Items[0]
	}
	first := used("192.0.2.1")
	if !first.LastUsedAt.Equal(w.time()) || first.LastUsedBy != "192.0.2.1" {
		t.Errorf("first use %+v", first)
	}
	w.pass(59 * time.Second)
	if again := used("192.0.2.2"); !again.LastUsedAt.Equal(first.LastUsedAt) || again.LastUsedBy != "192.0.2.1" {
		t.Errorf("within the minute %+v", again)
	}
	w.pass(time.Second)
	if later := used("192.0.2.3"); !later.LastUsedAt.Equal(w.time()) || later.LastUsedBy != "192.0.2.3" {
		t.Errorf("a minute later %+v", later)
	}
}

// The table of scopes, written down a second time: a change must be meant. What stands in none, no token may.
func TestScopesAreTheDocumentedTable(t *testing.T) {
	want := map[auth.Permission]string{
		auth.BucketSee: "read write audit", auth.BucketCreate: "write", auth.BucketEdit: "write", auth.BucketAllApps: "write",
		auth.AppSee: "read write audit admin", auth.AppCreate: "admin", auth.AppManage: "write admin",
		auth.UserNames: "read write admin", auth.UserSee: "audit admin", auth.UserManage: "", auth.TokenManage: "",
		auth.AuditRead: "audit", auth.AuditExport: "audit", auth.WebhookManage: "", auth.SystemSee: "read admin", auth.SystemManage: "admin",
		auth.Self: "",
	}
	admin := auth.Principal{Name: "x", Role: model.RoleAdmin, TokenID: 1}
	for needs, scopes := range want {
		for _, scope := range model.TokenScopes {
			p := admin
			p.Scopes = []model.TokenScope{scope}
			listed := regexp.MustCompile(`\b` + string(scope) + `\b`).MatchString(scopes)
			if got := p.Conceivable(needs); got != listed {
				t.Errorf("%s by a token for %s: %v, want %v", needs, scope, got, listed)
			}
		}
		if got := auth.ForTokens(needs); got != (scopes != "") {
			t.Errorf("%s can be a token's: %v", needs, got)
		}
	}
	for _, needs := range everyPermission {
		if _, listed := want[needs]; !listed {
			t.Errorf("%s is not in this table; say which scopes have it, if any", needs)
		}
	}
}

// A token holds a permission only where its user and one of its scopes hold it, in whatever relation.
func TestTokenNeverMayMoreThanItsUser(t *testing.T) {
	for _, role := range []model.Role{model.RoleAdmin, model.RoleAuditor, model.RoleMember} {
		for relations := range 8 {
			r := model.Relation{BucketOwner: relations&1 != 0, AppOwner: relations&2 != 0, AppViewer: relations&4 != 0}
			person := auth.Principal{Name: "x", Role: role}
			token, empty := person, person
			token.TokenID, token.Scopes = 1, model.TokenScopes
			empty.TokenID = 1
			for _, needs := range everyPermission {
				if token.May(needs, r) && !person.May(needs, r) || token.Everywhere(needs) && !person.Everywhere(needs) {
					t.Errorf("a token of %s with %+v may %s", role, r, needs)
				}
				if empty.May(needs, r) || empty.Everywhere(needs) || empty.Conceivable(needs) {
					t.Errorf("a token without scopes may %s", needs)
				}
			}
			for _, needs := range token.Permissions(r) {
				if !slices.Contains(person.Permissions(r), needs) {
					t.Errorf("a token of %s is told that it may %s", role, needs)
				}
			}
		}
	}
}
