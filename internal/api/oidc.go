package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// The paths of single sign-on, and the cookie that keeps a login in progress. Unlike those of a session, the cookie
// comes along when the provider's page leads back here, which is another site.
const (
	signOnPath     = prefix + "/auth/oidc"
	signOnLogin    = "/login"
	signOnCallback = "/callback"
	signOnCookie   = "headgate_sign_on"
)

// SignOnCallback is the path that is registered at the provider.
const SignOnCallback = signOnPath + signOnCallback

// Methods are the ways to log in.
type Methods struct {
	Local bool          `json:"local" doc:"by name and password"`
	OIDC  *SignOnMethod `json:"oidc" doc:"by single sign-on; null where there is none"`
}

// SignOnMethod is the way through the provider of single sign-on.
type SignOnMethod struct {
	Name      string `json:"name" doc:"what people call the provider"`
	URL       string `json:"url" doc:"lead the browser there; return_to may name the console's page to end at"`
	Available bool   `json:"available" doc:"the provider answered when it was last asked"`
}

func (s *server) methods(ctx context.Context, _ *struct{}) (*struct{ Body Methods }, error) {
	m := Methods{Local: !s.LocalLoginOff}
	if s.SignOn != nil {
		m.OIDC = &SignOnMethod{Name: s.SignOn.Name, URL: signOnPath + signOnLogin, Available: s.SignOn.Available(ctx)}
	}
	return &struct{ Body Methods }{m}, nil
}

// signOnRoutes are visited by browsers: they answer by leading on, and take whatever parameters a provider adds. They
// answer no HEAD, because a visit uses up what it brings.
func (s *server) signOnRoutes(r *routes) {
	for path, h := range map[string]gin.HandlerFunc{signOnLogin: s.beginSignOn, signOnCallback: s.endSignOn} {
		r.note(http.MethodGet, signOnPath+path, auth.Public)
		r.engine.GET(signOnPath+path, h)
	}
}

// beginSignOn leads the browser to the provider.
func (s *server) beginSignOn(c *gin.Context) {
	if s.SignOn == nil {
		refuse(c, model.CodeNotFound, "there is no single sign-on here")
		return
	}
	returnTo := auth.LocalPath(c.Query("return_to"))
	begun, err := s.SignOn.Begin(c.Request.Context(), returnTo)
	if err != nil {
		s.log.WarnContext(c.Request.Context(), "a single sign-on could not begin", "request_id", callOf(c.Request.Context()).requestID, "cause", err)
		s.leadToLogin(c, auth.FaultUnavailable, returnTo)
		return
	}
	s.keepSignOn(c, begun.Flow, begun.Expires)
	c.Redirect(http.StatusSeeOther, begun.URL)
}

// endSignOn takes the browser back from the provider, into the console or to its login page, which says what was wrong.
// The session's cookies are not sent along on this way, which began at another site; the console that it leads to has
// them, for it asks from here.
func (s *server) endSignOn(c *gin.Context) {
	if s.SignOn == nil {
		refuse(c, model.CodeNotFound, "there is no single sign-on here")
		return
	}
	ctx := c.Request.Context()
	flow, _ := c.Cookie(signOnCookie)
	grant, returnTo, err := s.Auth.SignOn(ctx, s.SignOn, flow, c.Request.URL.Query(), callOf(ctx).client())
	if err != nil {
		refused := &auth.SignOnError{Fault: auth.FaultUnavailable}
		_ = errors.As(err, &refused)
		if refused.Ended {
			s.keepSignOn(c, "", time.Unix(1, 0))
		}
		s.leadToLogin(c, refused.Fault, refused.ReturnTo)
		return
	}
	callOf(ctx).principal = grant.Principal // for the access log
	s.keepSignOn(c, "", time.Unix(1, 0))
	https := s.SecureCookies || callOf(ctx).https
	for _, cookie := range []http.Cookie{
		sessionCookie(accessCookie, grant.Access, accessPath, grant.AccessExpires, https),
		sessionCookie(refreshCookie, grant.Refresh, refreshPath, grant.RefreshExpires, https),
	} {
		http.SetCookie(c.Writer, &cookie)
	}
	c.Redirect(http.StatusSeeOther, returnTo)
}

func (s *server) keepSignOn(c *gin.Context, sealed string, expires time.Time) {
	cookie := sessionCookie(signOnCookie, sealed, signOnPath, expires, s.SecureCookies || callOf(c.Request.Context()).https)
	cookie.SameSite = http.SameSiteLaxMode
	http.SetCookie(c.Writer, &cookie)
}

// leadToLogin shows the console's login page, which has a sentence for the fault in the person's language.
func (s *server) leadToLogin(c *gin.Context, fault auth.SignOnFault, returnTo string) {
	query := url.Values{"sign_on": {string(fault)}, "request_id": {callOf(c.Request.Context()).requestID}}
	if returnTo != "" && returnTo != "/" {
		query.Set("next", returnTo)
	}
	c.Redirect(http.StatusSeeOther, "/login?"+query.Encode())
}
