package store_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

const (
	issuer = "https://login.example.test"
	nina   = "248289761001" // the provider's word for the person
)

var byGroups = model.Origin{Actor: model.SystemActor, Reason: "single sign-on groups", Address: "192.0.2.1", RequestID: "req-9"}

// signOn is Nina's first login, which makes her a user.
func signOn(change ...func(*model.SignOn)) model.SignOn {
	in := model.SignOn{Issuer: issuer, Subject: nina, Name: "nina", DisplayName: "Nina N.", Create: true}
	for _, c := range change {
		c(&in)
	}
	return in
}

func withRole(role model.Role) func(*model.SignOn) {
	return func(in *model.SignOn) { in.Role = &role }
}

func withApps(apps map[string]model.AppRole) func(*model.SignOn) {
	return func(in *model.SignOn) { in.Apps, in.MapsApps = apps, true }
}

// memberOf is a user's place in an app, as "owner", "viewer mapped" and the like; "" is none.
func memberOf(t *testing.T, s *store.Store, app, user string) string {
	t.Helper()
	for _, m := range must(s.App(t.Context(), app))(t).Members {
		if m.User == user && m.Mapped {
			return string(m.Role) + " mapped"
		} else if m.User == user {
			return string(m.Role)
		}
	}
	return ""
}

// actionsOn lists what happened to a target, newest first.
func actionsOn(t *testing.T, s *store.Store, kind model.TargetKind, target string) []string {
	t.Helper()
	var list []string
	for _, c := range must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: kind, Target: target}))(t).Items {
		list = append(list, c.Actor+" "+string(c.Action))
	}
	return list
}

func TestFirstSignOnMakesAUserWithoutAPasswordAndLaterOnesFindIt(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		first := must(s.SignOn(t.Context(), signOn(), byGroups))(t)
		if u := first.User; !first.Created || u.Name != "nina" || u.DisplayName != "Nina N." || u.Role != model.RoleMember || u.PasswordHash != "" {
			t.Errorf("first sign-on %+v", first)
		}
		// What she is called at the provider now is no matter: the subject says who she is.
		again := must(s.SignOn(t.Context(), signOn(func(in *model.SignOn) { in.Name = "nina.newname"; in.Create = false }), byGroups))(t)
		if again.Created || again.User.ID != first.User.ID || again.User.Name != "nina" {
			t.Errorf("second sign-on %+v", again)
		}
		list := must(s.Identities(t.Context(), "nina"))(t)
		if len(list) != 1 || list[0].Subject != nina || list[0].Issuer != issuer || list[0].UsedAt.IsZero() {
			t.Errorf("identities %+v", list)
		}
		if got := actionsOn(t, s, model.TargetUser, "nina"); !slices.Equal(got, []string{"system user.link", "system user.create"}) {
			t.Errorf("history %q", got)
		}
	})
}

// Whoever can choose a name at the provider must not become the user of that name here.
func TestANameIsNeverEnoughToBecomeAUser(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "nina")
		_, err := s.SignOn(t.Context(), signOn(), byGroups)
		wantCode(t, err, model.CodeTaken)
		if n := d.count(t, "SELECT COUNT(*) FROM identities"); n != 0 {
			t.Errorf("%d identities after a refusal", n)
		}
		ok(t, s.LinkIdentity(t.Context(), "nina", model.Identity{Issuer: issuer, Subject: nina}, byAlice))
		out := must(s.SignOn(t.Context(), signOn(), byGroups))(t)
		if out.Created || out.User.Name != "nina" {
			t.Errorf("after the link: %+v", out)
		}
		people(t, s, "otto")
		wantCode(t, s.LinkIdentity(t.Context(), "otto", model.Identity{Issuer: issuer, Subject: nina}, byAlice), model.CodeTaken)
		// Bytes decide, not what a collation takes for equal.
		for _, other := range []string{nina + " ", strings.ToUpper("a" + nina)} {
			ok(t, s.LinkIdentity(t.Context(), "otto", model.Identity{Issuer: issuer, Subject: other}, byAlice))
		}
		ok(t, s.UnlinkIdentity(t.Context(), "nina", model.Identity{Issuer: issuer, Subject: nina}, byAlice))
		_, err = s.SignOn(t.Context(), signOn(), byGroups)
		wantCode(t, err, model.CodeTaken)
		wantCode(t, s.UnlinkIdentity(t.Context(), "nina", model.Identity{Issuer: issuer, Subject: nina}, byAlice), model.CodeNotFound)
	})
}

