package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// LinkIdentity lets the person whom a provider calls subject log in as a user. An empty issuer is the configured one.
func LinkIdentity(ctx context.Context, cfg Config, log *slog.Logger, user, issuer, subject string) (string, error) {
	return withIdentity(ctx, cfg, log, issuer, subject, func(s *store.Store, i model.Identity) (string, error) {
		said := fmt.Sprintf("%q logs in by single sign-on now, as subject %q of %s.", user, i.Subject, i.Issuer)
		return said, s.LinkIdentity(ctx, user, i, commandOrigin)
	})
}

// UnlinkIdentity takes an identity from a user and ends the user's sessions.
func UnlinkIdentity(ctx context.Context, cfg Config, log *slog.Logger, user, issuer, subject string) (string, error) {
	return withIdentity(ctx, cfg, log, issuer, subject, func(s *store.Store, i model.Identity) (string, error) {
		said := fmt.Sprintf("%q does not log in as subject %q of %s any more; its sessions are ended.", user, i.Subject, i.Issuer)
		return said, s.UnlinkIdentity(ctx, user, i, commandOrigin)
	})
}

func withIdentity(ctx context.Context, cfg Config, log *slog.Logger, issuer, subject string, act func(*store.Store, model.Identity) (string, error)) (string, error) {
	if issuer == "" {
		issuer = cfg.OIDC.Issuer
	}
	if issuer == "" {
		return "", fmt.Errorf("name the provider with --issuer, or set HEADGATE_OIDC_ISSUER")
	}
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	return act(s, model.Identity{Issuer: issuer, Subject: subject})
}

// Identities tells who a user is at providers, a line each.
func Identities(ctx context.Context, cfg Config, log *slog.Logger, user string) (string, error) {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	list, err := s.Identities(ctx, user)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return fmt.Sprintf("%q is linked to no identity; \"admin user link\" makes one.", user), nil
	}
	var lines []string
	for _, i := range list {
		used := "never used"
		if !i.UsedAt.IsZero() {
			used = "last used " + i.UsedAt.Format(time.RFC3339)
		}
		lines = append(lines, fmt.Sprintf("subject %q of %s, linked %s by %s, %s", i.Subject, i.Issuer, i.CreatedAt.Format(time.RFC3339), i.CreatedBy, used))
	}
	return strings.Join(lines, "\n"), nil
}
