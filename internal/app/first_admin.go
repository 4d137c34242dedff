package app

import (
	"context"
	"crypto/rand"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// firstAdminName is the user name of the admin who is made when there are no users.
const firstAdminName = "admin"

// makeFirstAdmin makes the first admin in a database without users. It returns the password when it had to generate
// one, which is then printed once and kept nowhere; "" otherwise. Of two servers that start together one makes it.
func makeFirstAdmin(ctx context.Context, s *store.Store, hasher *auth.Hasher, given string) (generated string, err error) {
	users, err := s.CountUsers(ctx)
	if err != nil || users > 0 {
		return "", err
	}
	password := given
	if password == "" {
		password = rand.Text()
		generated = password
	}
	hash, err := hasher.Hash(ctx, password)
	if err != nil {
		return "", err
	}
	admin := model.User{Name: firstAdminName, DisplayName: "Admin", Role: model.RoleAdmin, PasswordHash: hash}
	_, err = s.CreateUser(ctx, admin, model.Origin{Actor: model.SystemActor, Reason: "first start"})
	if model.CodeOf(err) == model.CodeTaken {
		return "", nil
	}
	return generated, err
}
