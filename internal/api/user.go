package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// User is a user as the API shows it.
type User struct {
	Name        string     `json:"name"`
	DisplayName string     `json:"display_name"`
	Role        model.Role `json:"role"`
	Disabled    bool       `json:"disabled"`
	Service     bool       `json:"service" doc:"a service account: programs act as it by API tokens, nobody logs in as it"`
	Revision    int64      `json:"revision"`
	CreatedBy   string     `json:"created_by"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedBy   string     `json:"updated_by"`
	UpdatedAt   time.Time  `json:"updated_at"`
	May         May        `json:"may"`
}

// UserCreate makes a user.
type UserCreate struct {
	Name        string     `json:"name" doc:"1..64 of a-z 0-9 . _ - @ starting with a letter or digit"`
	DisplayName string     `json:"display_name,omitempty" doc:"up to 100 characters"`
	Role        model.Role `json:"role" doc:"admin and auditor see everything; a member sees what its apps and buckets allow"`
	Password    string     `json:"password"`
	Reason      string     `json:"reason,omitempty"`
}

// UserUpdate changes a user.
type UserUpdate struct {
	Name        string     `json:"name,omitempty" doc:"another name to log in with; left out: it stays. The history keeps the old one"`
	DisplayName string     `json:"display_name" doc:"up to 100 characters"`
	Role        model.Role `json:"role"`
	Disabled    bool       `json:"disabled" doc:"a disabled user can't log in, and its sessions end at once"`
	Reason      string     `json:"reason,omitempty"`
}

// PasswordSet sets a password.
type PasswordSet struct {
	Password string `json:"password"`
	Reason   string `json:"reason,omitempty"`
}

func (s *server) listUsers(ctx context.Context, in *struct {
	Paged
	Search   string     `query:"search" doc:"part of the name or the display name"`
	Role     model.Role `query:"role"`
	Disabled string     `query:"disabled" enum:"true,false"`
	Sort     string     `query:"sort" doc:"name (default) or updated_at; a leading - turns it round"`
}) (*listed[User], error) {
	q := model.UserQuery{Search: in.Search, Role: in.Role, Sort: in.Sort, Cursor: in.Cursor, Limit: in.Limit}
	if in.Disabled != "" {
		disabled := in.Disabled == "true"
		q.Disabled = &disabled
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	page, err := s.Store.Users(ctx, q)
	if err != nil {
		return nil, err
	}
	return listOf(page, func(u model.User) User { return showUser(ctx, u) }), nil
}

// userNames tells those who have to pick owners or members which names there are, and no more.
func (s *server) userNames(ctx context.Context, in *struct {
	Search string `query:"search" maxLength:"200" doc:"part of the name or the display name"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*listed[string], error) {
	p := principalOf(ctx)
	standing, err := s.standing(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	if !p.May(auth.UserNames, standing) {
		return nil, auth.Missing(auth.UserNames)
	}
	names, err := s.Store.UserNames(ctx, in.Search, in.Limit)
	if err != nil {
		return nil, err
	}
	return listOf(model.Page[string]{Items: names}, func(name string) string { return name }), nil
}

func (s *server) getUser(ctx context.Context, in *Named) (*versioned[User], error) {
	u, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &versioned[User]{ETag: etag(u.Revision), Body: showUser(ctx, u)}, nil
}

func (s *server) createUser(ctx context.Context, in *struct{ Body UserCreate }) (*versioned[User], error) {
	u := model.User{Name: in.Body.Name, DisplayName: in.Body.DisplayName, Role: in.Body.Role}
	err := together("the user", u.Validate(), model.ValidateOptionalReason(in.Body.Reason),
		auth.CheckPassword(in.Body.Password, u.Name, u.DisplayName))
	if err != nil {
		return nil, err
	}
	if u.PasswordHash, err = s.Auth.HashPassword(ctx, in.Body.Password); err != nil {
		return nil, err
	}
	if u, err = s.Store.CreateUser(ctx, u, originOf(ctx, in.Body.Reason)); err != nil {
		return nil, err
	}
	return &versioned[User]{ETag: etag(u.Revision), Body: showUser(ctx, u)}, nil
}

func (s *server) updateUser(ctx context.Context, in *struct {
	Named
	Based
	Body UserUpdate
}) (*versioned[User], error) {
	present, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	patch := model.UserPatch{DisplayName: &in.Body.DisplayName, Role: &in.Body.Role, Disabled: &in.Body.Disabled}
	present.DisplayName, present.Role, present.Disabled = in.Body.DisplayName, in.Body.Role, in.Body.Disabled
	if in.Body.Name != "" && in.Body.Name != present.Name {
		present.Name, patch.Name = in.Body.Name, &in.Body.Name
	}
	if err := together("the user", present.Validate(), model.ValidateOptionalReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	u, err := s.Store.UpdateUser(ctx, in.Name, base, patch, originOf(ctx, in.Body.Reason))
	if model.CodeOf(err) == model.CodeStale {
		if present, err = s.Store.User(ctx, in.Name); err == nil {
			err = stale(present.Revision, showUser(ctx, present))
		}
	}
	if err != nil {
		return nil, err
	}
	return &versioned[User]{ETag: etag(u.Revision), Body: showUser(ctx, u)}, nil
}

func (s *server) setPassword(ctx context.Context, in *struct {
	Named
	Body PasswordSet
}) (*struct{}, error) {
	u, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := together("the password", model.ValidateOptionalReason(in.Body.Reason), auth.CheckPassword(in.Body.Password, u.Name, u.DisplayName)); err != nil {
		return nil, err
	}
	hash, err := s.Auth.HashPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	return nil, s.Store.SetPassword(ctx, u.ID, hash, originOf(ctx, in.Body.Reason))
}

func showUser(ctx context.Context, u model.User) User {
	manage := principalOf(ctx).Everywhere(auth.UserManage)
	return User{
		Name: u.Name, DisplayName: u.DisplayName, Role: u.Role, Disabled: u.Disabled, Service: u.Service, Revision: u.Revision,
		CreatedBy: u.CreatedBy, CreatedAt: utc(u.CreatedAt), UpdatedBy: u.UpdatedBy, UpdatedAt: utc(u.UpdatedAt),
		May: May{Edit: manage},
	}
}
