package api

import (
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Every route of the router must be on the page of routes with a permission that the policy knows.
func TestEveryRouteNamesThePermissionItNeeds(t *testing.T) {
	engine, r := new(server).build()
	admin := auth.Principal{Name: "x", Role: model.RoleAdmin}
	public := map[string]bool{
		"GET /healthz": true, "GET /readyz": true, "GET /api/v1/openapi.json": true,
		"HEAD /healthz": true, "HEAD /readyz": true, "HEAD /api/v1/openapi.json": true,
		"POST /api/v1/auth/login": true, "POST /api/v1/auth/refresh": true, "POST /api/v1/auth/logout": true,
		"GET /api/v1/auth/methods": true, "GET /api/v1/auth/oidc/login": true, "GET /api/v1/auth/oidc/callback": true,
	}
	routes := engine.Routes()
	for _, route := range routes {
		key := route.Method + " " + route.Path
		needs, ok := r.needs[key]
		switch {
		case !ok:
			t.Errorf("%s names no permission", key)
		case (needs == auth.Public) != public[key]:
			t.Errorf("%s needs %s", key, needs)
		case needs != auth.Public && needs != auth.Known && needs != auth.Self && !admin.Everywhere(needs):
			t.Errorf("%s needs %s, which is not in the policy", key, needs)
		}
	}
	if len(routes) != len(r.needs) {
		t.Errorf("%d routes, %d permissions", len(routes), len(r.needs))
	}
}

// Codes answer with one status each, and a status that huma gives finds a code.
func TestEveryCodeHasItsStatus(t *testing.T) {
	seen := map[model.Code]bool{}
	for _, row := range statuses {
		if seen[row.code] {
			t.Errorf("%s is listed twice", row.code)
		}
		seen[row.code] = true
	}
	for _, code := range []model.Code{
		model.CodeInvalid, model.CodeUnauthorized, model.CodeForbidden, model.CodeNotFound, model.CodeTaken, model.CodeInUse,
		model.CodeStale, model.CodeMissingMatch, model.CodeLastAdmin, model.CodeTooMany, model.CodeUnavailable,
		model.CodeForeignRedis, model.CodeDiskFull, model.CodeLocalLoginOff, model.CodeInternal,
	} {
		if !seen[code] {
			t.Errorf("%s has no status", code)
		}
	}
	if statusOf("unheard of") != 500 || codeOf(418) != model.CodeInternal {
		t.Error("what is unknown is not our fault")
	}
}
