package store

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// App reads one app with its members. CodeNotFound.
func (s *Store) App(ctx context.Context, name string) (model.App, error) { return model.App{}, errNotYet }

// AppFor reads one app and what the user is to it. CodeNotFound only when there is no such app.
func (s *Store) AppFor(ctx context.Context, user, name string) (model.App, model.Relation, error) {
	return model.App{}, model.Relation{}, errNotYet
}

// Apps lists apps with their members. CodeInvalid naming the field of the query.
func (s *Store) Apps(ctx context.Context, q model.AppQuery) (model.Page[model.App], error) {
	return model.Page[model.App]{}, errNotYet
}

// CreateApp registers an app with its first members (0 or more). CodeTaken, CodeInvalid.
func (s *Store) CreateApp(ctx context.Context, a model.App, o model.Origin) (model.App, error) {
	return model.App{}, errNotYet
}

// UpdateApp changes the description of an app that is still at revision base. CodeNotFound, CodeStale, CodeInvalid.
func (s *Store) UpdateApp(ctx context.Context, name string, base int64, description string, o model.Origin) (model.App, error) {
	return model.App{}, errNotYet
}

// DeleteApp removes an app that is still at revision base. CodeNotFound, CodeStale, CodeInUse when buckets list it.
func (s *Store) DeleteApp(ctx context.Context, name string, base int64, o model.Origin) error {
	return errNotYet
}

// SetMember makes a user a member of an app, or changes its role. It raises the app's revision. CodeNotFound for the
// app, CodeInvalid with field "user" when there is no such user.
func (s *Store) SetMember(ctx context.Context, app string, m model.Member, o model.Origin) error {
	return errNotYet
}

// RemoveMember ends a membership and raises the app's revision. CodeNotFound for the app or the membership.
func (s *Store) RemoveMember(ctx context.Context, app, user string, o model.Origin) error {
	return errNotYet
}

// VisibleApps tells which of these apps exist and have the user as a member; names missing from the map do not.
func (s *Store) VisibleApps(ctx context.Context, user string, names []string) (map[string]bool, error) {
	return nil, errNotYet
}

// AppRoles returns the user's role in each of these apps of which it is a member; nil names = in every app.
func (s *Store) AppRoles(ctx context.Context, user string, names []string) (map[string]model.AppRole, error) {
	return nil, errNotYet
}
