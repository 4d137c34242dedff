package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func syncCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sync", Short: "Make Redis equal to the database, or say whose Redis it is"}
	repair := syncAction("repair", "Compare all of Redis with the database, mend it and report", `Compare all of Redis with the database, mend what differs and report; the history gets a row for what was mended.

"admin serve" does so by itself every HEADGATE_REPAIR_INTERVAL.`, app.SyncNow)
	repair.Aliases = []string{"now"}
	cmd.AddCommand(
		syncAction("status", "Say whose Redis it is, what waits for it, and who uses it", `Say whose Redis it is, how many buckets wait to be brought to it, how the marks that show data loss stand (one for each
master of a Redis Cluster), and which SDK instances are alive. Nothing is written.`, app.SyncStatus),
		syncAction("diff", "Print what differs between Redis and the database", `Compare all of Redis with the database, field by field, and print a line for each bucket that differs: its revisions, and
the fields or what waits. Nothing is written. The exit code is 1 when something differs, so that scripts hear of it.`, app.SyncDiff),
		repair,
		syncAction("adopt", "Take over a Redis that belongs to another deployment", `Take over a Redis that belongs to another deployment.

Headgate writes only to a Redis that carries its own deployment's id, so that two installations never overwrite each
other's limits. Use this after moving to a new database, when the old installation is switched off for good.`, app.Adopt),
		syncAction("new-identity", "Give this database an identity of its own", `Give this database an identity of its own.

A database copied from another installation (staging made from production) carries that one's identity and would write
to its Redis. Run this once on the copy, with the copy's own HEADGATE_REDIS_URL, before "admin serve".`, app.NewIdentity),
	)
	return cmd
}

func syncAction(use, short, long string, act func(context.Context, app.Config, *slog.Logger) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.NoArgs,
		Example: "  HEADGATE_MYSQL_DSN=… HEADGATE_REDIS_URL=… admin sync " + use,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			said, failed := act(cmd.Context(), cfg, log)
			if said != "" {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), said); err != nil {
					return err
				}
			}
			return failed
		},
	}
}
