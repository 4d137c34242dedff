package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func keysCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Replace the key that signs the tokens of sessions"}
	var now bool
	var reason string
	rotate := withReason(&cobra.Command{
		Use: "rotate", Args: cobra.NoArgs,
		Short: "Make a new key; running servers take it over by themselves",
		Long: `Make a new key that signs the tokens of sessions; running servers take it over by themselves.

"admin serve" does so by itself when the newest key is 90 days old. The older key proves until its last token has ended,
so nobody notices. Where a key may be known to others, as after a stolen backup of the database, use --now: then every
session ends, and everybody logs in again.`,
		Example: `  HEADGATE_MYSQL_DSN=… admin keys rotate
  HEADGATE_MYSQL_DSN=… admin keys rotate --now --reason "a backup was stolen"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			done, err := app.RotateKeys(cmd.Context(), cfg, log, now, reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		},
	}, &reason)
	rotate.Flags().BoolVar(&now, "now", false, "drop the older keys and end every session")
	cmd.AddCommand(rotate)
	return cmd
}
