package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// Whatever a login comes to, it costs one hash: so its time does not tell which names exist, are disabled or have no
// password here. Counting says it more firmly than a clock.
func TestEveryLoginCostsOneHash(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	disable(t, w, w.user(t, "dora", model.RoleMember))
	for _, u := range []model.User{{Name: "sso", Role: model.RoleMember}, {Name: "bot", Role: model.RoleMember, Service: true}} {
		if _, err := w.store.CreateUser(t.Context(), u, model.Origin{Actor: model.SystemActor}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, password string
		want           model.Code
	}{
		{"ann", password, ""}, {"ann", "wrong password", model.CodeUnauthorized}, {"nobody", password, model.CodeUnauthorized},
		{"dora", password, model.CodeUnauthorized}, {"dora", "wrong password", model.CodeUnauthorized},
		{"sso", "", model.CodeUnauthorized}, {"sso", password, model.CodeUnauthorized}, {"bot", password, model.CodeUnauthorized},
		{"No Name!", password, model.CodeUnauthorized},
	} {
		before := w.Hashes()
		_, err := w.Login(t.Context(), c.name, c.password, here)
		wantCode(t, err, c.want)
		if made := w.Hashes() - before; made != 1 {
			t.Errorf("%s with %q cost %d hashes", c.name, c.password, made)
		}
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused, Target: "sso"})
	if err != nil || len(page.Items) != 2 || page.Items[0].Reason != "the user has no password here" {
		t.Errorf("the history of who has no password: %+v, %v", page.Items, err)
	}
}

// A hash of another cost is made anew at the next login, once; the password and the sessions stay.
func TestHashIsUpgradedAtLogin(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	raised := auth.Hashing{MemoryKiB: 128, Passes: 2, Threads: 1}
	s, err := auth.New(auth.Config{Store: w.store, Keys: [][]byte{testKey(1)}, Hashing: raised, Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Login(t.Context(), "ann", password, here); err != nil {
			t.Fatal(err)
		}
	}
	u, err := w.store.User(t.Context(), "ann")
	if err != nil || !strings.HasPrefix(u.PasswordHash, "$argon2id$v=19$m=128,t=2,p=1$") {
		t.Errorf("hash %s, %v", u.PasswordHash, err)
	}
	if _, err := w.Authenticate(t.Context(), g.Access); err != nil {
		t.Errorf("the session has ended: %v", err)
	}
	want := []model.Action{model.ActionLogin, model.ActionUserRehash, model.ActionLogin, model.ActionLogin, model.ActionUserCreate}
	if got := w.actions(t, "ann"); !slices.Equal(got, want) {
		t.Errorf("history %v, want %v", got, want)
	}
}

func TestFailedUpgradeFailsNoLogin(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	s, err := auth.New(auth.Config{Store: readOnlyHashes{w.store}, Keys: [][]byte{testKey(1)}, Hashing: auth.Hashing{MemoryKiB: 128, Passes: 1, Threads: 1}, Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Login(t.Context(), "ann", password, here); err != nil {
		t.Errorf("the login failed with the upgrade: %v", err)
	}
}

// readOnlyHashes is the real store, as if it could not keep another hash.
type readOnlyHashes struct{ *store.Store }

func (readOnlyHashes) RehashPassword(context.Context, int64, string, string, model.Origin) error {
	return model.Errorf(model.CodeUnavailable, "the database does not answer")
}

func TestOwnPasswordIsChangedAndOnlyThisSessionStays(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	other, g := w.login(t, "ann"), w.login(t, "ann")
	if err := w.ChangePassword(t.Context(), g.Principal, password, "quite another phrase", "it was on a note", here); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Authenticate(t.Context(), g.Access); err != nil {
		t.Errorf("the own session has ended: %v", err)
	}
	_, err := w.Authenticate(t.Context(), other.Access)
	wantCode(t, err, model.CodeUnauthorized)
	_, err = w.Login(t.Context(), "ann", password, here)
	wantCode(t, err, model.CodeUnauthorized)
	if _, err := w.Login(t.Context(), "ann", "quite another phrase", here); err != nil {
		t.Error(err)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionUserPassword})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d rows, %v", len(page.Items), err)
	}
	if c := page.Items[0]; c.Actor != "ann" || c.Target != "ann" || c.Reason != "it was on a note" || c.Address != here.Address || strings.Contains(string(c.After), "$") {
		t.Errorf("row %+v", c)
	}
}

func TestOwnPasswordIsNotChangedWithoutTheRightProof(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	field := func(current, next, want string) {
		t.Helper()
		err := w.ChangePassword(t.Context(), g.Principal, current, next, "", here)
		wantCode(t, err, model.CodeInvalid)
		var e *model.Error
		if !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Field != want {
			t.Errorf("%v, want field %s", err, want)
		}
	}
	field(password, "short", "password")
	field(password, password, "password")
	field(password, "password1234", "password")
	for range 5 {
		field("wrong password", "quite another phrase", "current")
	}
	// A stolen session is no way to guess the password without end.
	err := w.ChangePassword(t.Context(), g.Principal, password, "quite another phrase", "", here)
	wantCode(t, err, model.CodeTooMany)
	if page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused}); err != nil || len(page.Items) != 6 {
		t.Errorf("%d refused attempts are recorded, %v", len(page.Items), err)
	}
	bySingleSignOn := auth.Principal{Name: "sso", SessionID: g.SessionID}
	if _, err := w.store.CreateUser(t.Context(), model.User{Name: "sso", Role: model.RoleMember}, model.Origin{Actor: model.SystemActor}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.ChangePassword(t.Context(), bySingleSignOn, "", "quite another phrase", "", here), model.CodeInvalid)
	byToken := g.Principal
	byToken.SessionID = ""
	wantCode(t, w.ChangePassword(t.Context(), byToken, password, "quite another phrase", "", here), model.CodeUnauthorized)
}
