package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// How often the provider's own description is read again.
const (
	discoverWithin = 5 * time.Second
	discoverAgain  = 10 * time.Minute // what is known is used on and renewed beside
	discoverPause  = 2 * time.Second  // after a failure, so that a dead provider is not hammered
	lookAgain      = 30 * time.Second // how old an answer about its health may be
	lookWait       = time.Second      // how long the login page waits for a newer one
)

// provider is what is known of an OpenID Connect provider.
type provider struct {
	*oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
	userinfo bool
	saysIss  bool // it names itself in each answer (RFC 9207), so an answer without is not its own
}

// discovery keeps the provider's description. One question at a time is under way, whoever waits for it.
type discovery struct {
	mu      sync.Mutex
	known   *provider // newest good one; nil before the first
	failure error     // of the newest question; nil when it went well
	asked   time.Time // when the newest question ended
	running chan struct{}
}

// current returns the provider, asking it when nothing is known yet.
func (d *discovery) current(ctx context.Context, o *OIDC) (*provider, error) {
	d.mu.Lock()
	age := o.Now().Sub(d.asked)
	if d.known != nil {
		defer d.mu.Unlock()
		if age > discoverAgain {
			d.ask(o)
		}
		return d.known, nil
	}
	if d.failure != nil && age < discoverPause {
		defer d.mu.Unlock()
		return nil, d.failure
	}
	done := d.ask(o)
	d.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		return nil, d.failure
	}
	return d.known, nil
}

// healthy tells whether the provider answered the newest question, which is asked anew when it is old.
func (d *discovery) healthy(ctx context.Context, o *OIDC) bool {
	d.mu.Lock()
	var done <-chan struct{}
	if d.asked.IsZero() || o.Now().Sub(d.asked) > lookAgain {
		done = d.ask(o)
	}
	d.mu.Unlock()
	if done != nil {
		timeout := time.NewTimer(lookWait)
		defer timeout.Stop()
		select {
		case <-done:
		case <-timeout.C:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known != nil && d.failure == nil
}

// ask begins a question, unless one is under way, and returns what is closed at its end. The caller holds the lock.
func (d *discovery) ask(o *OIDC) <-chan struct{} {
	if d.running != nil {
		return d.running
	}
	done := make(chan struct{})
	d.running = done
	go func() {
		found, err := o.discover()
		d.mu.Lock()
		defer d.mu.Unlock()
		switch {
		case err != nil && d.failure == nil:
			o.Log.Warn("the single sign-on's provider does not answer; it is asked again when somebody wants to log in", "issuer", o.Issuer, "error", err)
		case err == nil && d.failure != nil:
			o.Log.Info("the single sign-on's provider answers again", "issuer", o.Issuer)
		}
		if err == nil {
			d.known = found
		}
		d.failure, d.asked, d.running = err, o.Now(), nil
		close(done)
	}()
	return done
}

// discover reads the provider's description. It runs on its own time: those who wait may leave.
func (o *OIDC) discover() (*provider, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.Background(), o.client), discoverWithin)
	defer cancel()
	found, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, err
	}
	var more struct {
		AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
		SaysIss     bool     `json:"authorization_response_iss_parameter_supported"`
		JWKS        string   `json:"jwks_uri"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, err
	}
	endpoint := found.Endpoint()
	for _, address := range []string{endpoint.AuthURL, endpoint.TokenURL, more.JWKS} {
		if err := checkEndpoint(address); err != nil {
			return nil, fmt.Errorf("the provider's address %q %w", address, err)
		}
	}
	endpoint.AuthStyle = authStyle(o.ClientSecret, more.AuthMethods)
	return &provider{
		Provider: found, saysIss: more.SaysIss, userinfo: found.UserInfoEndpoint() != "",
		// The library allows no skew for the expiry; a clock set back by it does.
		verifier: found.Verifier(&oidc.Config{ClientID: o.ClientID, Now: func() time.Time { return o.Now().Add(-clockSkew) }}),
		oauth: oauth2.Config{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: endpoint, RedirectURL: o.Redirect, Scopes: o.Scopes,
		},
	}, nil
}

// authStyle says how the client proves itself. It is never tried out: a wrong try may use up the code.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	if secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// checkEndpoint is CheckProviderURL for addresses that may have a query.
func checkEndpoint(address string) error {
	for i := range len(address) {
		if address[i] == '?' {
			return CheckProviderURL(address[:i])
		}
	}
	return CheckProviderURL(address)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// providerClient talks to the provider: bounded in time and size, and it follows no redirect, which could carry a
// secret elsewhere.
func providerClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = providerWithin
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Timeout:       providerWithin,
		Transport:     boundedAnswers{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// boundedAnswers fails answers that are too long, for the libraries read them to the end.
type boundedAnswers struct{ next http.RoundTripper }

func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &boundedBody{answer.Body, providerBytes}
	return answer, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

var errLongAnswer = errors.New("the provider's answer is too long")

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongAnswer
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
