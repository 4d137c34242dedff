package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Session is one login as its user or an admin sees it.
type Session struct {
	ID         string    `json:"id" doc:"names the session here; it opens nothing"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at" doc:"to within 15 minutes"`
	ExpiresAt  time.Time `json:"expires_at" doc:"when it ends unless it is used before"`
	Address    string    `json:"address" doc:"where the login came from"`
	UserAgent  string    `json:"user_agent"`
	Current    bool      `json:"current" doc:"it is the one that asks"`
}

// SessionsEnded tells how many sessions were ended.
type SessionsEnded struct {
	Ended int64 `json:"ended"`
}

// Profile is what people may change about themselves.
type Profile struct {
	DisplayName string `json:"display_name" doc:"up to 100 characters"`
}

// PasswordChange changes one's own password.
type PasswordChange struct {
	Current  string `json:"current" maxLength:"128" doc:"the present password"`
	Password string `json:"password" doc:"the new one"`
	Reason   string `json:"reason,omitempty"`
}

func (s *server) updateMe(ctx context.Context, in *struct {
	Based
	Body Profile
}) (*versioned[Me], error) {
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	p := principalOf(ctx)
	u, err := s.Store.UpdateUser(ctx, p.Name, base, model.UserPatch{DisplayName: &in.Body.DisplayName}, originOf(ctx, ""))
	if model.CodeOf(err) == model.CodeStale {
		var me Me
		if me, err = s.show(ctx, p); err == nil {
			err = stale(p.Revision, me)
		}
	}
	if err != nil {
		return nil, err
	}
	p.DisplayName, p.Revision = u.DisplayName, u.Revision
	me, err := s.show(ctx, p)
	return &versioned[Me]{ETag: etag(u.Revision), Body: me}, err
}

func (s *server) changePassword(ctx context.Context, in *struct{ Body PasswordChange }) (*struct{}, error) {
	if err := model.ValidateOptionalReason(in.Body.Reason); err != nil {
		return nil, err
	}
	o := originOf(ctx, in.Body.Reason)
	return nil, s.Auth.ChangePassword(ctx, principalOf(ctx), in.Body.Current, in.Body.Password, o.Reason, callOf(ctx).client())
}

func (s *server) listSessions(ctx context.Context, _ *struct{}) (*listed[Session], error) {
	return s.sessionsOf(ctx, principalOf(ctx).UserID)
}

func (s *server) endSession(ctx context.Context, in *struct {
	ID string `path:"id" doc:"the session's id, as the list shows it"`
}) (*struct{}, error) {
	return nil, s.Store.EndSession(ctx, principalOf(ctx).UserID, in.ID, originOf(ctx, ""))
}

func (s *server) endOtherSessions(ctx context.Context, _ *struct{}) (*struct{ Body SessionsEnded }, error) {
	p := principalOf(ctx)
	return s.endSessions(ctx, p.UserID, p.SessionID, "")
}

func (s *server) userSessions(ctx context.Context, in *Named) (*listed[Session], error) {
	u, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return s.sessionsOf(ctx, u.ID)
}

func (s *server) endUserSessions(ctx context.Context, in *struct {
	Named
	Reason string `query:"reason" maxLength:"500"`
}) (*struct{ Body SessionsEnded }, error) {
	u, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return s.endSessions(ctx, u.ID, "", in.Reason)
}

func (s *server) sessionsOf(ctx context.Context, userID int64) (*listed[Session], error) {
	sessions, err := s.Store.SessionsOf(ctx, userID)
	if err != nil {
		return nil, err
	}
	own := principalOf(ctx).SessionID
	return listOf(model.Page[model.Session]{Items: sessions}, func(m model.Session) Session {
		return Session{
			ID: m.PublicID(), CreatedAt: utc(m.CreatedAt), LastUsedAt: utc(m.RotatedAt), ExpiresAt: utc(m.ExpiresAt),
			Address: m.Address, UserAgent: m.UserAgent, Current: m.ID == own,
		}
	}), nil
}

func (s *server) endSessions(ctx context.Context, userID int64, keep, reason string) (*struct{ Body SessionsEnded }, error) {
	ended, err := s.Store.EndSessions(ctx, userID, keep, originOf(ctx, reason))
	if err != nil {
		return nil, err
	}
	return &struct{ Body SessionsEnded }{SessionsEnded{ended}}, nil
}
