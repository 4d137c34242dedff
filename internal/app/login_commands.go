package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// origin signs what an operator does on the command line, for a reason that may be "".
func origin(reason string) model.Origin {
	o := commandOrigin
	if reason = strings.TrimSpace(reason); reason != "" {
		o.Reason += ": " + reason
	}
	return o
}

// People is what an operator does with users on the command line, without logging in: the way back when nobody can.
type People struct {
	store  *store.Store
	hasher *auth.Hasher
}

// WithPeople opens the configured database for what act does with its users.
func WithPeople(ctx context.Context, cfg Config, log *slog.Logger, act func(*People) error) error {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return act(&People{store: s, hasher: auth.NewHasher(auth.DefaultHashing)})
}

// List writes a table of all users.
func (p *People) List(ctx context.Context, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tROLE\tSTATE\tSESSIONS\tLAST CHANGED\tDISPLAY NAME")
	for q := (model.UserQuery{Limit: model.PageMax}); ; {
		page, err := p.store.Users(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Items {
			u := &page.Items[i]
			sessions, err := p.store.SessionsOf(ctx, u.ID)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", u.Name, u.Role, stateOf(u), len(sessions), u.UpdatedAt.Format(time.DateOnly), u.DisplayName)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return table.Flush()
		}
	}
}

func stateOf(u *model.User) string {
	switch {
	case u.Disabled:
		return "disabled"
	case u.Service:
		return "service"
	case u.PasswordHash == "":
		return "no password"
	default:
		return "enabled"
	}
}

// Create makes a user with a generated password, which it returns.
func (p *People) Create(ctx context.Context, name, display, role, reason string) (password string, err error) {
	u := model.User{Name: name, DisplayName: display, Role: model.Role(role)}
	if err := u.Validate(); err != nil {
		return "", err
	}
	password = rand.Text()
	if u.PasswordHash, err = p.hasher.Hash(ctx, password); err != nil {
		return "", err
	}
	_, err = p.store.CreateUser(ctx, u, origin(reason))
	return password, err
}

// Reset gives a user a new, generated password, which it returns, and ends the user's sessions. disabled tells that the
// user can't log in all the same.
func (p *People) Reset(ctx context.Context, name, reason string) (password string, disabled bool, err error) {
	u, err := p.user(ctx, name)
	if err != nil {
		return "", false, err
	}
	password = rand.Text()
	hash, err := p.hasher.Hash(ctx, password)
	if err != nil {
		return "", false, err
	}
	return password, u.Disabled, p.store.SetPassword(ctx, u.ID, hash, origin(reason))
}

// update changes a user and tells whether there was anything to change.
func (p *People) update(ctx context.Context, name string, patch model.UserPatch, reason string) (changed bool, err error) {
	u, err := p.user(ctx, name)
	if err != nil {
		return false, err
	}
	if (patch.Role == nil || *patch.Role == u.Role) && (patch.Disabled == nil || *patch.Disabled == u.Disabled) {
		return false, nil
	}
	_, err = p.store.UpdateUser(ctx, name, u.Revision, patch, origin(reason))
	if model.CodeOf(err) == model.CodeStale {
		return false, fmt.Errorf("somebody changed the user %q in this very moment; look and try again: %w", name, err)
	}
	return err == nil, err
}

// Disable keeps a user out, or lets it in again.
func (p *People) Disable(ctx context.Context, name string, disabled bool, reason string) (changed bool, err error) {
	return p.update(ctx, name, model.UserPatch{Disabled: &disabled}, reason)
}

// SetRole gives a user another role.
func (p *People) SetRole(ctx context.Context, name, role, reason string) (changed bool, err error) {
	r := model.Role(role)
	return p.update(ctx, name, model.UserPatch{Role: &r}, reason)
}

func (p *People) user(ctx context.Context, name string) (model.User, error) {
	u, err := p.store.User(ctx, name)
	if model.CodeOf(err) == model.CodeNotFound {
		return u, fmt.Errorf(`there is no user %q; "admin user list" shows who there is`, name)
	}
	return u, err
}

// RotateKeys makes a new key that signs the tokens of sessions. With now the older ones prove nothing any more, and
// every session ends. It returns what to tell the operator.
func RotateKeys(ctx context.Context, cfg Config, log *slog.Logger, now bool, reason string) (string, error) {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	if _, err := s.SigningKeys(ctx, auth.NewKey()); err != nil { // so that an older version's key is no exception
		return "", err
	}
	rotation := model.KeyRotation{Secret: auth.NewKey(), Lead: auth.KeyLead, Now: now}
	if now {
		rotation.Lead = 0
	}
	if _, err := s.RotateSigningKey(ctx, rotation, origin(reason)); err != nil {
		return "", err
	}
	if now {
		return "Every session has ended, and the older keys prove nothing any more. Running servers sign with the new key within half a minute; who logs in before that may have to log in once more.", nil
	}
	return fmt.Sprintf("A new key signs from %s on; running servers read it by then. Sessions go on, and the older key is dropped when its last token has ended, in about a week. Use --now if a key may be known to others.",
		time.Now().Add(auth.KeyLead).UTC().Format(time.RFC3339)), nil
}
