package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

func TestLoginMakesASessionThatAuthenticatesAndIsRecorded(t *testing.T) {
	w := newWorld(t)
	u := w.user(t, "ann", model.RoleAuditor)
	g, err := w.Login(t.Context(), " Ann ", password, here)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Authenticate(t.Context(), g.Access)
	if err != nil || p.UserID != u.ID || p.Name != "ann" || p.Role != model.RoleAuditor || p.SessionID == "" {
		t.Fatalf("principal %+v, %v", p, err)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLogin})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d login rows, %v", len(page.Items), err)
	}
	if c := page.Items[0]; c.Actor != "ann" || c.Address != here.Address || c.RequestID != here.RequestID {
		t.Errorf("row %+v", c)
	}
}

// A wrong password, an unknown name and a disabled user get the same answer; the history knows which it was.
func TestRefusedLoginsLookAlikeAndAreRecorded(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	disable(t, w, w.user(t, "dora", model.RoleMember))
	var texts []string
	for _, c := range []struct{ name, password string }{{"ann", "wrong password"}, {"nobody", password}, {"dora", password}} {
		_, err := w.Login(t.Context(), c.name, c.password, here)
		wantCode(t, err, model.CodeUnauthorized)
		var e *model.Error
		if errors.As(err, &e) {
			texts = append(texts, e.Message)
		}
	}
	if len(slices.Compact(texts)) != 1 {
		t.Errorf("different answers: %q", texts)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, c := range page.Items {
		reasons = append(reasons, c.Target+": "+c.Reason)
	}
	want := []string{"dora: the user is disabled", "nobody: no such user", "ann: wrong password"}
	if !slices.Equal(reasons, want) {
		t.Errorf("history %q, want %q", reasons, want)
	}
}

// People type their password into the name field: it must not end in the history or the log.
func TestWhatCannotBeANameIsNotKept(t *testing.T) {
	w := newWorld(t)
	_, err := w.Login(t.Context(), "My Secret Pass!", "x", here)
	wantCode(t, err, model.CodeUnauthorized)
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d rows, %v", len(page.Items), err)
	}
	if row := fmt.Sprintf("%+v", page.Items[0]); strings.Contains(strings.ToLower(row), "secret") {
		t.Errorf("row holds it: %s", row)
	}
	if strings.Contains(strings.ToLower(w.log.String()), "secret") {
		t.Errorf("log holds it: %s", w.log.String())
	}
}

func TestDisabledUserIsOutAtOnce(t *testing.T) {
	w := newWorld(t)
	u := w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	disable(t, w, u)
	_, err := w.Authenticate(t.Context(), g.Access)
	wantCode(t, err, model.CodeUnauthorized)
	_, err = w.Refresh(t.Context(), g.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)
}

