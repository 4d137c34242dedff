package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/headgate/headgate/internal/model"
)

// Defaults and bounds of single sign-on.
const (
	DefaultUsernameClaim = "preferred_username"
	DefaultGroupsClaim   = "groups"
	// FlowLife is how long one may take at the provider, from the button to the way back.
	FlowLife = 10 * time.Minute

	clockSkew      = time.Minute      // the provider's clock may be this far off
	providerWithin = 10 * time.Second // for one answer of the provider
	providerBytes  = 1 << 20          // of one answer of the provider
	exchangesMost  = 32               // logins that ask the provider at the same time; more are sent away
)

// SignOnStore is what single sign-on needs of the database.
type SignOnStore interface {
	// SignOn finds or makes the user and gives it what its groups give. CodeUnauthorized: disabled; CodeForbidden: nobody
	// is linked and none may be made; CodeTaken: the name is another's; CodeInvalid: it is no name.
	SignOn(ctx context.Context, in model.SignOn, o model.Origin) (model.SignedOn, error)
}

// FlowKeyStore keeps the key that seals logins in progress where every server reads the same one.
type FlowKeyStore interface {
	SignOnKey(ctx context.Context, fresh []byte) ([]byte, error)
}

// LoadFlowKey returns the deployment's key for logins in progress, making one at the first start.
func LoadFlowKey(ctx context.Context, keys FlowKeyStore) ([]byte, error) {
	fresh := make([]byte, KeyBytes)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	return keys.SignOnKey(ctx, fresh)
}

// GroupApp says that a group of the provider makes its people members of an app.
type GroupApp struct {
	Group string
	App   string
	Role  model.AppRole
}

// Admission says for whom a user is made at the first login.
type Admission string

// The admissions.
const (
	AdmitMapped   Admission = "mapped" // who is in a group that gives a role or an app
	AdmitEveryone Admission = "on"     // everybody whom the provider lets through
	AdmitNobody   Admission = "off"    // nobody: an admin makes the user and links it
)

// OIDCConfig says how people log in at an OpenID Connect provider.
type OIDCConfig struct {
	Store SignOnStore

	Issuer       string // as the provider writes it, byte for byte; https, or http on the loopback
	ClientID     string
	ClientSecret string // empty for a public client
	Name         string // what the login page calls the provider
	Redirect     string // absolute URL of the callback, as registered at the provider
	Scopes       []string

	UsernameClaim string // names a new user
	GroupsClaim   string

	Roles map[string]model.Role // by group; empty: roles are given by hand only
	Apps  []GroupApp            // empty: memberships are given by hand only
	Admit Admission             // "" = AdmitMapped

	Key []byte           // of KeyBytes, the same on all servers; seals a login in progress
	Log *slog.Logger     // nil: slog.Default()
	Now func() time.Time // nil: time.Now
}

// OIDC logs people in at an OpenID Connect provider by the authorization code flow with PKCE. It asks the provider only
// when somebody wants to log in, so that the server starts and runs without it. It is safe for concurrent use.
type OIDC struct {
	OIDCConfig
	discovery discovery
	seal      *sealer
	client    *http.Client
	exchanges chan struct{}
}

// NewOIDC makes the single sign-on. It fails on settings that can't work, and asks nobody.
func NewOIDC(c OIDCConfig) (*OIDC, error) {
	if c.Store == nil || c.Issuer == "" || c.ClientID == "" || c.Redirect == "" {
		return nil, errors.New("single sign-on needs a store, an issuer, a client id and a redirect URL")
	}
	if err := CheckProviderURL(c.Issuer); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.UsernameClaim == "" {
		c.UsernameClaim = DefaultUsernameClaim
	}
	if c.GroupsClaim == "" {
		c.GroupsClaim = DefaultGroupsClaim
	}
	if c.Admit == "" {
		c.Admit = AdmitMapped
	}
	if !slices.Contains(c.Scopes, "openid") {
		c.Scopes = append([]string{"openid"}, c.Scopes...)
	}
	seal, err := newSealer(c.Key)
	if err != nil {
		return nil, err
	}
	return &OIDC{OIDCConfig: c, seal: seal, client: providerClient(), exchanges: make(chan struct{}, exchangesMost)}, nil
}

// CheckProviderURL refuses an address over which tokens would travel in the clear.
func CheckProviderURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("must be a URL without a query, such as https://login.example.com")
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("must begin with https://; plain http is for the loopback only")
}

// Begun is a login that goes on at the provider.
type Begun struct {
	URL     string // send the browser there
	Flow    string // keep this in the browser until it comes back; it is sealed
	Expires time.Time
}

// Begin starts a login that is to end at returnTo, a path of the console. CodeUnavailable when the provider does not
// answer.
func (o *OIDC) Begin(ctx context.Context, returnTo string) (Begun, error) {
	p, err := o.discovery.current(ctx, o)
	if err != nil {
		return Begun{}, unavailableProvider(err)
	}
	expires := o.Now().Add(FlowLife)
	f := flow{
		State: randomText(32), Nonce: randomText(32), Verifier: oauth2.GenerateVerifier(), ReturnTo: LocalPath(returnTo),
		Expires: expires.Unix(),
	}
	sealed, err := o.seal.close(f)
	if err != nil {
		return Begun{}, err
	}
	address := p.oauth.AuthCodeURL(f.State, oauth2.SetAuthURLParam("nonce", f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	return Begun{URL: address, Flow: sealed, Expires: expires}, nil
}

func unavailableProvider(cause error) error {
	return &model.Error{Code: model.CodeUnavailable, Message: "the single sign-on does not answer now", Cause: cause}
}
