package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func serveCommand() *cobra.Command {
	var embedded bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the console and the API, and keep Redis equal to the database",
		Example: `  admin serve --embedded
  HEADGATE_MYSQL_DSN=… HEADGATE_REDIS_URL=… HEADGATE_LISTEN=0.0.0.0:8080 admin serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			cfg.Embedded = embedded
			if err := errors.Join(err, cfg.Validate()); err != nil {
				return err
			}
			keepSmall()
			server, err := app.New(cmd.Context(), cfg, log)
			if err != nil {
				return err
			}
			defer server.Close()
			server.Banner(cmd.OutOrStdout())
			return server.Run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&embedded, "embedded", false, "run on a database and a Redis inside this process, with sample data; for evaluation only")
	settingFlags(cmd)
	return cmd
}