// The store ends a disabled user's sessions; should one be left all the same, it opens nothing.
func TestLeftOverSessionOfADisabledUserOpensNothing(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	s, err := auth.New(auth.Config{Store: leftOver{w.store}, Keys: [][]byte{testKey(1)}, Hashing: cheap, Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Authenticate(t.Context(), g.Access)
	wantCode(t, err, model.CodeUnauthorized)
	_, err = s.Refresh(t.Context(), g.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)
}

// leftOver is the real store, in which every user is disabled without their sessions having ended.
type leftOver struct{ *store.Store }

func (l leftOver) Session(ctx context.Context, id string) (model.Session, model.User, error) {
	session, user, err := l.Store.Session(ctx, id)
	user.Disabled = true
	return session, user, err
}

func TestChangedRoleCountsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.user(t, "root", model.RoleAdmin)
	u := w.user(t, "ann", model.RoleAdmin)
	g := w.login(t, "ann")
	role := model.RoleMember
	if _, err := w.store.UpdateUser(t.Context(), "ann", u.Revision, model.UserPatch{Role: &role}, model.Origin{}); err != nil {
		t.Fatal(err)
	}
	p, err := w.Authenticate(t.Context(), g.Access)
	if err != nil || p.Everywhere(auth.UserManage) {
		t.Errorf("principal %+v, %v", p, err)
	}
}

func TestLogoutEndsTheSessionByEitherToken(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	for name, tokens := range map[string]func(auth.Grant) (string, string){
		"access":  func(g auth.Grant) (string, string) { return g.Access, "" },
		"refresh": func(g auth.Grant) (string, string) { return "", g.Refresh },
	} {
		g := w.login(t, "ann")
		other := w.login(t, "ann")
		access, refresh := tokens(g)
		if err := w.Logout(t.Context(), access, refresh, here); err != nil {
			t.Fatal(err)
		}
		_, err := w.Authenticate(t.Context(), g.Access)
		wantCode(t, err, model.CodeUnauthorized)
		_, err = w.Refresh(t.Context(), g.Refresh, here)
		wantCode(t, err, model.CodeUnauthorized)
		if _, err := w.Authenticate(t.Context(), other.Access); err != nil {
			t.Errorf("%s: the other session ended as well: %v", name, err)
		}
		if got := w.actions(t, "ann")[0]; got != model.ActionLogout {
			t.Errorf("%s: newest row is %s", name, got)
		}
		if err := w.Logout(t.Context(), access, refresh, here); err != nil {
			t.Errorf("%s: logging out twice: %v", name, err)
		}
	}
	if err := w.Logout(t.Context(), "garbage", "garbage", here); err != nil {
		t.Errorf("logging out with garbage: %v", err)
	}
}

func TestAccessTokenEndsAfter15MinutesAndRefreshGoesOn(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	w.pass(auth.AccessLife + time.Second)
	_, err := w.Authenticate(t.Context(), g.Access)
	wantCode(t, err, model.CodeUnauthorized)
	next, err := w.Refresh(t.Context(), g.Refresh, here)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Authenticate(t.Context(), next.Access); err != nil {
		t.Error(err)
	}
	if next.Refresh == g.Refresh || next.Refresh == "" {
		t.Error("the refresh token was not replaced")
	}
}

// The old token in the hands of two: one of them is a thief, so nobody keeps the session.
func TestReusedRefreshTokenEndsTheSession(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	w.pass(time.Minute)
	next, err := w.Refresh(t.Context(), g.Refresh, here)
	if err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	_, err = w.Refresh(t.Context(), g.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)
	_, err = w.Authenticate(t.Context(), next.Access)
	wantCode(t, err, model.CodeUnauthorized)
	_, err = w.Refresh(t.Context(), next.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)
	if got := w.actions(t, "ann")[0]; got != model.ActionTokenReused {
		t.Errorf("newest row is %s", got)
	}
}

// Two tabs that refresh together must not look like a theft: both go on, and one refresh token stays good.
func TestTabsThatRefreshTogetherBothGoOn(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	const tabs = 8
	grants := make([]auth.Grant, tabs)
	errs := make([]error, tabs)
	var wg sync.WaitGroup
	for i := range tabs {
		wg.Go(func() { grants[i], errs[i] = w.Refresh(context.Background(), g.Refresh, here) })
	}
	wg.Wait()
	var fresh []string
	for i := range tabs {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if _, err := w.Authenticate(t.Context(), grants[i].Access); err != nil {
			t.Error(err)
		}
		if grants[i].Refresh != "" {
			fresh = append(fresh, grants[i].Refresh)
		}
	}
	if len(fresh) != 1 {
		t.Fatalf("%d refresh tokens were handed out", len(fresh))
	}
	if _, err := w.Refresh(t.Context(), fresh[0], here); err != nil {
		t.Error(err)
	}
}

func TestSessionEndsWhenIdleAndAfterItsGreatestAge(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	idle := w.login(t, "ann")
	w.pass(auth.SessionIdle + time.Second)
	_, err := w.Refresh(t.Context(), idle.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)

	g := w.login(t, "ann")
	began := w.time()
	for w.time().Sub(began) < auth.SessionMaxLife-6*24*time.Hour {
		w.pass(6 * 24 * time.Hour)
		if g, err = w.Refresh(t.Context(), g.Refresh, here); err != nil {
			t.Fatalf("after %v: %v", w.time().Sub(began), err)
		}
	}
	w.pass(6*24*time.Hour + time.Second)
	_, err = w.Refresh(t.Context(), g.Refresh, here)
	wantCode(t, err, model.CodeUnauthorized)
}

func TestForgedTokensProveNothing(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	p, err := w.Authenticate(t.Context(), g.Access)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(g.Access, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	claims := jwt.MapClaims{"sid": p.SessionID, "iss": "headgate", "aud": "headgate/access", "exp": w.time().Add(time.Hour).Unix()}
	foreign := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	foreign.Header["kid"] = header(t, g.Access)["kid"]
	withForeignKey, _ := foreign.SignedString(testKey(9))
	other := jwt.NewWithClaims(jwt.SigningMethodHS512, claims)
	other.Header["kid"] = header(t, g.Access)["kid"]
	withOtherAlgorithm, _ := other.SignedString(testKey(1))
	delete(claims, "exp")
	endless := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	endless.Header["kid"] = header(t, g.Access)["kid"]
	withoutEnd, _ := endless.SignedString(testKey(1))

	for name, token := range map[string]string{
		"empty": "", "garbage": "a.b.c", "no signature": parts[0] + "." + parts[1] + ".",
		"alg none": none + "." + parts[1] + ".", "alg none, old signature": none + "." + parts[1] + "." + parts[2],
		"another key": withForeignKey, "another algorithm with our key": withOtherAlgorithm, "no expiry": withoutEnd,
		"refresh token": g.Refresh,
	} {
		if _, err := w.Authenticate(t.Context(), token); model.CodeOf(err) != model.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Refresh(t.Context(), g.Access, here); model.CodeOf(err) != model.CodeUnauthorized {
		t.Errorf("access token as refresh token: %v", err)
	}
}

func TestOlderKeyStillProvesAfterTheKeyIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	both := w.service(t, testKey(2), testKey(1))
	if _, err := both.Authenticate(t.Context(), g.Access); err != nil {
		t.Error(err)
	}
	_, err := w.service(t, testKey(2)).Authenticate(t.Context(), g.Access)
	wantCode(t, err, model.CodeUnauthorized)
	for _, keys := range [][][]byte{nil, {testKey(1)[:31]}} {
		if _, err := auth.New(auth.Config{Store: w.store, Keys: keys}); err == nil {
			t.Errorf("%d keys of the wrong length were taken", len(keys))
		}
	}
}

func disable(t *testing.T, w *world, u model.User) {
	t.Helper()
	yes := true
	if _, err := w.store.UpdateUser(t.Context(), u.Name, u.Revision, model.UserPatch{Disabled: &yes}, model.Origin{Actor: model.SystemActor}); err != nil {
		t.Fatal(err)
	}
}

func header(t *testing.T, token string) map[string]any {
	t.Helper()
	parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Header
}
