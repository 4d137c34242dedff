package auth_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// wicked is a provider that can lie in every way that a real one would not. What it says when it is left alone is true.
type wicked struct {
	*httptest.Server
	key      *rsa.PrivateKey
	now      func() time.Time
	describe map[string]any             // laid over its description of itself
	claims   map[string]any             // laid over the ID token's claims; nil removes one
	sign     func(jwt.MapClaims) string // how the ID token is made
	tokens   http.HandlerFunc           // in place of the token endpoint
	info     map[string]any             // what userinfo tells; nil: there is none
	nonce    string                     // of the login in progress
}

const wickedClient = "headgate-client"

var wickedKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newWicked(t *testing.T, now func() time.Time) *wicked {
	t.Helper()
	p := &wicked{key: wickedKey(), now: now}
	p.sign = func(c jwt.MapClaims) string { return p.signed(jwt.SigningMethodRS256, p.key, c) }
	routes := http.NewServeMux()
	routes.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		about := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		}
		if p.info != nil {
			about["userinfo_endpoint"] = p.URL + "/me"
		}
		maps.Copy(about, p.describe)
		answerJSON(w, about)
	})
	routes.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, p.keys()) })
	routes.HandleFunc("GET /me", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, p.info) })
	routes.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if p.tokens != nil {
			p.tokens(w, r)
			return
		}
		answerJSON(w, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": p.sign(p.true())})
	})
	p.Server = httptest.NewServer(routes)
	t.Cleanup(p.Close)
	return p
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// true is the ID token's claims, with what the test lays over them.
func (p *wicked) true() jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": p.URL, "sub": "u-1", "aud": wickedClient, "exp": p.now().Add(time.Minute).Unix(), "iat": p.now().Unix(), "nonce": p.nonce,
		"preferred_username": "nina", "groups": []string{"staff"},
	}
	for name, value := range p.claims {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func (p *wicked) signed(method jwt.SigningMethod, key any, c jwt.MapClaims) string {
	token := jwt.NewWithClaims(method, c)
	token.Header["kid"] = "k"
	text, err := token.SignedString(key)
	if err != nil {
		panic(err)
	}
	return text
}

func (p *wicked) keys() map[string]any {
	number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	return map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "kid": "k", "use": "sig", "n": number(p.key.N), "e": number(big.NewInt(int64(p.key.E))),
	}}}
}

