package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// SignOnFault is why a single sign-on did not end in a session. The console has a sentence for each.
type SignOnFault string

// The faults.
const (
	FaultStale       SignOnFault = "stale"       // begun too long ago, in another browser, or ended already: begin again
	FaultDenied      SignOnFault = "denied"      // the person or the provider said no
	FaultUnavailable SignOnFault = "unavailable" // the provider or a part of ours does not answer
	FaultFailed      SignOnFault = "failed"      // the provider's answer can't be trusted, or the settings do not fit it
	FaultDisabled    SignOnFault = "disabled"    // the user is disabled
	FaultUninvited   SignOnFault = "uninvited"   // nobody is linked, and no user may be made
	FaultTaken       SignOnFault = "taken"       // the name is another user's; an admin may link them
	FaultName        SignOnFault = "name"        // the provider's name is no user name
)

// SignOnError is a refused single sign-on. Reason is for the history and the log, never for the browser.
type SignOnError struct {
	Fault    SignOnFault
	Reason   string
	Name     string // what the provider calls the person; "" before that is proved
	ReturnTo string // where the login was to end; "" when that is not known
	// Ended says that the login in progress is used up, so that the browser can forget it.
	Ended bool
	Cause error
}

func (e *SignOnError) Error() string {
	if e.Cause == nil {
		return string(e.Fault) + ": " + e.Reason
	}
	return fmt.Sprintf("%s: %s: %v", e.Fault, e.Reason, e.Cause)
}

func (e *SignOnError) Unwrap() error { return e.Cause }

func fault(f SignOnFault, cause error, format string, args ...any) *SignOnError {
	return &SignOnError{Fault: f, Reason: fmt.Sprintf(format, args...), Cause: cause}
}

// finish proves who came back from the provider. sealed is what Begin gave the browser, answer the query that the
// provider sent it back with.
func (o *OIDC) finish(ctx context.Context, sealed string, answer url.Values) (person, flow, *SignOnError) {
	f, refused := o.flowOf(sealed, answer.Get("state"))
	if refused != nil {
		return person{}, flow{}, refused
	}
	who, refused := o.redeem(ctx, f, answer)
	if refused != nil {
		refused.ReturnTo, refused.Ended = f.ReturnTo, true
	}
	return who, f, refused
}

// flowOf opens a login in progress and checks that this answer belongs to it.
func (o *OIDC) flowOf(sealed, state string) (flow, *SignOnError) {
	if sealed == "" {
		return flow{}, fault(FaultStale, nil, "no login is in progress in this browser")
	}
	f, err := o.seal.open(sealed)
	switch {
	case err != nil:
		return flow{}, fault(FaultStale, err, "the login in progress was altered")
	case subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) != 1:
		return flow{}, fault(FaultStale, nil, "the answer belongs to another login (state)")
	case !o.Now().Before(time.Unix(f.Expires, 0)):
		return flow{}, fault(FaultStale, nil, "the login took too long")
	}
	return f, nil
}

// redeem exchanges the provider's code for tokens and proves the ID token.
func (o *OIDC) redeem(ctx context.Context, f flow, answer url.Values) (person, *SignOnError) {
	p, err := o.discovery.current(ctx, o)
	if err != nil {
		return person{}, fault(FaultUnavailable, err, "the provider does not answer")
	}
	// Two providers can't be mixed up: an answer names the one that it comes from.
	if iss := answer.Get("iss"); iss != o.Issuer && (iss != "" || p.saysIss) {
		return person{}, fault(FaultFailed, nil, "the answer comes from another provider (iss)")
	}
	if code := answer.Get("error"); code != "" {
		return person{}, o.refusedBy(code, answer.Get("error_description"))
	}
	if answer.Get("code") == "" {
		return person{}, fault(FaultFailed, nil, "the answer has no code")
	}
	select {
	case o.exchanges <- struct{}{}:
		defer func() { <-o.exchanges }()
	default:
		return person{}, fault(FaultUnavailable, nil, "too many logins at once")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client), providerWithin)
	defer cancel()
	tokens, err := p.oauth.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return person{}, refusedExchange(err)
	}
	token, refused := o.prove(ctx, p, f, tokens)
	if refused != nil {
		return person{}, refused
	}
	return o.describe(ctx, p, token, tokens)
}

// refusedBy turns the provider's own refusal into ours. Its description is for the log only: anybody may have written
// it into the address.
func (o *OIDC) refusedBy(code, description string) *SignOnError {
	cause := fmt.Errorf("%.200q: %.500q", code, description)
	switch code {
	case "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required":
		return fault(FaultDenied, cause, "the login was ended at the provider (%s)", code)
	case "temporarily_unavailable", "server_error":
		return fault(FaultUnavailable, cause, "the provider could not work (%s)", code)
	}
	return fault(FaultFailed, cause, "the provider refuses the request")
}

func refusedExchange(err error) *SignOnError {
	var refusal *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refusal):
		return fault(FaultUnavailable, err, "the provider did not answer for the code")
	case refusal.ErrorCode == "invalid_grant":
		return fault(FaultStale, err, "the provider does not take the code: it is used, too old or another login's")
	case refusal.Response != nil && refusal.Response.StatusCode >= http.StatusInternalServerError:
		return fault(FaultUnavailable, err, "the provider could not work")
	}
	return fault(FaultFailed, err, "the provider refuses this installation: check the client id and the secret")
}

// prove checks the ID token: signature, issuer, audience, life, and that it was made for this very login.
func (o *OIDC) prove(ctx context.Context, p *provider, f flow, tokens *oauth2.Token) (*oidc.IDToken, *SignOnError) {
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return nil, fault(FaultFailed, nil, "the provider sent no ID token")
	}
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fault(FaultUnavailable, err, "the provider's keys could not be read in time")
		}
		return nil, fault(FaultFailed, err, "the ID token is not good")
	}
	var party struct {
		Authorized string `json:"azp"`
	}
	if err := token.Claims(&party); err != nil {
		return nil, fault(FaultFailed, err, "the ID token can't be read")
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1:
		return nil, fault(FaultFailed, nil, "the ID token was made for another login (nonce)")
	case party.Authorized != "" && party.Authorized != o.ClientID:
		return nil, fault(FaultFailed, nil, "the ID token was made for another application (azp)")
	case token.IssuedAt.After(o.Now().Add(clockSkew)):
		return nil, fault(FaultFailed, nil, "the ID token is from the future: a clock is wrong")
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(tokens.AccessToken); err != nil {
			return nil, fault(FaultFailed, err, "the access token does not belong to the ID token")
		}
	}
	return token, nil
}
