package store

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// User reads one user. CodeNotFound.
func (s *Store) User(ctx context.Context, name string) (model.User, error) { return model.User{}, errNotYet }

// UserByID reads one user. CodeNotFound.
func (s *Store) UserByID(ctx context.Context, id int64) (model.User, error) {
	return model.User{}, errNotYet
}

// Users lists users. CodeInvalid naming the field of the query.
func (s *Store) Users(ctx context.Context, q model.UserQuery) (model.Page[model.User], error) {
	return model.Page[model.User]{}, errNotYet
}

// UserNames returns up to limit (1..200, 0 = 50) names of enabled users that contain search in the name or the display
// name, sorted: what an owner picker needs, and no more.
func (s *Store) UserNames(ctx context.Context, search string, limit int) ([]string, error) {
	return nil, errNotYet
}

// CountUsers counts all users, disabled ones too.
func (s *Store) CountUsers(ctx context.Context) (int64, error) { return 0, errNotYet }

// CreateUser makes a user from name, display name, role, disabled and password hash. CodeTaken, CodeInvalid.
func (s *Store) CreateUser(ctx context.Context, u model.User, o model.Origin) (model.User, error) {
	return model.User{}, errNotYet
}

// UpdateUser changes a user that is still at revision base; disabling one ends its sessions. CodeNotFound, CodeStale,
// CodeInvalid, CodeLastAdmin.
func (s *Store) UpdateUser(ctx context.Context, name string, base int64, p model.UserPatch, o model.Origin) (model.User, error) {
	return model.User{}, errNotYet
}

// SetPassword replaces a user's password hash, ends all its sessions and leaves a change row that says so without the
// hash. The revision stays: the password is no part of what an editor sees. CodeNotFound.
func (s *Store) SetPassword(ctx context.Context, id int64, hash string, o model.Origin) error {
	return errNotYet
}
