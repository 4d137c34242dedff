package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

const (
	tokens          = "/api/v1/tokens"
	serviceAccounts = "/api/v1/service-accounts"
)

// token has a person make an API token of its own and returns the secret.
func (w *world) token(maker, name string, scopes ...model.TokenScope) string {
	w.t.Helper()
	return w.as(maker).do("POST", tokens, map[string]any{"name": name, "scopes": scopes, "expires_in_days": 1}).token(w.t).Secret
}

func (a answer) token(t *testing.T) api.TokenCreated {
	t.Helper()
	var made api.TokenCreated
	a.want(t, http.StatusCreated).into(t, &made)
	return made
}

// bearer is a program with an API token, and without cookies.
func (w *world) bearer(secret string) *client {
	w.t.Helper()
	c := w.browser()
	c.headers = []string{"Authorization", "Bearer " + secret}
	return c
}

// tokensOf lists a person's own tokens.
func (w *world) tokensOf(who string) []api.Token {
	w.t.Helper()
	var list api.List[api.Token]
	w.as(who).do("GET", tokens, nil).want(w.t, http.StatusOK).into(w.t, &list)
	return list.Items
}

// revoke has a person revoke an API token of its own.
func (w *world) revoke(who, name string) {
	w.t.Helper()
	for _, token := range w.tokensOf(who) {
		if token.Name == name {
			w.as(who).do("DELETE", fmt.Sprintf("%s/%d", tokens, token.ID), nil).want(w.t, http.StatusNoContent)
			return
		}
	}
	w.t.Fatalf("%s has no token %s", who, name)
}
