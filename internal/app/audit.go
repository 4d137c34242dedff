package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// auditSettings are those of the history's chain.
var auditSettings = []setting{
	{"HEADGATE_AUDIT_KEY", func(c *Config, value string) error {
		if _, err := audit.ParseSigner(value); err != nil {
			return err
		}
		c.AuditKey = value
		return nil
	}},
}

// checkpointEvery is how often the chain is signed while it grows.
const checkpointEvery = time.Minute

// Bounds of one look at the chain, and of the last one at the end of the server: a database that hangs must not keep it
// until whoever stops it loses patience. What was not signed the next checkpoint signs.
const (
	checkpointTimeout     = 30 * time.Second
	lastCheckpointTimeout = 2 * time.Second
)

// chainKeeper signs where the history's chain stands. It also checks the rows that came since it last looked, so that
// tampering with a running installation is in the log within a minute or so.
type chainKeeper struct {
	store  *store.Store
	signer *audit.Signer
	log    *slog.Logger
	noted  func() // is told of each fault

	seen audit.Head // how far the chain was checked; a zero Seq is nowhere yet
}

// openChain makes what keeps the history: the recorder of refusals and the signer of checkpoints.
func (a *App) openChain(ctx context.Context) error {
	signer, err := openSigner(ctx, a.cfg, a.store, audit.NewKey())
	if err != nil {
		return err
	}
	a.recorder = audit.NewRecorder(a.store, nil, a.log)
	a.chain = &chainKeeper{store: a.store, signer: signer, log: a.log, noted: a.metrics.Tampering}
	return nil
}

// openSigner takes the key of the settings, or else the one that the database keeps; where it keeps none, fresh becomes
// that one. With a nil fresh: CodeNotFound.
func openSigner(ctx context.Context, cfg Config, s *store.Store, fresh []byte) (*audit.Signer, error) {
	if cfg.AuditKey != "" {
		signer, err := audit.ParseSigner(cfg.AuditKey)
		if err != nil {
			return nil, fmt.Errorf("HEADGATE_AUDIT_KEY %w", err)
		}
		return signer, nil
	}
	seed, err := s.AuditKey(ctx, fresh)
	if err != nil {
		return nil, err
	}
	return audit.SignerOf(seed)
}

// run signs once a minute until ctx ends. The caller signs once more when nobody writes any longer.
func (k *chainKeeper) run(ctx context.Context) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.sign(ctx)
		}
	}
}

// closeChain writes what was counted and signs the chain's end.
func (a *App) closeChain() {
	ctx, cancel := context.WithTimeout(context.Background(), lastCheckpointTimeout)
	defer cancel()
	a.recorder.Close(ctx)
	a.chain.sign(ctx)
}

func (k *chainKeeper) sign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkpointTimeout)
	defer cancel()
	if err := k.trySign(ctx); err != nil {
		k.log.WarnContext(ctx, "the history could not be given a checkpoint; the next one makes up for it", "error", err)
	}
}

// trySign makes a checkpoint unless the newest one is of the chain's present end. What is found wrong does not keep it
// from signing: a checkpoint only says where the chain stood, and the rows to come need theirs.
func (k *chainKeeper) trySign(ctx context.Context) error {
	head, err := k.store.AuditHead(ctx)
	if err != nil {
		return err
	}
	newest, some, err := k.store.LastCheckpoint(ctx)
	if err != nil {
		return err
	}
	if err := k.check(ctx, head, newest); err != nil {
		return err
	}
	if head.Seq < head.First || some && newest.Seq >= head.Seq {
		return nil
	}
	deployment, err := k.store.DeploymentID(ctx)
	if err != nil {
		return err
	}
	c, err := k.signer.Sign(deployment, head, time.Now())
	if err != nil {
		return err
	}
	added, err := k.store.AddCheckpoint(ctx, c)
	if err != nil || !added { // of several servers another one was first
		return err
	}
	k.log.InfoContext(ctx, "the history has a checkpoint", "checkpoint", c.String())
	return nil
}

// checkPage is how many rows are checked at a time.
const checkPage = 1000

// check follows the chain from where it was last seen to head, and logs what does not fit.
func (k *chainKeeper) check(ctx context.Context, head audit.Head, newest audit.Checkpoint) error {
	if k.seen.Seq == 0 {
		// The rows from before this start were checked by the servers of that time; "admin audit verify" checks all.
		k.seen = audit.Head{Seq: newest.Seq, Hash: newest.Hash, First: head.First}
		if newest.Seq == 0 {
			k.seen.Seq = head.First - 1
		}
	}
	if head.Seq < k.seen.Seq || head.First != k.seen.First {
		k.tampered(ctx, fmt.Sprintf("it ends with row %d now and was seen with row %d", head.Seq, k.seen.Seq))
		k.seen = head
	}
	for k.seen.Seq < head.Seq {
		rows, err := k.store.AuditEntries(ctx, model.ChangeQuery{}, k.seen.Seq, checkPage)
		if err != nil {
			return err
		}
		if fault := k.follow(rows, head); fault != "" {
			k.tampered(ctx, fault)
			k.seen = head
		}
	}
	if k.seen.Hash != head.Hash {
		k.tampered(ctx, fmt.Sprintf("row %d has another hash than it had", head.Seq))
		k.seen = head
	}
	return nil
}

// follow links rows to what was seen, up to head. The text says what does not fit.
func (k *chainKeeper) follow(rows []audit.Entry, head audit.Head) string {
	for i := range rows {
		e := &rows[i]
		if e.ID > head.Seq {
			return ""
		}
		if !e.Chained || e.ID != k.seen.Seq+1 || e.Prev != k.seen.Hash || audit.Sum(e.Prev, &e.Change) != e.Hash {
			return fmt.Sprintf("row %d does not follow row %d", e.ID, k.seen.Seq)
		}
		k.seen.Seq, k.seen.Hash = e.ID, e.Hash
	}
	if len(rows) == 0 {
		return fmt.Sprintf("the rows behind row %d are missing", k.seen.Seq)
	}
	return ""
}

func (k *chainKeeper) tampered(ctx context.Context, what string) {
	k.noted()
	k.log.ErrorContext(ctx, `the history was tampered with; "admin audit verify" tells more`, "found", what)
}
