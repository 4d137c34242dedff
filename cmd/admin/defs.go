package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Write all apps and buckets as YAML to standard output",
		Long: `Write all apps and buckets as YAML to standard output, as they stand at one moment.

The same definitions give the same bytes, so that the file may be kept under version control. Comments say who owns
what. People, tokens, webhooks and the history are not in it: a backup of the database has everything.`,
		Example: `  HEADGATE_MYSQL_DSN=… admin export > definitions.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			return app.Export(cmd.Context(), cfg, log, cmd.OutOrStdout())
		},
	}
}

func importCommand() *cobra.Command {
	var o app.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Bring apps and buckets to what a YAML file says, all of it or nothing",
		Long: `Bring apps and buckets to what a YAML file says, all of it or nothing. FILE may be - for standard input.

What the file names is created or changed, under the same rules and with the same rows in the history as by hand; what
it does not name is left alone, unless --prune is given. Owners and members must be users already. Running servers
bring the buckets to Redis within a second.`,
		Example: `  HEADGATE_MYSQL_DSN=… admin import definitions.yaml --dry-run --reason "new limits for the sale"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			file := io.NopCloser(cmd.InOrStdin())
			if args[0] != "-" {
				if file, err = os.Open(args[0]); err != nil {
					return err
				}
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			return app.Import(cmd.Context(), cfg, log, file, o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "why, for the history; needed")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&o.Prune, "prune", false, "delete the apps and buckets that the file does not name")
	return cmd
}
