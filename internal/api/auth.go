package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// The cookies of a session. Each is sent only where it is needed, never to a script and never with another site's
// requests.
const (
	accessCookie  = "headgate_access"
	refreshCookie = "headgate_refresh"
	accessPath    = "/api"
	refreshPath   = prefix + "/auth"
)

// Credentials prove who somebody is.
type Credentials struct {
	Name     string `json:"name" maxLength:"64"`
	Password string `json:"password" maxLength:"128"`
}

// Me is who is logged in.
type Me struct {
	Name        string            `json:"name"`
	DisplayName string            `json:"display_name"`
	Role        model.Role        `json:"role"`
	Permissions []auth.Permission `json:"permissions" doc:"what one may do whatever the bucket or app, and bucket.create and user.names when some app allows them"`
	Embedded    bool              `json:"embedded" doc:"the installation is for evaluation: SQLite and Redis in process"`
}

// Proofs are the cookies that a browser sends back.
type Proofs struct {
	Access  string `cookie:"headgate_access" hidden:"true"`
	Refresh string `cookie:"headgate_refresh" hidden:"true"`
	https   bool
}

// Resolve notes whether the browser speaks HTTPS to us or to a trusted proxy before us; then cookies stay on HTTPS.
func (p *Proofs) Resolve(ctx huma.Context) []error {
	p.https = callOf(ctx.Context()).https
	return nil
}

// loggedIn is the answer with fresh cookies.
type loggedIn struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      Me
}

func (s *server) login(ctx context.Context, in *struct {
	Proofs
	Body Credentials
}) (*loggedIn, error) {
	if s.LocalLoginOff {
		return nil, s.Auth.RefuseLocal(ctx, in.Body.Name, callOf(ctx).client())
	}
	grant, err := s.Auth.Login(ctx, in.Body.Name, in.Body.Password, callOf(ctx).client())
	if err != nil {
		return nil, err
	}
	return s.welcome(ctx, grant, s.SecureCookies || in.https)
}

func (s *server) refresh(ctx context.Context, in *Proofs) (*loggedIn, error) {
	grant, err := s.Auth.Refresh(ctx, in.Refresh, callOf(ctx).client())
	if err != nil {
		return nil, err
	}
	return s.welcome(ctx, grant, s.SecureCookies || in.https)
}

func (s *server) logout(ctx context.Context, in *Proofs) (*struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
}, error) {
	if err := s.Auth.Logout(ctx, in.Access, in.Refresh, callOf(ctx).client()); err != nil {
		return nil, err
	}
	long, https := time.Unix(1, 0), s.SecureCookies || in.https
	return &struct {
		SetCookie []http.Cookie `header:"Set-Cookie"`
	}{[]http.Cookie{
		sessionCookie(accessCookie, "", accessPath, long, https),
		sessionCookie(refreshCookie, "", refreshPath, long, https),
	}}, nil
}

func (s *server) me(ctx context.Context, _ *struct{}) (*versioned[Me], error) {
	p := principalOf(ctx)
	me, err := s.show(ctx, p)
	if err != nil {
		return nil, err
	}
	return &versioned[Me]{ETag: etag(p.Revision), Body: me}, nil
}

func (s *server) welcome(ctx context.Context, grant auth.Grant, https bool) (*loggedIn, error) {
	callOf(ctx).principal = grant.Principal // for the access log
	me, err := s.show(ctx, grant.Principal)
	if err != nil {
		return nil, err
	}
	answer := &loggedIn{Body: me, SetCookie: []http.Cookie{
		sessionCookie(accessCookie, grant.Access, accessPath, grant.AccessExpires, https),
	}}
	if grant.Refresh != "" {
		answer.SetCookie = append(answer.SetCookie, sessionCookie(refreshCookie, grant.Refresh, refreshPath, grant.RefreshExpires, https))
	}
	return answer, nil
}

func (s *server) show(ctx context.Context, p auth.Principal) (Me, error) {
	standing, err := s.standing(ctx, p.Name)
	if err != nil {
		return Me{}, err
	}
	return Me{
		Name: p.Name, DisplayName: p.DisplayName, Role: p.Role, Permissions: p.Permissions(standing), Embedded: s.Embedded,
	}, nil
}

func sessionCookie(name, value, path string, expires time.Time, https bool) http.Cookie {
	return http.Cookie{
		Name: name, Value: value, Path: path, Expires: expires.UTC(),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: https,
	}
}
