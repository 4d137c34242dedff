package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema to this version, then exit",
		Long: `Bring the database's schema to this version, then exit.

"admin serve" does the same at its start; use this where the serving database user may not change tables.`,
		Example: `  HEADGATE_MYSQL_DSN='owner:secret@tcp(127.0.0.1:3306)/headgate' admin migrate`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			if err := app.Migrate(cmd.Context(), cfg, log); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "The schema is up to date.")
			return err
		},
	}
}
