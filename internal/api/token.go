package api

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// TokenStore keeps API tokens.
type TokenStore interface {
	Tokens(ctx context.Context, q model.TokenQuery) (model.Page[model.Token], error)
	// CreateToken: CodeTaken when a living token of the user has the name.
	CreateToken(ctx context.Context, t model.Token, o model.Origin) (model.Token, error)
	// RevokeToken: with an owner's id, CodeNotFound for the tokens of others.
	RevokeToken(ctx context.Context, id, ownerID int64, o model.Origin) error
	// CreateServiceAccount: CodeTaken.
	CreateServiceAccount(ctx context.Context, u model.User, o model.Origin) (model.User, error)
}

// Token is an API token as the API shows it. The secret is in no answer but that of its creation.
type Token struct {
	ID              int64              `json:"id"`
	Kind            model.TokenKind    `json:"kind" doc:"personal: acts as the person who made it; service: acts as a service account"`
	Name            string             `json:"name"`
	User            string             `json:"user" doc:"who it acts as"`
	MadeBy          string             `json:"made_by"`
	Scopes          []model.TokenScope `json:"scopes"`
	Hint            string             `json:"hint" doc:"the secret's first characters"`
	State           model.TokenState   `json:"state" doc:"suspended: its user is disabled, or its maker may not make it any more"`
	CreatedAt       time.Time          `json:"created_at"`
	ExpiresAt       time.Time          `json:"expires_at"`
	RevokedAt       *time.Time         `json:"revoked_at" doc:"null unless it was revoked"`
	RevokedBy       string             `json:"revoked_by"`
	LastUsedAt      *time.Time         `json:"last_used_at" doc:"to the minute; null when it was never used"`
	LastUsedAddress string             `json:"last_used_address"`
}

// TokenCreate makes an API token.
type TokenCreate struct {
	Name          string             `json:"name" doc:"1..64 of A-Z a-z 0-9 . _ - starting with a letter or digit; the history names it at each change"`
	Scopes        []model.TokenScope `json:"scopes" doc:"the part of its user's rights that the token has"`
	ExpiresInDays int                `json:"expires_in_days" doc:"1..365; no token is without an end"`
	// ServiceAccount is empty for a personal token.
	ServiceAccount string `json:"service_account,omitempty" doc:"the service account that it acts as; needs token.manage. Left out: oneself"`
	Reason         string `json:"reason,omitempty" doc:"why, for the history; up to 500 characters"`
}

// TokenCreated is a new token with its secret.
type TokenCreated struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret" doc:"for the Authorization header: Bearer hgp_…; it is shown this once"`
}

// ServiceAccountCreate makes a service account.
type ServiceAccountCreate struct {
	Name        string     `json:"name" doc:"1..64 of a-z 0-9 . _ - @ starting with a letter or digit; shared with the names of people"`
	DisplayName string     `json:"display_name,omitempty" doc:"up to 100 characters"`
	Role        model.Role `json:"role" doc:"as a person's; memberships and ownerships are given to it as to people"`
	Reason      string     `json:"reason,omitempty" doc:"why, for the history; up to 500 characters"`
}

func (s *server) listTokens(ctx context.Context, in *struct {
	Paged
	All bool `query:"all" doc:"everybody's, service tokens included; needs token.manage. Without it: one's own"`
}) (*listed[Token], error) {
	p := principalOf(ctx)
	q := model.TokenQuery{UserID: p.UserID, Cursor: in.Cursor, Limit: in.Limit}
	if in.All {
		if !p.Everywhere(auth.TokenManage) {
			return nil, auth.Missing(auth.TokenManage)
		}
		q.UserID = 0
	}
	page, err := s.Store.Tokens(ctx, q)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	return listOf(page, func(t model.Token) Token { return showToken(&t, now) }), nil
}

// getToken finds one's own token; who may manage tokens finds anybody's.
func (s *server) getToken(ctx context.Context, in *struct {
	ID int64 `path:"id"`
}) (*struct{ Body Token }, error) {
	noToken := model.Errorf(model.CodeNotFound, "there is no such %s", "token")
	if in.ID <= 0 {
		return nil, noToken
	}
	page, err := s.Store.Tokens(ctx, model.TokenQuery{ID: in.ID, UserID: ownerOfTokens(ctx)})
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, noToken
	}
	return &struct{ Body Token }{showToken(&page.Items[0], s.Now())}, nil
}

