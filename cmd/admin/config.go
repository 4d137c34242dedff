package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

const configFlag = "config"

// settingFlags gives a command a flag for each setting that holds no secret.
func settingFlags(cmd *cobra.Command) {
	for name, flag := range app.FlagNames() {
		cmd.Flags().String(flag, "", name)
	}
}

// sourcesOf lists where a command's settings come from, what counts first first.
func sourcesOf(cmd *cobra.Command) ([]app.Source, error) {
	flags := app.FlagNames()
	sources := []app.Source{
		{Name: "flag", Get: func(name string) string {
			if flag := cmd.Flags().Lookup(flags[name]); flag != nil && flag.Changed {
				return flag.Value.String()
			}
			return ""
		}},
		{Name: "environment", Get: os.Getenv},
	}
	path, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = os.Getenv(app.ConfigFileVariable)
	}
	if path == "" {
		return sources, nil
	}
	file, err := app.ReadConfigFile(path)
	if err != nil {
		return sources, err
	}
	return append(sources, file), nil
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Look at the settings"}
	cmd.AddCommand(configCheckCommand())
	return cmd
}

func configCheckCommand() *cobra.Command {
	var embedded bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Show what the settings come to, without secrets, and everything that is wrong with them",
		Long: `Show what the settings come to, without secrets, and everything that is wrong with them.

It starts nothing and connects to nothing. The exit code is 1 when "admin serve" would refuse the settings, or when a
HEADGATE_… variable is no setting.`,
		Example: `  admin config check --config /etc/headgate/headgate.env`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sources, err := sourcesOf(cmd)
			if err != nil {
				return err
			}
			if err := app.CheckConfig(cmd.OutOrStdout(), embedded, os.Environ(), sources...); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "\nThe settings are good.")
			return err
		},
	}
	cmd.Flags().BoolVar(&embedded, "embedded", false, `check for "admin serve --embedded"`)
	settingFlags(cmd)
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "headgate %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}

func probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "probe",
		Short: "Ask the server on this machine whether it is ready; exit code 1 when it is not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := configure(cmd)
			if err != nil {
				return err
			}
			return app.Probe(cmd.Context(), cfg)
		},
	}
}
