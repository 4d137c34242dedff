package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// server makes a service whose keys the database keeps, as a server of the deployment has it.
func (w *world) server(t *testing.T) *auth.Service {
	t.Helper()
	s, err := auth.New(auth.Config{Store: w.store, KeyStore: w.store, Hashing: cheap, Now: w.time})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loginAt(t *testing.T, s *auth.Service, name string) auth.Grant {
	t.Helper()
	g, err := s.Login(t.Context(), name, password, here)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func proves(t *testing.T, s *auth.Service, token, when string) {
	t.Helper()
	if _, err := s.Authenticate(t.Context(), token); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

func (w *world) keyActions(t *testing.T) []model.Action {
	t.Helper()
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{TargetKind: model.TargetSystem})
	if err != nil {
		t.Fatal(err)
	}
	var list []model.Action
	for _, c := range page.Items {
		if strings.Contains(string(c.After), "secret") {
			t.Errorf("row %s", c.After)
		}
		list = append(list, c.Action)
	}
	slices.Reverse(list)
	return list
}

// A new key proves on every server before it signs, the older one proves until its last token has ended, and nobody
// notices any of it.
func TestKeysAreRotatedByAgeWithoutEndingASession(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	one, two := w.server(t), w.server(t)
	g := loginAt(t, one, "ann")
	proves(t, two, g.Access, "another server")
	kid := header(t, g.Access)["kid"]

	w.pass(auth.KeyLife + time.Second)
	g = loginAt(t, one, "ann")
	for _, s := range []*auth.Service{one, two, one} {
		if err := s.TendKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := header(t, loginAt(t, two, "ann").Access)["kid"]; got != kid {
		t.Error("the new key signs before every server can know it")
	}
	w.pass(auth.KeyLead)
	next := loginAt(t, two, "ann")
	if header(t, next.Access)["kid"] == kid {
		t.Error("the new key does not sign")
	}
	proves(t, one, next.Access, "the new key on the other server")
	if _, err := one.Refresh(t.Context(), g.Refresh, here); err != nil {
		t.Errorf("a refresh token of the older key: %v", err)
	}
	w.pass(auth.SessionIdle - time.Minute)
	late := loginAt(t, one, "ann")
	for _, s := range []*auth.Service{one, two} {
		if err := s.TendKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.keyActions(t); !slices.Equal(got, []model.Action{model.ActionKeysRotate}) {
		t.Errorf("history %v", got)
	}
	w.pass(2 * time.Hour)
	for _, s := range []*auth.Service{one, two} {
		if err := s.TendKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.keyActions(t); !slices.Equal(got, []model.Action{model.ActionKeysRotate, model.ActionKeysDrop}) {
		t.Errorf("history %v", got)
	}
	if keys, err := w.store.SigningKeys(t.Context(), nil); err != nil || len(keys) != 1 {
		t.Errorf("%d keys are kept, %v", len(keys), err)
	}
	if _, err := two.Refresh(t.Context(), late.Refresh, here); err != nil {
		t.Error(err)
	}
}

// A server that has not read the keys since they changed reads them when a token names one that it does not know.
func TestTokenOfAKeyNotReadYetProves(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	one, two := w.server(t), w.server(t)
	if made, err := w.store.RotateSigningKey(t.Context(), model.KeyRotation{Secret: auth.NewKey()}, model.Origin{Actor: model.SystemActor}); err != nil || !made {
		t.Fatal(made, err)
	}
	if err := one.TendKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := loginAt(t, one, "ann")
	w.pass(2 * time.Second)
	proves(t, two, g.Access, "another server")
}

// Rotated at once, everybody is out at once, on servers too that have not read the keys again.
func TestRotationAtOnceEndsEverySession(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	one, two := w.server(t), w.server(t)
	g := loginAt(t, one, "ann")
	if _, err := w.store.RotateSigningKey(t.Context(), model.KeyRotation{Secret: auth.NewKey(), Now: true}, model.Origin{Actor: "root", Reason: "a backup was stolen"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*auth.Service{one, two} {
		_, err := s.Authenticate(t.Context(), g.Access)
		wantCode(t, err, model.CodeUnauthorized)
		_, err = s.Refresh(t.Context(), g.Refresh, here)
		wantCode(t, err, model.CodeUnauthorized)
		if err := s.TendKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	next := loginAt(t, one, "ann")
	proves(t, two, next.Access, "the new key")
	if header(t, next.Access)["kid"] == header(t, g.Access)["kid"] {
		t.Error("the older key still signs")
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionKeysRotate})
	if err != nil || len(page.Items) != 1 || page.Items[0].Actor != "root" || page.Items[0].Reason != "a backup was stolen" {
		t.Errorf("rows %+v, %v", page.Items, err)
	}
}

// strayBits sets bits of a token's last letter that stand for nothing: the signature's bytes stay the same.
func strayBits(token string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(letters[strings.IndexByte(letters, token[last])|1])
}

// What a token's header asks for decides nothing: the algorithm is pinned, and a key only does what it is for.
func TestForgeriesOfEveryKindProveNothing(t *testing.T) {
	w := newWorld(t)
	w.user(t, "ann", model.RoleMember)
	g := w.login(t, "ann")
	p, err := w.Authenticate(t.Context(), g.Access)
	if err != nil {
		t.Fatal(err)
	}
	kid := header(t, g.Access)["kid"]
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey)})
	good := func(changes jwt.MapClaims) jwt.MapClaims {
		c := jwt.MapClaims{"sid": p.SessionID, "iss": "headgate", "aud": "headgate/access", "exp": w.time().Add(time.Hour).Unix()}
		for name, value := range changes {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}
		return c
	}
	sign := func(method jwt.SigningMethod, key any, kid any, c jwt.MapClaims) string {
		t.Helper()
		token := jwt.NewWithClaims(method, c)
		if token.Header["kid"] = kid; kid == nil {
			delete(token.Header, "kid")
		}
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	if _, err := w.Authenticate(t.Context(), sign(jwt.SigningMethodHS256, testKey(1), kid, good(nil))); err != nil {
		t.Fatalf("the model of a good token does not prove: %v", err)
	}
	mac := func(changes jwt.MapClaims) string {
		return sign(jwt.SigningMethodHS256, testKey(1), kid, good(changes))
	}
	for name, token := range map[string]string{
		"bits behind the signature":         strayBits(mac(nil)),
		"alg none":                          sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, good(nil)),
		"RS256":                             sign(jwt.SigningMethodRS256, private, kid, good(nil)),
		"HS256 with an RSA public key":      sign(jwt.SigningMethodHS256, public, kid, good(nil)),
		"HS384":                             sign(jwt.SigningMethodHS384, testKey(1), kid, good(nil)),
		"HS512":                             sign(jwt.SigningMethodHS512, testKey(1), kid, good(nil)),
		"another key under our kid":         sign(jwt.SigningMethodHS256, testKey(9), kid, good(nil)),
		"unknown kid":                       sign(jwt.SigningMethodHS256, testKey(1), "0123456789abcdef", good(nil)),
		"no kid":                            sign(jwt.SigningMethodHS256, testKey(1), nil, good(nil)),
		"a kid that is no text":             sign(jwt.SigningMethodHS256, testKey(1), 7, good(nil)),
		"a kid that is a path":              sign(jwt.SigningMethodHS256, []byte(""), "../../../dev/null", good(nil)),
		"wrong audience":                    mac(jwt.MapClaims{"aud": "headgate/refresh"}),
		"no audience":                       mac(jwt.MapClaims{"aud": nil}),
		"wrong issuer":                      mac(jwt.MapClaims{"iss": "elsewhere"}),
		"no issuer":                         mac(jwt.MapClaims{"iss": nil}),
		"expired":                           mac(jwt.MapClaims{"exp": w.time().Add(-time.Second).Unix()}),
		"no expiry":                         mac(jwt.MapClaims{"exp": nil}),
		"an expiry that is no number":       mac(jwt.MapClaims{"exp": "tomorrow"}),
		"not valid yet":                     mac(jwt.MapClaims{"nbf": w.time().Add(time.Minute).Unix()}),
		"no session":                        mac(jwt.MapClaims{"sid": nil}),
		"a session that is not there":       mac(jwt.MapClaims{"sid": "AAAAAAAAAAAAAAAAAAAAAA"}),
		"a session with a space at the end": mac(jwt.MapClaims{"sid": p.SessionID + " "}),
		"truncated":                         g.Access[:len(g.Access)-1],
		"without its last part":             g.Access[:strings.LastIndex(g.Access, ".")],
		"padded":                            g.Access + "=",
		"twice":                             g.Access + "." + g.Access,
		"refresh token":                     g.Refresh,
	} {
		if _, err := w.Authenticate(t.Context(), token); model.CodeOf(err) != model.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
		if name == "refresh token" || name == "wrong audience" { // right for what follows
			continue
		}
		if _, err := w.Refresh(t.Context(), token, here); model.CodeOf(err) != model.CodeUnauthorized {
			t.Errorf("%s, as a refresh token: %v", name, err)
		}
	}
	proves(t, w.Service, g.Access, "the good one, after all of that")
}
