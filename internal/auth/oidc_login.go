package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/headgate/headgate/internal/model"
)

// Reasons in the history that the console translates.
const (
	reasonGroups   = "single sign-on groups" // of what a login's groups changed
	reasonSignOn   = "single sign-on"        // of a login
	reasonLocalOff = "local login is switched off"
)

// errLocalOff is the answer to a password where only single sign-on counts.
var errLocalOff = model.Errorf(model.CodeLocalLoginOff, "logging in with a password is switched off here; use the single sign-on")

// RefuseLocal refuses a login by password, whatever was typed, and records it. CodeLocalLoginOff.
func (s *Service) RefuseLocal(ctx context.Context, name string, c Client) error {
	if err := s.refuseLogin(ctx, name, reasonLocalOff, c); !errors.Is(err, errWrongLogin) {
		return err
	}
	return errLocalOff
}

// SignOn ends a login that OIDC.Begin began: sealed is what it gave the browser, answer the query that the provider sent
// it back with. It returns the session and the path where the login is to end. Every error is a *SignOnError; each
// refusal leaves a change row.
func (s *Service) SignOn(ctx context.Context, o *OIDC, sealed string, answer url.Values, c Client) (Grant, string, error) {
	who, f, refused := o.finish(ctx, sealed, answer)
	if refused == nil {
		var grant Grant
		if grant, refused = s.admit(ctx, o, who, c); refused == nil {
			return grant, f.ReturnTo, nil
		}
		refused.Name, refused.ReturnTo, refused.Ended = who.Name, f.ReturnTo, true
	}
	level := s.log.WarnContext
	if refused.Fault == FaultUnavailable || refused.Fault == FaultFailed {
		level = s.log.ErrorContext // an operator can do something about it
	}
	level(ctx, "single sign-on refused", "fault", refused.Fault, "reason", refused.Reason, "cause", refused.Cause,
		"address", c.Address, "request_id", c.RequestID)
	if err := s.refuseLogin(ctx, refused.Name, reasonSignOn+": "+refused.Reason, c); !errors.Is(err, errWrongLogin) {
		s.log.ErrorContext(ctx, "a refused single sign-on could not be recorded", "request_id", c.RequestID, "cause", err)
	}
	return Grant{}, "", refused
}

// admit gives a session to a person whom the provider has proved.
func (s *Service) admit(ctx context.Context, o *OIDC, who person, c Client) (Grant, *SignOnError) {
	in := o.signOn(who)
	if in.Name == model.SystemActor {
		in.Name = "" // it would read in the history as if nobody had done it
	}
	out, err := o.Store.SignOn(ctx, in, model.Origin{
		Actor: model.SystemActor, Reason: reasonGroups, Address: c.Address, RequestID: c.RequestID,
	})
	if err != nil {
		return Grant{}, refusedPerson(o, who, err)
	}
	if out.KeptAdmin {
		s.log.WarnContext(ctx, "the groups would have taken away the last admin, who stays one", "user", out.User.Name, "request_id", c.RequestID)
	}
	if len(out.UnknownApps) > 0 {
		s.log.WarnContext(ctx, "groups name apps that are not registered", "apps", out.UnknownApps, "user", out.User.Name, "request_id", c.RequestID)
	}
	grant, err := s.begin(ctx, out.User, reasonSignOn, c)
	if err != nil {
		return Grant{}, refusedPerson(o, who, err)
	}
	return grant, nil
}

// refusedPerson says in the history whom it concerns, so that an admin can link the person.
func refusedPerson(o *OIDC, who person, err error) *SignOnError {
	about := fmt.Sprintf("(subject %q of %s)", who.Subject, o.Issuer)
	switch model.CodeOf(err) {
	case model.CodeUnauthorized:
		return fault(FaultDisabled, nil, "the user is disabled %s", about)
	case model.CodeForbidden:
		return fault(FaultUninvited, nil, "nobody is linked to this person, and no user is made for it %s", about)
	case model.CodeTaken:
		return fault(FaultTaken, nil, "the name %s is another user's; if it is the same person, link them %s", who.Name, about)
	case model.CodeInvalid:
		return fault(FaultName, err, "the claim %s gives no user name %s", o.UsernameClaim, about)
	}
	return fault(FaultUnavailable, err, "the user could not be read or written %s", about)
}

// Available tells, without waiting long, whether the provider answers.
func (o *OIDC) Available(ctx context.Context) bool { return o.discovery.healthy(ctx, o) }
