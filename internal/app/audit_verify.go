package app

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// ErrTampered says that the history is not as it was written. The report tells what was found.
var ErrTampered = errors.New("the history is not as it was written")

// ErrUnvouched says that the rows follow from each other, and that nothing shows that the expected key signed them.
var ErrUnvouched = errors.New("the history can't be relied on: its rows fit each other, but no signed checkpoint is there")

// VerifyOptions say what "admin audit verify" looks at.
type VerifyOptions struct {
	Export      string         // a file of JSON Lines, "-" for Stdin; "": the configured database
	Stdin       io.Reader      // what "-" reads
	Checkpoints []string       // each a checkpoint's text, or @FILE with texts anywhere in it, such as a server's log
	PublicKeys  []string       // each a key's text, or a FILE; none: the key of HEADGATE_AUDIT_KEY where it is set
	Filtered    bool           // rows are left out of the export
	Embedded    bool           // the database of "admin serve --embedded"
	Progress    audit.Progress // may be nil
}

// VerifyAudit looks for the first row of the history that is not as it was written. With a fault the error is
// ErrTampered or ErrUnvouched; any other error says why it could not be verified.
func VerifyAudit(ctx context.Context, cfg Config, log *slog.Logger, o VerifyOptions) (audit.Report, error) {
	expect := audit.Expect{Filtered: o.Filtered}
	var err error
	if expect.Keys, err = publicKeys(cfg, o.PublicKeys); err != nil {
		return audit.Report{}, err
	}
	given, err := checkpointsOf(o.Checkpoints)
	if err != nil {
		return audit.Report{}, err
	}
	var report audit.Report
	switch {
	case o.Export != "":
		report, err = verifyFile(o, expect, given)
	case o.Filtered:
		err = errors.New("--filtered goes with --export: the database has every row")
	default:
		report, err = verifyDatabase(ctx, cfg, log, o, expect, given)
	}
	if err == nil {
		err = verdict(report)
	}
	return report, err
}

func verdict(r audit.Report) error {
	switch {
	case r.OK():
		return nil
	case len(r.Faults) == 1 && r.Faults[0].Kind == audit.Unvouched:
		return ErrUnvouched
	default:
		return ErrTampered
	}
}

