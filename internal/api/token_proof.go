package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
)

// bearer returns the API token of a request. Only the scheme Bearer is ours: a proxy in front may have its own use for
// the others.
func bearer(r *http.Request) (secret string, given bool) {
	scheme, secret, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(secret), true
}

// prove finds out who makes a request and notes it in the call: by the API token when there is one, whatever the
// cookies say, else by the session's cookie. CodeUnauthorized.
func (s *server) prove(c *gin.Context) (auth.Principal, error) {
	ctx := c.Request.Context()
	var principal auth.Principal
	var err error
	if secret, given := bearer(c.Request); given {
		callOf(ctx).viaToken = true
		principal, err = s.Auth.AuthenticateToken(ctx, secret, callOf(ctx).client())
	} else {
		cookie, _ := c.Cookie(accessCookie)
		principal, err = s.Auth.Authenticate(ctx, cookie)
	}
	if err == nil {
		callOf(ctx).principal = principal
	}
	return principal, err
}

// admit proves who makes a request and demands a permission of it: CodeUnauthorized, CodeForbidden.
func (s *server) admit(c *gin.Context, needs auth.Permission) error {
	principal, err := s.prove(c)
	switch {
	case err != nil:
		return err
	case principal.Conceivable(needs):
		return nil
	case principal.TokenID != 0:
		return auth.OutOfScope(needs)
	default:
		return auth.Missing(needs)
	}
}
