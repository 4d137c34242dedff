package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "See, make and change users, also when nobody can log in",
		Long: `See, make and change users, also when nobody can log in.

These commands work on the database, beside running servers, and need no login: whoever may read HEADGATE_MYSQL_DSN may
do all of it. Each leaves a row in the change history, by "system", with the reason given.`,
	}
	cmd.AddCommand(userList(), userCreate(), userReset(), userEnabling(true), userEnabling(false), userRole())
	cmd.AddCommand(identityCommands()...)
	return cmd
}

// withPeople runs what a command does with the users of the configured database.
func withPeople(cmd *cobra.Command, act func(ctx context.Context, p *app.People, out io.Writer) error) error {
	cfg, log, err := configure(cmd)
	if err != nil {
		return err
	}
	return app.WithPeople(cmd.Context(), cfg, log, func(p *app.People) error { return act(cmd.Context(), p, cmd.OutOrStdout()) })
}

// withReason adds the flag --reason.
func withReason(cmd *cobra.Command, reason *string) *cobra.Command {
	cmd.Flags().StringVar(reason, "reason", "", "why, for the change history")
	return cmd
}

func userList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all users", Args: cobra.NoArgs,
		Example: `  HEADGATE_MYSQL_DSN=… admin user list`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPeople(cmd, func(ctx context.Context, p *app.People, out io.Writer) error { return p.List(ctx, out) })
		},
	}
}

func userCreate() *cobra.Command {
	var reason, display, role string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a user with a generated password", Args: cobra.ExactArgs(1),
		Example: `  HEADGATE_MYSQL_DSN=… admin user create ann --role auditor --display-name "Ann Smith"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPeople(cmd, func(ctx context.Context, p *app.People, out io.Writer) error {
				password, err := p.Create(ctx, args[0], display, role, reason)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, "The user %q is made, with the role %s and the password %q.\nIt is shown this once; the user can change it after logging in.\n", args[0], role, password)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "member", "admin, auditor or member")
	cmd.Flags().StringVar(&display, "display-name", "", "the name to show")
	return withReason(cmd, &reason)
}

func userReset() *cobra.Command {
	var reason string
	return withReason(&cobra.Command{
		Use: "reset NAME", Aliases: []string{"reset-password"}, Args: cobra.ExactArgs(1),
		Short:   "Give a user a new, generated password and end its sessions",
		Example: `  HEADGATE_MYSQL_DSN=… admin user reset admin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPeople(cmd, func(ctx context.Context, p *app.People, out io.Writer) error {
				password, disabled, err := p.Reset(ctx, args[0], reason)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, "The password of %q is now %q, and its sessions have ended.\nIt is shown this once; the user can change it after logging in.\n", args[0], password)
				if disabled && err == nil {
					_, err = fmt.Fprintf(out, "The user is disabled; to let it in: admin user enable %s\n", args[0])
				}
				return err
			})
		},
	}, &reason)
}

// userEnabling is the command "disable" or "enable".
func userEnabling(disable bool) *cobra.Command {
	use, short, done := "enable", "Let a disabled user log in again", "can log in again; sessions that had ended stay ended"
	if disable {
		use, short, done = "disable", "Keep a user out, at once", "is disabled, and its sessions have ended"
	}
	var reason string
	return withReason(&cobra.Command{
		Use: use + " NAME", Short: short, Args: cobra.ExactArgs(1),
		Example: `  HEADGATE_MYSQL_DSN=… admin user ` + use + ` ann --reason "ticket 4711"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPeople(cmd, func(ctx context.Context, p *app.People, out io.Writer) error {
				changed, err := p.Disable(ctx, args[0], disable, reason)
				return told(out, changed, err, args[0], done)
			})
		},
	}, &reason)
}

func userRole() *cobra.Command {
	var reason string
	return withReason(&cobra.Command{
		Use: "role NAME admin|auditor|member", Short: "Give a user another role", Args: cobra.ExactArgs(2),
		Example: `  HEADGATE_MYSQL_DSN=… admin user role ann admin`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPeople(cmd, func(ctx context.Context, p *app.People, out io.Writer) error {
				changed, err := p.SetRole(ctx, args[0], args[1], reason)
				return told(out, changed, err, args[0], "has the role "+args[1]+" now, from its next request on")
			})
		},
	}, &reason)
}

// told says what came of a change.
func told(out io.Writer, changed bool, err error, name, done string) error {
	if err != nil {
		return err
	}
	if !changed {
		_, err = fmt.Fprintf(out, "Nothing to do: the user %q was so already.\n", name)
		return err
	}
	_, err = fmt.Fprintf(out, "The user %q %s.\n", name, done)
	return err
}
