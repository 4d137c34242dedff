package auth

import (
	"context"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Client is where a request comes from, for the history.
type Client struct {
	Address   string
	UserAgent string
	RequestID string
}

// Grant is what a login or a refresh hands out.
type Grant struct {
	Principal
	Access        string
	AccessExpires time.Time
	// Refresh is the new refresh token; "" says that the caller's other tab has just been given it.
	Refresh        string
	RefreshExpires time.Time
}

// One refusal for every reason, so that it tells nothing about which names exist.
var (
	errWrongLogin = model.Errorf(model.CodeUnauthorized, "the name or the password is wrong")
	errNoSession  = model.Errorf(model.CodeUnauthorized, "log in first")
)

// Login proves a password and makes a session. CodeUnauthorized for a wrong name or password and for a disabled user
// alike, and as slowly; CodeTooMany after too many failures and when too many log in at once.
func (s *Service) Login(ctx context.Context, name, password string, c Client) (Grant, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	giveBack, err := s.limits.Take(ctx, name, c.Address)
	if err != nil {
		s.noteHeldOff(ctx, name, c)
		return Grant{}, err
	}
	user, refusal, err := s.prove(ctx, name, password)
	if err != nil {
		giveBack()
		return Grant{}, err
	}
	if refusal != "" {
		return Grant{}, s.refuseLogin(ctx, name, refusal, c)
	}
	grant, err := s.begin(ctx, user, "", c)
	if model.CodeOf(err) == model.CodeUnauthorized { // disabled or removed in this very moment
		return Grant{}, s.refuseLogin(ctx, name, refusedDisabled, c)
	}
	giveBack()
	if err == nil {
		s.upgradeHash(ctx, user, password, c)
	}
	return grant, err
}

// refuseLogin records a refusal. What was typed as a name is kept only if it may be one: it may be a password.
func (s *Service) refuseLogin(ctx context.Context, name, reason string, c Client) error {
	if !model.ValidUserName(name) {
		name = ""
	}
	s.log.WarnContext(ctx, "login refused", "user", name, "reason", reason, "address", c.Address, "request_id", c.RequestID)
	if err := s.recorder.Record(ctx, s.change(model.ActionLoginRefused, name, reason, c)); err != nil {
		return err
	}
	return errWrongLogin
}

// begin makes a session and its first tokens; how is the reason in the history.
func (s *Service) begin(ctx context.Context, user model.User, how string, c Client) (Grant, error) {
	now := s.now().UTC()
	session := model.Session{
		ID: randomText(16), UserID: user.ID, CreatedAt: now, RotatedAt: now, ExpiresAt: now.Add(SessionIdle),
		Address: c.Address, UserAgent: c.UserAgent,
	}
	grant, err := s.grant(user, session, session.ExpiresAt)
	if err != nil {
		return Grant{}, err
	}
	session.RefreshHash = tokenHash(grant.Refresh)
	if err := s.store.CreateSession(ctx, session, s.change(model.ActionLogin, user.Name, how, c)); err != nil {
		return Grant{}, err
	}
	return grant, nil
}

// Refresh exchanges a refresh token for new tokens. CodeUnauthorized when it is not the newest of a living session; an
// old one that comes back ends the session, since one of the two that had it is a thief.
func (s *Service) Refresh(ctx context.Context, refresh string, c Client) (Grant, error) {
	id, err := s.sessionOf(ctx, audienceRefresh, refresh)
	if err != nil {
		return Grant{}, errNoSession
	}
	session, user, err := s.living(ctx, id)
	if err != nil {
		return Grant{}, err
	}
	now := s.now().UTC()
	expires := earlier(now.Add(SessionIdle), session.CreatedAt.Add(SessionMaxLife))
	grant, err := s.grant(user, session, expires)
	if err != nil {
		return Grant{}, err
	}
	result, err := s.store.RotateSession(ctx, id, tokenHash(refresh), tokenHash(grant.Refresh), now, expires)
	switch {
	case model.CodeOf(err) == model.CodeNotFound:
		return Grant{}, errNoSession
	case err != nil:
		return Grant{}, err
	case result == model.Rotated:
		return grant, nil
	case result == model.RotateConcurrent:
		grant.Refresh, grant.RefreshExpires = "", time.Time{}
		return grant, nil
	}
	s.log.WarnContext(ctx, "an old refresh token came back; its session is ended", "user", user.Name, "address", c.Address, "request_id", c.RequestID)
	reused := s.change(model.ActionTokenReused, user.Name, "an old refresh token came back; its session was ended", c)
	if err := s.store.DeleteSession(ctx, id, reused); err != nil {
		return Grant{}, err
	}
	return Grant{}, errNoSession
}

// Logout ends the session that either token names; tokens that prove nothing end nothing, and are no error.
func (s *Service) Logout(ctx context.Context, access, refresh string, c Client) error {
	id := s.named(ctx, access, refresh)
	if id == "" {
		return nil
	}
	_, user, err := s.store.Session(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return s.store.DeleteSession(ctx, id, s.change(model.ActionLogout, user.Name, "", c))
}

// named returns the session that either token names, "" when neither proves one.
func (s *Service) named(ctx context.Context, access, refresh string) string {
	id, err := s.sessionOf(ctx, audienceAccess, access)
	if err != nil {
		id, _ = s.sessionOf(ctx, audienceRefresh, refresh)
	}
	return id
}

// Authenticate says who is behind an access token. It reads the session and the user each time, so that a logout, a
// disabled user and a changed role count at once. CodeUnauthorized otherwise.
func (s *Service) Authenticate(ctx context.Context, access string) (Principal, error) {
	id, err := s.sessionOf(ctx, audienceAccess, access)
	if err != nil {
		return Principal{}, errNoSession
	}
	session, user, err := s.living(ctx, id)
	if err != nil {
		return Principal{}, err
	}
	return principal(user, session), nil
}

// HashPassword checks a new password as CheckPassword does, with the names of its user, and encodes it. CodeInvalid with
// field "password", CodeUnavailable.
func (s *Service) HashPassword(ctx context.Context, password string, names ...string) (string, error) {
	if err := CheckPassword(password, names...); err != nil {
		return "", err
	}
	return s.hasher.Hash(ctx, password)
}

// living returns a session that is good now, with a user who may use it.
func (s *Service) living(ctx context.Context, id string) (model.Session, model.User, error) {
	session, user, err := s.store.Session(ctx, id)
	if model.CodeOf(err) == model.CodeNotFound {
		return session, user, errNoSession
	}
	if err != nil {
		return session, user, err
	}
	if user.Disabled || !s.now().Before(session.ExpiresAt) {
		return session, user, errNoSession
	}
	return session, user, nil
}

// grant signs a pair of tokens; the access token never outlives the session.
func (s *Service) grant(user model.User, session model.Session, expires time.Time) (Grant, error) {
	g := Grant{
		Principal:      principal(user, session),
		AccessExpires:  earlier(s.now().Add(AccessLife), expires),
		RefreshExpires: expires,
	}
	var err error
	if g.Access, err = s.tokens.sign(audienceAccess, session.ID, g.AccessExpires); err != nil {
		return Grant{}, err
	}
	g.Refresh, err = s.tokens.sign(audienceRefresh, session.ID, expires)
	return g, err
}

func (s *Service) change(action model.Action, user, reason string, c Client) model.Change {
	return model.Change{
		At: s.now().UTC(), Actor: user, Action: action, TargetKind: model.TargetUser, Target: user,
		Reason: reason, Address: c.Address, RequestID: c.RequestID,
	}
}

func principal(user model.User, session model.Session) Principal {
	return Principal{
		UserID: user.ID, Name: user.Name, DisplayName: user.DisplayName, Role: user.Role,
		Revision: user.Revision, SessionID: session.ID,
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