// ownerOfTokens is the only user whose tokens the requester reaches; 0 = everybody's.
func ownerOfTokens(ctx context.Context) int64 {
	p := principalOf(ctx)
	if p.Everywhere(auth.TokenManage) {
		return 0
	}
	return p.UserID
}

func (s *server) createToken(ctx context.Context, in *struct{ Body TokenCreate }) (*struct{ Body TokenCreated }, error) {
	p, body, now := principalOf(ctx), &in.Body, s.Now()
	t := model.Token{
		Kind: model.TokenPersonal, Name: body.Name, UserID: p.UserID, MakerID: p.UserID, Scopes: slices.Clone(body.Scopes),
		ExpiresAt: now.Add(time.Duration(min(max(body.ExpiresInDays, 0), 1000)) * 24 * time.Hour),
	}
	if err := together("the token", t.Validate(now), model.ValidateOptionalReason(body.Reason)); err != nil {
		return nil, err
	}
	model.SortScopes(t.Scopes)
	if body.ServiceAccount != "" {
		account, err := s.serviceAccount(ctx, body.ServiceAccount)
		if err != nil {
			return nil, err
		}
		t.Kind, t.UserID = model.TokenService, account.ID
	}
	var secret string
	secret, t.Hash, t.Hint = auth.NewAPIToken(t.Kind)
	t, err := s.Store.CreateToken(ctx, t, originOf(ctx, body.Reason))
	if err != nil {
		return nil, err
	}
	return &struct{ Body TokenCreated }{TokenCreated{Token: showToken(&t, now), Secret: secret}}, nil
}

// serviceAccount finds the account that a service token is for.
func (s *server) serviceAccount(ctx context.Context, name string) (model.User, error) {
	if !principalOf(ctx).Everywhere(auth.TokenManage) {
		return model.User{}, auth.Missing(auth.TokenManage)
	}
	u, err := s.Store.User(ctx, name)
	if model.CodeOf(err) == model.CodeNotFound || err == nil && !u.Service {
		return model.User{}, invalidField("service_account", "is not a service account")
	}
	return u, err
}

// revokeToken ends one's own token; who may manage tokens ends anybody's.
func (s *server) revokeToken(ctx context.Context, in *struct {
	ID int64 `path:"id"`
	Reasoned
}) (*struct{}, error) {
	if err := model.ValidateOptionalReason(in.Reason); err != nil {
		return nil, err
	}
	return nil, s.Store.RevokeToken(ctx, in.ID, ownerOfTokens(ctx), originOf(ctx, in.Reason))
}

func (s *server) listServiceAccounts(ctx context.Context, in *struct {
	Paged
	Search string `query:"search" doc:"part of the name or the display name"`
}) (*listed[User], error) {
	service := true
	q := model.UserQuery{Search: in.Search, Service: &service, Cursor: in.Cursor, Limit: in.Limit}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	page, err := s.Store.Users(ctx, q)
	if err != nil {
		return nil, err
	}
	return listOf(page, func(u model.User) User { return showUser(ctx, u) }), nil
}

func (s *server) createServiceAccount(ctx context.Context, in *struct{ Body ServiceAccountCreate }) (*versioned[User], error) {
	u := model.User{Name: in.Body.Name, DisplayName: in.Body.DisplayName, Role: in.Body.Role}
	if err := together("the service account", u.Validate(), model.ValidateOptionalReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	u, err := s.Store.CreateServiceAccount(ctx, u, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, err
	}
	return &versioned[User]{ETag: etag(u.Revision), Body: showUser(ctx, u)}, nil
}

func showToken(t *model.Token, now time.Time) Token {
	return Token{
		ID: t.ID, Kind: t.Kind, Name: t.Name, User: t.User, MadeBy: t.Maker, Scopes: t.Scopes, Hint: t.Hint, State: t.State(now),
		CreatedAt: utc(t.CreatedAt), ExpiresAt: utc(t.ExpiresAt), RevokedAt: utcOrNull(t.RevokedAt), RevokedBy: t.RevokedBy,
		LastUsedAt: utcOrNull(t.LastUsedAt), LastUsedAddress: t.LastUsedBy,
	}
}

func utcOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	at := t.UTC()
	return &at
}
