package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema to this version, then exit",
		Long: `Bring the database's schema to this version, then exit.

"admin serve" does the same at its start; use this where the serving database user may not change tables. No other
command changes the schema.`,
		Example: `  HEADGATE_MYSQL_DSN='owner:secret@tcp(127.0.0.1:3306)/headgate' admin migrate`,
		Args:    cobra.NoArgs,
		RunE:    migrateUp,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "up",
		Short: "The same as without it",
		Args:  cobra.NoArgs,
		RunE:  migrateUp,
	}, &cobra.Command{
		Use:   "status",
		Short: "List the migrations and which of them the database has; exit code 1 when one is missing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			return app.MigrateStatus(cmd.Context(), cfg, log, cmd.OutOrStdout())
		},
	})
	return cmd
}

func migrateUp(cmd *cobra.Command, _ []string) error {
	cfg, log, err := configure(cmd)
	if err != nil {
		return err
	}
	if err := app.Migrate(cmd.Context(), cfg, log); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "The schema is up to date.")
	return err
}