func TestSignOnRefusesTheDisabledTheUninvitedAndWhatIsNoName(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		_, err := s.SignOn(t.Context(), signOn(func(in *model.SignOn) { in.Create = false }), byGroups)
		wantCode(t, err, model.CodeForbidden)
		_, err = s.SignOn(t.Context(), signOn(func(in *model.SignOn) { in.Name = "Nina N." }), byGroups)
		wantCode(t, err, model.CodeInvalid, "name")
		_, err = s.SignOn(t.Context(), signOn(func(in *model.SignOn) { in.Subject = strings.Repeat("x", 256) }), byGroups)
		wantCode(t, err, model.CodeInvalid, "subject")
		u := must(s.SignOn(t.Context(), signOn(), byGroups))(t).User
		yes := true
		must(s.UpdateUser(t.Context(), "nina", u.Revision, model.UserPatch{Disabled: &yes}, byAlice))(t)
		apps(t, s, "checkout")
		_, err = s.SignOn(t.Context(), signOn(withApps(map[string]model.AppRole{"checkout": model.AppOwner})), byGroups)
		wantCode(t, err, model.CodeUnauthorized)
		if got := memberOf(t, s, "checkout", "nina"); got != "" {
			t.Errorf("a refused sign-on left the membership %q", got)
		}
	})
}

// Groups that come and go at the provider come and go here; what a person gave stays.
func TestMembershipsFollowTheGroupsAndLeaveThoseGivenByHand(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		apps(t, s, "billing", "checkout", "search")
		in := func(apps map[string]model.AppRole) model.SignedOn {
			t.Helper()
			return must(s.SignOn(t.Context(), signOn(withApps(apps)), byGroups))(t)
		}
		out := in(map[string]model.AppRole{"checkout": model.AppOwner, "billing": model.AppViewer, "ghost": model.AppOwner})
		if !slices.Equal(out.UnknownApps, []string{"ghost"}) {
			t.Errorf("unknown apps %q", out.UnknownApps)
		}
		ok(t, s.SetMember(t.Context(), "checkout", model.Member{User: "nina", Role: model.AppViewer}, byAlice))
		ok(t, s.SetMember(t.Context(), "search", model.Member{User: "nina", Role: model.AppViewer}, byAlice))
		places := func() string {
			return memberOf(t, s, "billing", "nina") + ", " + memberOf(t, s, "checkout", "nina") + ", " + memberOf(t, s, "search", "nina")
		}
		if got := places(); got != "viewer mapped, owner mapped, viewer" {
			t.Errorf("at first: %s", got)
		}
		if roles := must(s.AppRoles(t.Context(), "nina", nil))(t); roles["checkout"] != model.AppOwner || roles["billing"] != model.AppViewer {
			t.Errorf("roles %v", roles)
		}
		wantCode(t, s.RemoveMember(t.Context(), "billing", "nina", byAlice), model.CodeInUse)
		revision := must(s.App(t.Context(), "checkout"))(t).Revision
		in(map[string]model.AppRole{"checkout": model.AppOwner, "billing": model.AppViewer})
		if got := must(s.App(t.Context(), "checkout"))(t).Revision; got != revision {
			t.Errorf("a sign-on that changed nothing made revision %d of %d", got, revision)
		}
		in(map[string]model.AppRole{"billing": model.AppOwner})
		if got := places(); got != "owner mapped, viewer, viewer" {
			t.Errorf("after a change: %s", got)
		}
		in(nil)
		if got := places(); got != ", viewer, viewer" {
			t.Errorf("without groups: %s", got)
		}
		want := []string{"system member.remove", "system member.set", "system member.set", "alice app.create"}
		if got := actionsOn(t, s, model.TargetApp, "billing"); !slices.Equal(got, want) {
			t.Errorf("history %q, want %q", got, want)
		}
		c := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetApp, Target: "checkout"}))(t).Items[0]
		if string(c.Before) != `{"user":"nina","role":"owner"}` || string(c.After) != `{"user":"nina","role":"viewer"}` || c.Reason != byGroups.Reason {
			t.Errorf("change %+v", c)
		}
		must(s.SignOn(t.Context(), signOn(), byGroups))(t) // groups give no memberships at all: nothing is touched
		ok(t, s.RemoveMember(t.Context(), "checkout", "nina", byAlice))
		if got := places(); got != ", , viewer" {
			t.Errorf("at last: %s", got)
		}
	})
}

