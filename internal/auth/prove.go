package auth

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// Why a login was refused, for the history; its caller is told none of them.
const (
	refusedUnknown  = "no such user"
	refusedPassword = "wrong password"
	refusedDisabled = "the user is disabled"
	refusedNoLocal  = "the user has no password here"
)

// prove checks a name and a password. The refusal is for the history only; "" means that the person is who it says.
// Whatever comes of it, exactly one hash is made, so that its time tells nothing.
func (s *Service) prove(ctx context.Context, name, password string) (user model.User, refusal string, err error) {
	queued, err := s.hasher.enter() // first, so that a flood does not keep everybody else from the database
	if err != nil {
		return user, "", err
	}
	defer queued.leave()
	user, err = s.store.User(ctx, name)
	unknown := model.CodeOf(err) == model.CodeNotFound
	if err != nil && !unknown {
		return user, "", err
	}
	hash, none := user.PasswordHash, user.PasswordHash == ""
	if unknown || none {
		hash = s.decoy
	}
	right, err := queued.verify(ctx, hash, password)
	switch {
	case err != nil:
		return user, "", err
	case unknown:
		return user, refusedUnknown, nil
	case none || user.Service:
		return user, refusedNoLocal, nil
	case !right:
		return user, refusedPassword, nil
	case user.Disabled:
		return user, refusedDisabled, nil
	}
	return user, "", nil
}

// upgradeHash hashes a password that was just proved anew when its hash was made at another cost than the present one.
// A failure is no failure of the login: the next one tries again.
func (s *Service) upgradeHash(ctx context.Context, user model.User, password string, c Client) {
	if s.hasher.isCurrent(user.PasswordHash) {
		return
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err == nil {
		origin := model.Origin{
			Actor: model.SystemActor, Reason: "hashed at the present cost", Address: c.Address, RequestID: c.RequestID,
		}
		err = s.store.RehashPassword(ctx, user.ID, user.PasswordHash, hash, origin)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a password could not be hashed anew at its login; the next one tries again",
			"user", user.Name, "request_id", c.RequestID, "cause", err)
	}
}

// ChangePassword replaces the caller's own password by a better one and ends its other sessions. A wrong present password
// counts as a failed login. CodeInvalid with field "current" or "password", CodeTooMany, CodeUnavailable, CodeStale when
// it was changed meanwhile, CodeUnauthorized for a caller without a session.
func (s *Service) ChangePassword(ctx context.Context, p Principal, current, password, reason string, c Client) error {
	if p.SessionID == "" {
		return errNoSession // an API token changes no password
	}
	switch err := CheckPassword(password, p.Name, p.DisplayName); {
	case err != nil:
		return err
	case password == current:
		return invalidPassword("password", "must not be the present one")
	}
	giveBack, err := s.limits.Take(ctx, p.Name, c.Address)
	if err != nil {
		s.noteHeldOff(ctx, p.Name, c)
		return err
	}
	user, refusal, err := s.prove(ctx, p.Name, current)
	if err != nil {
		giveBack()
		return err
	}
	switch refusal {
	case "":
		giveBack()
	case refusedNoLocal:
		giveBack()
		return invalidPassword("current", "can't be right: this user has no password here; an admin can set one")
	default:
		if err := s.recorder.Record(ctx, s.change(model.ActionLoginRefused, p.Name, refusal+", to change it", c)); err != nil {
			return err
		}
		return invalidPassword("current", "is not the current password")
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	origin := model.Origin{Actor: p.Name, Reason: reason, Address: c.Address, RequestID: c.RequestID}
	return s.store.ChangePassword(ctx, user.ID, user.PasswordHash, hash, p.SessionID, origin)
}

func invalidPassword(field, rule string) error {
	return &model.Error{
		Code: model.CodeInvalid, Message: "the password was not changed", Fields: []model.FieldError{model.Broken(field, "%s", rule)},
	}
}
