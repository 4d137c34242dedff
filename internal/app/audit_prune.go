package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// PruneLeast is the youngest history that may be removed.
const PruneLeast = 30 * 24 * time.Hour

// pruneBatch is how many rows are deleted in one transaction.
const pruneBatch = 2000

// PruneOptions say what "admin audit prune" removes.
type PruneOptions struct {
	OlderThan time.Duration
	DryRun    bool
	Embedded  bool
	Progress  audit.Progress // of the verification and then of the removal; may be nil
}

// ParseAge reads an age such as 400d or 9600h.
func ParseAge(text string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 100_000 {
			return 0, errors.New("must be a number of days such as 400d")
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("must be an age such as 400d or 9600h")
	}
	return age, nil
}

// PruneAudit removes old rows of the history, up to the newest checkpoint that is old enough, and tells what it did. A
// history that does not verify is left alone: what is wrong with it would be lost. A removal that was broken off is
// finished, and that is all then.
func PruneAudit(ctx context.Context, cfg Config, log *slog.Logger, o PruneOptions) (string, error) {
	if o.OlderThan < PruneLeast {
		return "", fmt.Errorf("--older-than must be at least %dd", PruneLeast/(24*time.Hour))
	}
	s, err := openHistory(ctx, cfg, log, o.Embedded)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	report, err := verifyBeforePrune(ctx, s, o.Progress)
	if err != nil {
		return "", err
	}
	if !report.OK() {
		return "", fmt.Errorf("%w (%s); nothing was removed", ErrTampered, report.Faults[0].Text)
	}
	plan, err := planPrune(ctx, s, o)
	if err != nil || o.DryRun || plan.to == 0 {
		return plan.String(o), err
	}
	if !plan.unfinished {
		if err := s.MayDeleteChanges(ctx); err != nil {
			return "", fmt.Errorf("nothing was removed: %w", err)
		}
		if err := tellPrune(ctx, s, plan, o); err != nil {
			return "", err
		}
	}
	return removeChanges(ctx, s, plan, o)
}

func verifyBeforePrune(ctx context.Context, s *store.Store, progress audit.Progress) (audit.Report, error) {
	deployment, err := chainID(ctx, s)
	if err != nil {
		return audit.Report{}, err
	}
	return audit.VerifySource(ctx, s, audit.Expect{Chain: deployment}, nil, progress)
}

// prunePlan is what is to be removed.
type prunePlan struct {
	from, to   int64 // numbers of rows; to is 0 when there is nothing
	point      audit.Checkpoint
	unfinished bool // a row tells of it already
}

func planPrune(ctx context.Context, s *store.Store, o PruneOptions) (prunePlan, error) {
	kept, err := s.KeptChanges(ctx)
	if err != nil {
		return prunePlan{}, err
	}
	note, told, err := s.LastPrune(ctx)
	if err != nil {
		return prunePlan{}, err
	}
	if told && note.To >= kept.First {
		return prunePlan{from: kept.First, to: note.To, unfinished: true}, nil
	}
	point, some, err := s.CheckpointOlderThan(ctx, o.OlderThan, time.Now())
	if err != nil || !some || point.Seq < kept.First {
		return prunePlan{}, err
	}
	return prunePlan{from: kept.First, to: point.Seq, point: point}, nil
}

func (p prunePlan) String(o PruneOptions) string {
	days := int(o.OlderThan / (24 * time.Hour))
	switch {
	case p.to == 0:
		return fmt.Sprintf("Nothing to remove: no checkpoint is older than %d days with only rows of that age before it.", days)
	case p.unfinished:
		return fmt.Sprintf("A removal was broken off: rows %d to %d are left of it and would be removed now.", p.from, p.to)
	default:
		return fmt.Sprintf("Rows %d to %d would be removed; the history would begin behind the checkpoint of %s.", p.from, p.to, p.point.At.Format(time.RFC3339))
	}
}

// tellPrune adds the row that tells of the removal. It comes first, so that there is no moment at which rows are missing
// and none tells of it.
func tellPrune(ctx context.Context, s *store.Store, p prunePlan, o PruneOptions) error {
	before, err := json.Marshal(map[string]any{"from": p.from, "to": p.to, "older_than_hours": int64(o.OlderThan / time.Hour)})
	if err != nil {
		return err
	}
	after, err := json.Marshal(audit.PruneNote{To: p.to, Hash: p.point.Hash.String(), Checkpoint: p.point.String()})
	if err != nil {
		return err
	}
	return s.AppendChange(ctx, model.Change{
		Actor: commandOrigin.Actor, Reason: commandOrigin.Reason, Action: model.ActionAuditPrune, TargetKind: model.TargetSystem,
		Target: "changes", Before: before, After: after,
	})
}

func removeChanges(ctx context.Context, s *store.Store, p prunePlan, o PruneOptions) (string, error) {
	var removed int64
	for {
		n, err := s.DeleteChanges(ctx, p.to, pruneBatch)
		if err != nil {
			return "", fmt.Errorf("%d rows were removed, then: %w; the same command goes on", removed, err)
		}
		if n == 0 {
			return fmt.Sprintf("%d rows were removed; the history begins with row %d.", removed, p.to+1), nil
		}
		removed += n
		if o.Progress != nil {
			o.Progress(removed, p.to-p.from+1)
		}
	}
}
