package api

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// App is an app as the API shows it.
type App struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Members     []Member  `json:"members"`
	Revision    int64     `json:"revision"`
	CreatedBy   string    `json:"created_by"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedBy   string    `json:"updated_by"`
	UpdatedAt   time.Time `json:"updated_at"`
	May         May       `json:"may"`
}

// Member is a user's place in an app.
type Member struct {
	User string        `json:"user"`
	Role model.AppRole `json:"role"`
}

// AppCreate registers an app.
type AppCreate struct {
	Name        string   `json:"name" doc:"1..128 of A-Z a-z 0-9 . _ - starting with a letter or digit; it can't be changed later"`
	Description string   `json:"description,omitempty"`
	Members     []Member `json:"members,omitempty" maxItems:"1000" doc:"its first members"`
	Reason      string   `json:"reason,omitempty" doc:"why, for the history; up to 500 characters"`
}

// AppUpdate changes an app.
type AppUpdate struct {
	Description string `json:"description"`
	Reason      string `json:"reason,omitempty" doc:"why, for the history; up to 500 characters"`
}

// MemberSet says which role a member is to have.
type MemberSet struct {
	Role   model.AppRole `json:"role"`
	Reason string        `json:"reason,omitempty" doc:"why, for the history; up to 500 characters"`
}

// Reasoned is embedded in the input of deletions, which have no body.
type Reasoned struct {
	Reason string `query:"reason" doc:"why, for the history; up to 500 characters"`
}

func (s *server) listApps(ctx context.Context, in *struct {
	Paged
	Search string `query:"search" doc:"part of the name or the description"`
	Sort   string `query:"sort" doc:"name (default) or updated_at; a leading - turns it round"`
}) (*listed[App], error) {
	q := model.AppQuery{
		Viewer: viewer(principalOf(ctx), auth.AppSee), Search: in.Search, Sort: in.Sort, Cursor: in.Cursor, Limit: in.Limit,
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	page, err := s.Store.Apps(ctx, q)
	if err != nil {
		return nil, err
	}
	return listOf(page, func(a model.App) App { return showApp(ctx, a) }), nil
}

func (s *server) getApp(ctx context.Context, in *Named) (*versioned[App], error) {
	return s.answerApp(ctx, in.Name, auth.AppSee)
}

func (s *server) createApp(ctx context.Context, in *struct{ Body AppCreate }) (*versioned[App], error) {
	a := model.App{Name: in.Body.Name, Description: in.Body.Description}
	errs := []error{a.Validate(), model.ValidateOptionalReason(in.Body.Reason)}
	for i, m := range in.Body.Members {
		member := model.Member{User: m.User, Role: m.Role}
		errs = append(errs, under("members", i, member.Validate()))
		a.Members = append(a.Members, member)
	}
	if err := together("the app", errs...); err != nil {
		return nil, err
	}
	a, err := s.Store.CreateApp(ctx, a, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, err
	}
	return &versioned[App]{ETag: etag(a.Revision), Body: showApp(ctx, a)}, nil
}

func (s *server) updateApp(ctx context.Context, in *struct {
	Named
	Based
	Body AppUpdate
}) (*versioned[App], error) {
	present, err := s.appFor(ctx, in.Name, auth.AppManage)
	if err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	present.Description = in.Body.Description
	if err := together("the app", present.Validate(), model.ValidateOptionalReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	a, err := s.Store.UpdateApp(ctx, in.Name, base, in.Body.Description, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, s.staleApp(ctx, in.Name, err)
	}
	return &versioned[App]{ETag: etag(a.Revision), Body: showApp(ctx, a)}, nil
}

func (s *server) deleteApp(ctx context.Context, in *struct {
	Named
	Based
	Reasoned
}) (*struct{}, error) {
	if _, err := s.appFor(ctx, in.Name, auth.AppManage); err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	if err := model.ValidateOptionalReason(in.Reason); err != nil {
		return nil, err
	}
	return nil, s.staleApp(ctx, in.Name, s.Store.DeleteApp(ctx, in.Name, base, originOf(ctx, in.Reason)))
}

// Membership names one user's place in one app.
type Membership struct {
	Named
	User string `path:"user"`
}

func (s *server) setMember(ctx context.Context, in *struct {
	Membership
	Body MemberSet
}) (*versioned[App], error) {
	if _, err := s.appFor(ctx, in.Name, auth.AppManage); err != nil {
		return nil, err
	}
	member := model.Member{User: in.User, Role: in.Body.Role}
	if err := together("the member", member.Validate(), model.ValidateOptionalReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	if err := s.Store.SetMember(ctx, in.Name, member, originOf(ctx, in.Body.Reason)); err != nil {
		return nil, err
	}
	return s.answerApp(ctx, in.Name, auth.AppSee)
}

// removeMember answers with the app, which those who removed themselves see for the last time.
func (s *server) removeMember(ctx context.Context, in *struct {
	Membership
	Reasoned
}) (*versioned[App], error) {
	if _, err := s.appFor(ctx, in.Name, auth.AppManage); err != nil {
		return nil, err
	}
	if err := model.ValidateOptionalReason(in.Reason); err != nil {
		return nil, err
	}
	if err := s.Store.RemoveMember(ctx, in.Name, in.User, originOf(ctx, in.Reason)); err != nil {
		return nil, err
	}
	a, _, err := s.Store.AppFor(ctx, principalOf(ctx).Name, in.Name)
	if err != nil {
		return nil, err
	}
	return &versioned[App]{ETag: etag(a.Revision), Body: showApp(ctx, a)}, nil
}

func (s *server) answerApp(ctx context.Context, name string, needs auth.Permission) (*versioned[App], error) {
	a, err := s.appFor(ctx, name, needs)
	if err != nil {
		return nil, err
	}
	return &versioned[App]{ETag: etag(a.Revision), Body: showApp(ctx, a)}, nil
}

// staleApp adds the present app to a refusal that is due to it.
func (s *server) staleApp(ctx context.Context, name string, err error) error {
	if model.CodeOf(err) != model.CodeStale {
		return err
	}
	a, err := s.appFor(ctx, name, auth.AppSee)
	if err != nil {
		return err
	}
	return stale(a.Revision, showApp(ctx, a))
}

func showApp(ctx context.Context, a model.App) App {
	p := principalOf(ctx)
	owns := slices.ContainsFunc(a.Members, func(m model.Member) bool { return m.User == p.Name && m.Role == model.AppOwner })
	manage := p.May(auth.AppManage, model.Relation{AppOwner: owns})
	members := make([]Member, len(a.Members))
	for i, m := range a.Members {
		members[i] = Member{User: m.User, Role: m.Role}
	}
	return App{
		Name: a.Name, Description: a.Description, Members: members, Revision: a.Revision,
		CreatedBy: a.CreatedBy, CreatedAt: utc(a.CreatedAt), UpdatedBy: a.UpdatedBy, UpdatedAt: utc(a.UpdatedAt),
		May: May{Edit: manage, Delete: manage},
	}
}
