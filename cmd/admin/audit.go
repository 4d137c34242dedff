package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate/headgate/internal/app"
)

func auditCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Verify the history, sign it with a key of your own, remove what is old"}
	cmd.AddCommand(auditVerifyCommand(), auditKeygenCommand(), auditKeyCommand(), auditPruneCommand())
	return cmd
}

func auditVerifyCommand() *cobra.Command {
	var o app.VerifyOptions
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find the first row of the history that is not as it was written",
		Long: `Find the first row of the history that is not as it was written: altered, removed, inserted or reordered.

It reads the configured database, whose servers may go on meanwhile, or with --export a file, for which it needs
neither database nor settings. A checkpoint from outside of the database (from the log, a webhook, or a file where you
keep them) shows rows that were cut off at the end and a chain that was made anew; docs/audit.md tells how.

Exit status: 0 the history is as it was written; 2 it is not, or nothing shows that your key signed it; 1 it could not be
verified.`,
		Example: `  HEADGATE_MYSQL_DSN=… admin audit verify
  HEADGATE_MYSQL_DSN=… admin audit verify --checkpoint @/var/log/headgate.log --public-key audit.pub
  admin audit verify --export changes.jsonl --checkpoint 'headgate-checkpoint:1:…'
  gunzip -c changes.jsonl.gz | admin audit verify --export -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil && o.Export == "" {
				return err
			}
			o.Stdin = cmd.InOrStdin()
			if !quiet {
				o.Progress = progressTo(cmd.ErrOrStderr(), "verified")
			}
			report, failed := app.VerifyAudit(cmd.Context(), cfg, log, o)
			if failed != nil && report.OK() {
				return failed
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			} else {
				_, err = fmt.Fprint(cmd.OutOrStdout(), app.AuditSummary(report, o))
			}
			if failed != nil {
				return failed
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Export, "export", "", "verify this export in JSON Lines instead of the database; - is standard input")
	flags.StringArrayVar(&o.Checkpoints, "checkpoint", nil, "a checkpoint's text, or @FILE with checkpoints anywhere in it; may be repeated")
	flags.StringArrayVar(&o.PublicKeys, "public-key", nil, "the key that must have signed, as text or a FILE; may be repeated")
	flags.BoolVar(&o.Filtered, "filtered", false, "the export leaves rows out: verify each row by itself")
	flags.BoolVar(&o.Embedded, "embedded", false, `verify the database of "admin serve --embedded" in HEADGATE_DATA_DIR`)
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	flags.BoolVar(&quiet, "quiet", false, "show no progress")
	return cmd
}

func auditKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen",
		Short: "Make a private key for HEADGATE_AUDIT_KEY_FILE",
		Long: `Make a private key for HEADGATE_AUDIT_KEY_FILE. It goes to standard output, the public key to standard error.

All servers of an installation sign with the same key. Keep the public key where whoever owns the database can't change
it: with the auditors.`,
		Example: `  (umask 077; admin audit keygen > audit.key)`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			private, public, err := app.NewAuditKey()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), private); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "The public key is %s\n", public)
			return err
		},
	}
}

func auditKeyCommand() *cobra.Command {
	var embedded, pem bool
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Print the public key of this installation's checkpoints",
		Example: `  HEADGATE_AUDIT_KEY_FILE=audit.key admin audit key`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			key, err := app.AuditPublicKey(cmd.Context(), cfg, log, embedded, pem)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), key)
			return err
		},
	}
	cmd.Flags().BoolVar(&embedded, "embedded", false, `the key of "admin serve --embedded"`)
	cmd.Flags().BoolVar(&pem, "pem", false, "print it as PEM, as other programs read it")
	return cmd
}

func auditPruneCommand() *cobra.Command {
	var o app.PruneOptions
	var age string
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Remove old rows of the history",
		Long: `Remove the rows of the history up to the newest checkpoint that is older than AGE (at least 30d).

The history is verified first, and left alone if it is not as it was written. A row that stays tells what was removed,
with the checkpoint that stands for it, and what is left verifies from there. A removal that was broken off is finished
by the next call.

What is removed is gone for more than reading: a bucket can't be rolled back to a revision whose row is removed, nor
compared with it, and what was in force at a time before the kept history can't be answered. Export first what you may
need. The database user needs the rights of docs/security.md, "The maintenance user"; the one that serves has not.`,
		Example: `  HEADGATE_MYSQL_DSN='maintenance:secret@tcp(127.0.0.1:3306)/headgate' admin audit prune --older-than 400d --dry-run`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := configure(cmd)
			if err != nil {
				return err
			}
			if o.OlderThan, err = app.ParseAge(age); err != nil {
				return fmt.Errorf("--older-than %w", err)
			}
			o.Progress = progressTo(cmd.ErrOrStderr(), "done")
			said, err := app.PruneAudit(cmd.Context(), cfg, log, o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "age of the youngest row that is removed, such as 400d; at least 30d")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&o.Embedded, "embedded", false, `the database of "admin serve --embedded"`)
	_ = cmd.MarkFlagRequired("older-than") // it fails only for a flag that is not there
	return cmd
}

// progressTo tells every few seconds how far a long run is; a short one says nothing.
func progressTo(to io.Writer, what string) func(rows, of int64) {
	next := time.Now().Add(3 * time.Second)
	return func(rows, of int64) {
		now := time.Now()
		if now.Before(next) {
			return
		}
		next = now.Add(3 * time.Second)
		if of > 0 {
			_, _ = fmt.Fprintf(to, "%d of %d rows %s\n", rows, of, what)
			return
		}
		_, _ = fmt.Fprintf(to, "%d rows %s\n", rows, what)
	}
}
