package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Help people who can't log in"}
	cmd.AddCommand(&cobra.Command{
		Use:     "reset-password NAME",
		Short:   "Give a user a new, generated password and end its sessions",
		Example: `  HEADGATE_MYSQL_DSN=… admin user reset-password admin`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, log, err := configure(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			password, err := app.ResetPassword(cmd.Context(), cfg, log, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The password of %q is now %q. It is shown this once.\n", args[0], password)
			return err
		},
	})
	return cmd
}