func TestTheRoleFollowsTheGroupsButTheLastAdminStays(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		must(s.SignOn(t.Context(), signOn(withRole(model.RoleAdmin)), byGroups))(t)
		out := must(s.SignOn(t.Context(), signOn(withRole(model.RoleMember)), byGroups))(t)
		if !out.KeptAdmin || out.User.Role != model.RoleAdmin {
			t.Errorf("the last admin: %+v", out)
		}
		must(s.CreateUser(t.Context(), model.User{Name: "root", Role: model.RoleAdmin}, byAlice))(t)
		out = must(s.SignOn(t.Context(), signOn(withRole(model.RoleAuditor)), byGroups))(t)
		if out.KeptAdmin || out.User.Role != model.RoleAuditor {
			t.Errorf("with another admin: %+v", out)
		}
		c := must(s.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetUser, Target: "nina"}))(t).Items[0]
		if c.Action != model.ActionUserUpdate || c.Actor != model.SystemActor || !strings.Contains(string(c.Before), `"admin"`) || !strings.Contains(string(c.After), `"auditor"`) {
			t.Errorf("change %+v", c)
		}
		if out = must(s.SignOn(t.Context(), signOn(), byGroups))(t); out.User.Role != model.RoleAuditor {
			t.Errorf("without a mapping the role became %s", out.User.Role)
		}
	})
}

// One person's first logins in several tabs, on several servers, make one user, and none is refused.
func TestFirstSignOnsAtOnceMakeOneUser(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		servers := []*store.Store{d.migrated(t), d.open(t)}
		apps(t, servers[0], "billing", "checkout")
		groups := withApps(map[string]model.AppRole{"checkout": model.AppOwner, "billing": model.AppViewer})
		created := make([]bool, 8)
		for _, err := range together(len(created), func(i int) error {
			out, err := servers[i%2].SignOn(t.Context(), signOn(groups, withRole(model.RoleAuditor)), byGroups)
			created[i] = out.Created
			return err
		}) {
			ok(t, err)
		}
		created = slices.DeleteFunc(created, func(made bool) bool { return !made })
		if n := d.count(t, "SELECT COUNT(*) FROM users"); n != 1 || len(created) != 1 {
			t.Errorf("%d users, %d logins made one", n, len(created))
		}
		if n := d.count(t, "SELECT COUNT(*) FROM members WHERE source = 'groups'"); n != 2 {
			t.Errorf("%d memberships", n)
		}
	})
}

// MySQL commits each step of a migration by itself: one that was cut short starts again from the top. Members that were
// there before memberships had a source were given by hand.
func TestTheMembersTableIsBroughtOverAgainAndAgain(t *testing.T) {
	d := database{"mysql", store.Config{MySQLDSN: testenv.MySQL(t)}}
	s := d.migrated(t)
	people(t, s, "alice")
	must(s.CreateApp(t.Context(), model.App{Name: "checkout", Members: []model.Member{{User: "alice", Role: model.AppOwner}}}, byAlice))(t)
	db, err := sql.Open(d.name, d.config.MySQLDSN)
	ok(t, err)
	defer func() { _ = db.Close() }()
	for _, undone := range []string{
		"DELETE FROM goose_db_version WHERE version_id >= 4",
		"ALTER TABLE members DROP PRIMARY KEY, DROP COLUMN source, ADD PRIMARY KEY (app_id, user_id)",
	} {
		_, err = db.ExecContext(t.Context(), undone)
		ok(t, err)
		_, err = db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id >= 4")
		ok(t, err)
		ok(t, d.open(t).Migrate(t.Context()))
		if n := d.count(t, "SELECT COUNT(*) FROM members WHERE source = 'hand' AND role = 'owner'"); n != 1 {
			t.Errorf("after %s: %d members by hand", undone, n)
		}
	}
}
