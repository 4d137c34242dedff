package main

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

// version is set by release builds: -ldflags "-X main.version=1.2.3".
var version = "development"

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Headgate's admin server: edit rate limits in a browser, keep Redis equal to the database",
		Long: `Headgate's admin server: edit rate limits in a browser, keep Redis equal to the database.

Settings come from HEADGATE_… variables; docs/operations.md lists them all. Each may also be given as NAME_FILE,
the path of a file that holds the value, and all may stand in one file (--config). A flag counts before the
environment, and the environment before the file.`,
		Example: `  admin serve --embedded                        try Headgate out, with sample data
  HEADGATE_MYSQL_DSN='headgate:secret@tcp(127.0.0.1:3306)/headgate' HEADGATE_REDIS_URL=redis://127.0.0.1:6379/0 admin serve`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.PersistentFlags().String(configFlag, "", "file with settings, a line NAME=VALUE for each ("+app.ConfigFileVariable+")")
	cmd.AddCommand(configCommand(), exportCommand(), importCommand(), probeCommand(), versionCommand(),
		serveCommand(), migrateCommand(), userCommand(), keysCommand(), syncCommand(), auditCommand(), openapiCommand())
	return cmd
}

// configure reads the settings and makes the log that goes with them. A setting that can't be read keeps its default.
func configure(cmd *cobra.Command) (app.Config, *slog.Logger, error) {
	sources, err := sourcesOf(cmd)
	cfg, broken := app.Load(sources...)
	cfg.Version = version
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(cmd.ErrOrStderr(), options)
	if cfg.LogJSON {
		handler = slog.NewJSONHandler(cmd.ErrOrStderr(), options)
	}
	return cfg, slog.New(handler), errors.Join(err, broken)
}

func openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI 3.1 document of the API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(app.OpenAPI())
			return err
		},
	}
}