func verifyFile(o VerifyOptions, expect audit.Expect, given []audit.Checkpoint) (audit.Report, error) {
	from := o.Stdin
	if o.Export != "-" {
		file, err := os.Open(o.Export)
		if err != nil {
			return audit.Report{}, err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	report, err := audit.VerifyExport(from, expect, given, o.Progress)
	if err != nil && len(report.Faults) > 0 { // who takes out a line may not know to mend the end line too
		err = fmt.Errorf("%w: %s; besides, %w", ErrTampered, report.Faults[0].Text, err)
	}
	return report, err
}

func verifyDatabase(ctx context.Context, cfg Config, log *slog.Logger, o VerifyOptions, expect audit.Expect, given []audit.Checkpoint) (audit.Report, error) {
	s, err := openHistory(ctx, cfg, log, o.Embedded)
	if err != nil {
		return audit.Report{}, err
	}
	defer func() { _ = s.Close() }()
	if expect.Chain, err = chainID(ctx, s); err != nil {
		return audit.Report{}, err
	}
	return audit.VerifySource(ctx, s, expect, given, o.Progress)
}

// chainID is the deployment's id, or "" for a user who may not read it: it stands beside the keys of logins.
func chainID(ctx context.Context, s *store.Store) (string, error) {
	id, err := s.DeploymentID(ctx)
	if store.LacksRight(err) {
		return "", nil
	}
	return id, err
}

// openHistory opens the database for those who look after its history: it changes no table, which their user may not.
func openHistory(ctx context.Context, cfg Config, log *slog.Logger, embedded bool) (*store.Store, error) {
	opened, err := storeConfig(cfg, log)
	if err != nil {
		return nil, err
	}
	if embedded {
		opened = store.Config{SQLitePath: filepath.Join(cfg.DataDir, "headgate.db"), Log: log}
		if _, err := os.Stat(opened.SQLitePath); err != nil {
			return nil, fmt.Errorf("there is no embedded database: %w", err)
		}
	} else if cfg.MySQLDSN == "" {
		return nil, errNoDSN
	}
	s, err := store.Open(ctx, opened)
	if err != nil {
		return nil, err
	}
	if _, err := s.AuditHead(ctx); err != nil {
		_ = s.Close()
		if model.CodeOf(err) == model.CodeInternal {
			err = errors.New(`the chain's head can't be read; if the database is of an earlier version, "admin migrate" begins the chain`)
		}
		return nil, err
	}
	return s, nil
}

var errNoDSN = errors.New("HEADGATE_MYSQL_DSN is not set, e.g. user:password@tcp(127.0.0.1:3306)/headgate")

func publicKeys(cfg Config, given []string) (keys []ed25519.PublicKey, err error) {
	if len(given) == 0 && cfg.AuditKey != "" {
		signer, err := audit.ParseSigner(cfg.AuditKey)
		if err != nil {
			return nil, fmt.Errorf("HEADGATE_AUDIT_KEY %w", err)
		}
		return []ed25519.PublicKey{signer.Public()}, nil
	}
	for _, text := range given {
		key, err := audit.ParsePublic(text)
		if err != nil {
			raw, readErr := os.ReadFile(text)
			if readErr != nil {
				return nil, fmt.Errorf("--public-key is neither a key nor a file with one: %w", readErr)
			}
			if key, err = audit.ParsePublic(string(raw)); err != nil {
				return nil, fmt.Errorf("--public-key %s: %w", text, err)
			}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// checkpointText finds checkpoints in any text, such as a log.
var checkpointText = regexp.MustCompile(`headgate-checkpoint:1:[A-Za-z0-9_:-]+`)

func checkpointsOf(given []string) (all []audit.Checkpoint, err error) {
	for _, text := range given {
		found := []string{text}
		if path, isFile := strings.CutPrefix(text, "@"); isFile {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("--checkpoint: %w", err)
			}
			if found = checkpointText.FindAllString(string(raw), -1); len(found) == 0 {
				return nil, fmt.Errorf("--checkpoint: there is no checkpoint in %s", path)
			}
		}
		for _, text := range found {
			c, err := audit.ParseCheckpoint(text)
			if err != nil {
				return nil, fmt.Errorf("--checkpoint: %w", err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// AuditSummary is a report in sentences.
func AuditSummary(r audit.Report, o VerifyOptions) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	summarizeRows(r, say)
	if r.Unchained > 0 {
		say("Rows from before the chain began, which nothing protects: %d.", r.Unchained)
	}
	switch {
	case r.PrunedTo >= r.First && r.Gaps == 0 && r.Last > 0:
		say("A removal of the rows up to %d by retention was begun and not finished; \"admin audit prune\" goes on with it.", r.PrunedTo)
	case r.PrunedTo > 0:
		say("Rows up to %d were removed by retention, and a row of the history with a signed checkpoint tells of it.", r.PrunedTo)
	}
	if r.Gaps > 0 {
		say("Rows are left out in %d places: each row that is there is whole, but a filtered export can't show that none was removed.", r.Gaps)
	}
	if r.Checkpoints > 0 {
		say("Checkpoints that agree: %d.", r.Checkpoints)
	}
	if r.Unchecked > 0 {
		say("Checkpoints of rows that could not be compared: %d.", r.Unchecked)
	}
	if len(r.Keys) > 0 && !r.KeysGiven {
		say("They are signed by %s. Is that your key? Give the one that you know with --public-key.", strings.Join(r.Keys, ", "))
	}
	if o.Export == "" && r.Last > 0 && r.Checkpoints == 0 && r.OK() {
		say("No checkpoint is in the database, which servers add to every minute: a chain that was made anew as a whole, its checkpoints removed, would not show.")
	}
	if len(o.Checkpoints) == 0 {
		say("No checkpoint from outside was given: rows cut off at the end together with their checkpoints would not show.")
	}
	return b.String()
}

func summarizeRows(r audit.Report, say func(format string, args ...any)) {
	switch {
	case r.OK() && r.Last == 0:
		say("No row of the chain is there.")
		return
	case r.OK():
		say("The history is as it was written: rows %d to %d, the last with the hash %s.", r.First, r.Last, r.Hash)
		return
	case slices.Contains([]audit.Kind{audit.Unsigned, audit.Foreign, audit.Unvouched}, r.Faults[0].Kind):
		say("The rows hold together, but checkpoints of them can't be relied on:")
	default:
		say("The history is NOT as it was written:")
	}
	for _, f := range r.Faults {
		say("  row %d: %s: %s", f.Seq, f.Kind, f.Text)
	}
	if r.MoreFaults > 0 {
		say("  and %d more checkpoints", r.MoreFaults)
	}
}