// oidc is a single sign-on at the provider.
func (w *world) oidc(t *testing.T, p *wicked, change ...func(*auth.OIDCConfig)) *auth.OIDC {
	t.Helper()
	c := auth.OIDCConfig{
		Store: w.store, Issuer: p.URL, ClientID: wickedClient, ClientSecret: "secret", Redirect: "https://headgate.test/callback",
		Key: testKey(9), Now: w.time, Roles: map[string]model.Role{"staff": model.RoleMember, "chiefs": model.RoleAdmin},
	}
	for _, f := range change {
		f(&c)
	}
	o, err := auth.NewOIDC(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// signOn goes to the provider and comes back with a code.
func (w *world) signOn(t *testing.T, o *auth.OIDC, p *wicked) (auth.Grant, *auth.SignOnError) {
	t.Helper()
	begun, err := o.Begin(t.Context(), "/buckets")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.nonce = u.Query().Get("nonce")
	grant, returnTo, err := w.SignOn(t.Context(), o, begun.Flow, url.Values{"code": {"code"}, "state": {u.Query().Get("state")}}, here)
	var refused *auth.SignOnError
	if errors.As(err, &refused) {
		return grant, refused
	}
	if err != nil || returnTo != "/buckets" {
		t.Fatalf("the login ended at %q with %v", returnTo, err)
	}
	return grant, nil
}

// Nothing that a liar, or somebody between us and the provider, could put into a token opens the door.
func TestATokenThatIsNotTheProvidersForThisLoginIsRefused(t *testing.T) {
	w := newWorld(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) int64 { return w.time().Add(d).Unix() }
	for name, lie := range map[string]func(*wicked){
		"unsigned": func(p *wicked) {
			p.sign = func(c jwt.MapClaims) string {
				return p.signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, c)
			}
		},
		"signed with the public key as a secret": func(p *wicked) {
			p.sign = func(c jwt.MapClaims) string { return p.signed(jwt.SigningMethodHS256, p.key.N.Bytes(), c) }
		},
		"signed with the client's secret": func(p *wicked) {
			p.sign = func(c jwt.MapClaims) string { return p.signed(jwt.SigningMethodHS256, []byte("secret"), c) }
		},
		"signed by another": func(p *wicked) {
			p.sign = func(c jwt.MapClaims) string { return p.signed(jwt.SigningMethodRS256, other, c) }
		},
		"truncated": func(p *wicked) {
			p.sign = func(c jwt.MapClaims) string { s := p.signed(jwt.SigningMethodRS256, p.key, c); return s[:len(s)-20] }
		},
		"missing":              func(p *wicked) { p.sign = func(jwt.MapClaims) string { return "" } },
		"of another provider":  func(p *wicked) { p.claims = map[string]any{"iss": "https://evil.test"} },
		"for another":          func(p *wicked) { p.claims = map[string]any{"aud": "somebody-else"} },
		"given to another":     func(p *wicked) { p.claims = map[string]any{"aud": []string{wickedClient, "else"}, "azp": "else"} },
		"of another login":     func(p *wicked) { p.claims = map[string]any{"nonce": "another"} },
		"without a nonce":      func(p *wicked) { p.claims = map[string]any{"nonce": nil} },
		"expired":              func(p *wicked) { p.claims = map[string]any{"exp": at(-61 * time.Second), "iat": at(-10 * time.Minute)} },
		"from the future":      func(p *wicked) { p.claims = map[string]any{"iat": at(62 * time.Second)} },
		"not good yet":         func(p *wicked) { p.claims = map[string]any{"nbf": at(10 * time.Minute)} },
		"of a wrong access":    func(p *wicked) { p.claims = map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"} },
		"without a subject":    func(p *wicked) { p.claims = map[string]any{"sub": nil} },
		"with a huge subject":  func(p *wicked) { p.claims = map[string]any{"sub": strings.Repeat("x", 256)} },
		"with groups of rooms": func(p *wicked) { p.claims = map[string]any{"groups": map[string]any{"a": 1}} },
		"with groups left out": func(p *wicked) {
			p.claims = map[string]any{"groups": nil, "_claim_names": map[string]string{"groups": "src"}, "_claim_sources": map[string]any{"src": map[string]string{"endpoint": "https://evil.test/"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newWicked(t, w.time)
			lie(p)
			grant, refused := w.signOn(t, w.oidc(t, p), p)
			if refused == nil || grant.Access != "" {
				t.Fatalf("logged in as %s", grant.Name)
			}
			if refused.Fault != auth.FaultFailed && refused.Fault != auth.FaultName {
				t.Errorf("fault %s (%v)", refused.Fault, refused)
			}
		})
	}
	users, err := w.store.CountUsers(t.Context())
	if err != nil || users != 0 {
		t.Errorf("the lies made %d users (%v)", users, err)
	}
}

// Clocks differ by up to a minute.
func TestAMinuteOfSkewIsForgiven(t *testing.T) {
	w := newWorld(t)
	p := newWicked(t, w.time)
	for name, skew := range map[string]time.Duration{"behind": -59 * time.Second, "ahead": 59 * time.Second} {
		p.claims = map[string]any{"exp": w.time().Add(skew).Unix(), "iat": w.time().Add(min(skew, 59*time.Second)).Unix()}
		if _, refused := w.signOn(t, w.oidc(t, p), p); refused != nil {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

func TestWhatTheProviderTellsBecomesAUser(t *testing.T) {
	for name, test := range map[string]struct {
		claims, info map[string]any
		change       func(*auth.OIDCConfig)
		fault        auth.SignOnFault
		user         string
		role         model.Role
	}{
		"one group as a text":          {claims: map[string]any{"groups": "chiefs"}, user: "nina", role: model.RoleAdmin},
		"the highest role counts":      {claims: map[string]any{"groups": []string{"chiefs", "staff", "x"}}, user: "nina", role: model.RoleAdmin},
		"no groups at all":             {claims: map[string]any{"groups": nil}, fault: auth.FaultUninvited},
		"groups that differ in case":   {claims: map[string]any{"groups": []string{"Chiefs"}}, fault: auth.FaultUninvited},
		"groups in userinfo":           {claims: map[string]any{"groups": nil}, info: map[string]any{"sub": "u-1", "groups": []string{"chiefs"}}, user: "nina", role: model.RoleAdmin},
		"userinfo of another":          {claims: map[string]any{"groups": nil}, info: map[string]any{"sub": "u-2", "groups": []string{"chiefs"}}, fault: auth.FaultFailed},
		"the token before userinfo":    {claims: map[string]any{"preferred_username": nil}, info: map[string]any{"sub": "u-1", "preferred_username": "Nina.N", "groups": []string{"chiefs"}}, user: "nina.n", role: model.RoleMember},
		"a display name of many lines": {claims: map[string]any{"name": "Nina\r\nSet-Cookie: x\x00" + strings.Repeat("é", 200)}, user: "nina", role: model.RoleMember},
		"a mail address": {
			claims: map[string]any{"email": "Nina@Example.com", "email_verified": true}, change: func(c *auth.OIDCConfig) { c.UsernameClaim = "email" },
			user: "nina@example.com", role: model.RoleMember,
		},
		"a mail address that is not verified": {
			claims: map[string]any{"email": "boss@example.com", "email_verified": false}, change: func(c *auth.OIDCConfig) { c.UsernameClaim = "email" }, fault: auth.FaultName,
		},
		"a name that is a number": {claims: map[string]any{"preferred_username": 7}, fault: auth.FaultName},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := newWicked(t, w.time)
			p.claims, p.info = test.claims, test.info
			var change []func(*auth.OIDCConfig)
			if test.change != nil {
				change = append(change, test.change)
			}
			grant, refused := w.signOn(t, w.oidc(t, p, change...), p)
			switch {
			case test.fault != "" && (refused == nil || refused.Fault != test.fault):
				t.Errorf("refused %v, want %s", refused, test.fault)
			case test.fault == "" && (refused != nil || grant.Name != test.user || grant.Role != test.role):
				t.Errorf("logged in as %s %s (%v), want %s %s", grant.Name, grant.Role, refused, test.user, test.role)
			case strings.ContainsAny(grant.DisplayName, "\r\n\x00") || len([]rune(grant.DisplayName)) > 100:
				t.Errorf("display name %q", grant.DisplayName)
			}
		})
	}
}

// A provider that answers without end, elsewhere, in the clear or not at all costs a bounded time and no secret.
func TestAProviderThatMisbehavesIsUnavailable(t *testing.T) {
	elsewhere := 0
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere++
		answerJSON(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": "x"})
	}))
	defer thief.Close()
	w := newWorld(t)
	for name, test := range map[string]struct {
		lie   func(*wicked)
		fault auth.SignOnFault
	}{
		"leads elsewhere with the secret": {func(p *wicked) {
			p.tokens = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
			}
		}, auth.FaultFailed},
		"answers without end": {func(p *wicked) {
			p.tokens = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token":"`))
				for range 64 {
					if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
						return
					}
				}
			}
		}, auth.FaultUnavailable},
		"fails": {func(p *wicked) {
			p.tokens = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) }
		}, auth.FaultUnavailable},
		"does not know us": {func(p *wicked) {
			p.tokens = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
			}
		}, auth.FaultFailed},
	} {
		t.Run(name, func(t *testing.T) {
			p := newWicked(t, w.time)
			test.lie(p)
			if _, refused := w.signOn(t, w.oidc(t, p), p); refused == nil || refused.Fault != test.fault {
				t.Errorf("refused %v, want %s", refused, test.fault)
			}
		})
	}
	if elsewhere != 0 {
		t.Errorf("%d requests went where the provider led them", elsewhere)
	}
	for name, about := range map[string]map[string]any{
		"another issuer": {"issuer": "https://evil.test"}, "tokens in the clear": {"token_endpoint": "http://evil.test/token"},
		"keys in the clear": {"jwks_uri": "http://evil.test/keys"}, "a page in the clear": {"authorization_endpoint": "http://evil.test/auth"},
		"a description without end": {"x": strings.Repeat("x", 2<<20)},
	} {
		p := newWicked(t, w.time)
		p.describe = about
		o := w.oidc(t, p)
		if _, err := o.Begin(t.Context(), "/"); model.CodeOf(err) != model.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
		if o.Available(t.Context()) {
			t.Errorf("%s is called available", name)
		}
	}
}

// While the provider hangs, the login page waits a second for it and no longer, and one question at a time is asked.
func TestAHangingProviderHoldsNobodyUp(t *testing.T) {
	asked := make(chan struct{}, 100)
	let := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-let:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(let)
	w := newWorld(t)
	o := w.oidc(t, &wicked{Server: hanging})
	start := time.Now()
	done := make(chan bool)
	for range 20 {
		go func() { done <- o.Available(context.Background()) }()
	}
	for range 20 {
		if <-done {
			t.Error("a hanging provider is called available")
		}
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the answer took %v", took)
	}
	if len(asked) != 1 {
		t.Errorf("%d questions at once", len(asked))
	}
}

func TestALoginInProgressEnds(t *testing.T) {
	w := newWorld(t)
	p := newWicked(t, w.time)
	o := w.oidc(t, p)
	begun, err := o.Begin(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(begun.URL)
	w.pass(auth.FlowLife)
	_, _, err = w.SignOn(t.Context(), o, begun.Flow, url.Values{"code": {"c"}, "state": {u.Query().Get("state")}}, here)
	var refused *auth.SignOnError
	if !errors.As(err, &refused) || refused.Fault != auth.FaultStale {
		t.Errorf("after %v: %v", auth.FlowLife, err)
	}
	// Sealed by another deployment's key.
	foreign := w.oidc(t, p, func(c *auth.OIDCConfig) { c.Key = testKey(8) })
	begun, err = foreign.Begin(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	u, _ = url.Parse(begun.URL)
	_, _, err = w.SignOn(t.Context(), o, begun.Flow, url.Values{"code": {"c"}, "state": {u.Query().Get("state")}}, here)
	if !errors.As(err, &refused) || refused.Fault != auth.FaultStale {
		t.Errorf("with another's key: %v", err)
	}
}

func TestProviderURLsMustKeepSecrets(t *testing.T) {
	for address, good := range map[string]bool{
		"https://login.example.com": true, "https://login.example.com/realms/a": true, "http://127.0.0.1:5556/dex": true, "http://localhost": true, "http://[::1]:1": true,
		"http://login.example.com": false, "http://127.0.0.1.evil.test": false, "login.example.com": false, "https://": false, "ftp://x": false,
		"https://u:p@x": false, "https://x?y=z": false, "https://x#y": false, "": false,
	} {
		if err := auth.CheckProviderURL(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzLocalPathNeverLeadsAway(f *testing.F) {
	for _, seed := range []string{"/a?b=c", "//evil.test", `/\evil.test`, "/%2f/evil", "https://evil.test", "/api/x", "/a/../../api", "/ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got := auth.LocalPath(path)
		base, _ := url.Parse("https://headgate.test/login")
		u, err := base.Parse(got)
		if err != nil || u.Host != "headgate.test" || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\r\n") {
			t.Errorf("%q led to %q (%v)", path, got, err)
		}
	})
}
