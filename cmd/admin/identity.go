package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

// identityCommands are those of "admin user" that tell who somebody is at the provider of single sign-on.
func identityCommands() []*cobra.Command {
	return []*cobra.Command{
		identityCommand("link", "Let a person of the single sign-on log in as a user", `Let a person of the single sign-on log in as a user.

A login whose name is another user's is refused, because whoever may choose a name there must not become that user
here. The history then has the person's subject in the row of the refused login; when the two are the same person, link
them.`, app.LinkIdentity),
		identityCommand("unlink", "End such a link, and the user's sessions", `End such a link, and the user's sessions.`, app.UnlinkIdentity),
		{
			Use:     "identities NAME",
			Short:   "List who a user is at the single sign-on",
			Example: `  HEADGATE_MYSQL_DSN=… admin user identities nina`,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				cfg, log, err := configure(cmd)
				if err != nil {
					return err
				}
				said, err := app.Identities(cmd.Context(), cfg, log, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
				return err
			},
		},
	}
}

func identityCommand(use, short, long string, act func(ctx context.Context, cfg app.Config, log *slog.Logger, user, issuer, subject string) (string, error)) *cobra.Command {
	var issuer, subject string
	cmd := &cobra.Command{
		Use: use + " NAME --subject SUBJECT [--issuer URL]", Short: short, Long: long,
		Example: "  HEADGATE_MYSQL_DSN=… admin user " + use + " nina --issuer https://login.example.com --subject 248289761001",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			said, err := act(cmd.Context(), cfg, log, args[0], issuer, subject)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	cmd.Flags().StringVar(&subject, "subject", "", "what the provider calls the person (claim sub)")
	cmd.Flags().StringVar(&issuer, "issuer", "", "the provider; HEADGATE_OIDC_ISSUER without it")
	_ = cmd.MarkFlagRequired("subject") // the flag is there
	return cmd
}
