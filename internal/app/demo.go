package app

import (
	"context"
	"fmt"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// demoPassword is the password of every sample user. It guards sample data on an embedded database, nothing else.
const demoPassword = "headgate-demo"

type demoUser struct {
	name, display string
	role          model.Role
	what          string // for the list of logins
}

var demoUsers = []demoUser{
	{"admin", "Ada Admin", model.RoleAdmin, "platform admin: everything"},
	{"olivia", "Olivia Owner", model.RoleMember, "owns buckets of checkout and mobile"},
	{"victor", "Victor Viewer", model.RoleMember, "views the buckets of checkout"},
	{"audrey", "Audrey Auditor", model.RoleAuditor, "reads everything, changes nothing"},
	{"sam", "Sam Search", model.RoleMember, "owns the app search; checkout is hidden from him"},
}

type demoApp struct {
	name, description string
	members           []model.Member
}

var demoApps = []demoApp{
	{"checkout", "Basket, payment and order service", []model.Member{{User: "olivia", Role: model.AppOwner}, {User: "victor", Role: model.AppViewer}}},
	{"mobile", "Backend of the mobile apps", []model.Member{{User: "olivia", Role: model.AppOwner}}},
	{"search", "Product search", []model.Member{{User: "sam", Role: model.AppOwner}}},
}

// seedDemo fills an empty embedded database with sample people, apps and buckets. A database that has users already
// is left as it is, so edits survive a restart.
func seedDemo(ctx context.Context, s *store.Store, hasher *auth.Hasher) error {
	users, err := s.CountUsers(ctx)
	if err != nil || users > 0 {
		return err
	}
	origin := model.Origin{Actor: model.SystemActor, Reason: "sample data"}
	hash, err := hasher.Hash(ctx, demoPassword)
	if err != nil {
		return err
	}
	for _, u := range demoUsers {
		if _, err := s.CreateUser(ctx, model.User{Name: u.name, DisplayName: u.display, Role: u.role, PasswordHash: hash}, origin); err != nil {
			return fmt.Errorf("sample user %s: %w", u.name, err)
		}
	}
	for _, a := range demoApps {
		if err := seedApp(ctx, s, a, origin); err != nil {
			return fmt.Errorf("sample app %s: %w", a.name, err)
		}
	}
	for _, b := range demoBuckets {
		d := b.definition
		d.MaxWait = model.DefaultMaxWait
		d.SetDefaults()
		if _, err := s.CreateBucket(ctx, b.name, d, origin); err != nil {
			return fmt.Errorf("sample bucket %s: %w", b.name, err)
		}
	}
	return nil
}

func seedApp(ctx context.Context, s *store.Store, a demoApp, origin model.Origin) error {
	if _, err := s.CreateApp(ctx, model.App{Name: a.name, Description: a.description}, origin); err != nil {
		return err
	}
	for _, m := range a.members {
		if err := s.SetMember(ctx, a.name, m, origin); err != nil {
			return err
		}
	}
	return nil
}
