package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// AuditChain is where the history's chain stands.
type AuditChain struct {
	First      int64            `json:"first" doc:"number of the row with which the chain began"`
	Last       int64            `json:"last" doc:"number of the newest row"`
	Hash       string           `json:"hash" doc:"of the newest row; the one that an export of everything ends with"`
	Checkpoint *AuditCheckpoint `json:"checkpoint,omitempty" doc:"the newest one; not there before the first"`
}

// AuditCheckpoint is a signed statement of where the chain stood.
type AuditCheckpoint struct {
	Row  int64     `json:"row" doc:"number of the row that was the newest"`
	At   time.Time `json:"at"`
	Key  string    `json:"key" doc:"the public key, URL-safe base64"`
	Text string    `json:"text" doc:"the whole checkpoint, to be kept outside of the database"`
}

// auditChain tells where the chain stands. It verifies nothing.
func (s *server) auditChain(ctx context.Context, _ *struct{}) (*struct{ Body AuditChain }, error) {
	point, there, err := s.Store.LastCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	head, err := s.Store.AuditHead(ctx) // afterwards, so that it is not behind the checkpoint
	if err != nil {
		return nil, err
	}
	chain := AuditChain{First: head.First, Last: head.Seq, Hash: head.Hash.String()}
	if there {
		chain.Checkpoint = &AuditCheckpoint{Row: point.Seq, At: point.At.UTC(), Key: audit.PublicText(point.Key), Text: point.String()}
	}
	return &struct{ Body AuditChain }{chain}, nil
}

// verifyLine is a line of the answer of verifyChanges: how far it is, and at last what was found.
type verifyLine struct {
	Rows   int64         `json:"rows"`
	Of     int64         `json:"of"`
	Report *audit.Report `json:"report,omitempty"`
}

// verifyAgain is when to come back while another verification is under way.
const verifyAgain = 10 * time.Second

// verifyChanges looks for the first row of the history that is not as it was written, as "admin audit verify" does, and
// tells how far it is while it reads. A server runs one at a time.
func (s *server) verifyChanges(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	if !s.verifying.CompareAndSwap(false, true) {
		return nil, &model.Error{Code: model.CodeTooMany, Message: "a verification is under way; try again when it is over", RetryAfter: verifyAgain}
	}
	chain, err := s.Store.DeploymentID(ctx)
	if err != nil {
		s.verifying.Store(false)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.verifying.Store(false)
		hc.SetHeader("Content-Type", "application/jsonl")
		hc.SetStatus(http.StatusOK)
		w := humagin.Unwrap(hc).Writer
		if err := s.verify(ctx, chain, &exportFile{to: w, control: http.NewResponseController(w)}); err != nil {
			s.log.WarnContext(ctx, "verification broken off", "request_id", callOf(ctx).requestID, "cause", err)
			panic(http.ErrAbortHandler) // the client sees a transfer that failed, and no report
		}
	}}, nil
}

// verify writes the lines. Whoever does not take them ends the verification.
func (s *server) verify(ctx context.Context, chain string, to *exportFile) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var rows, of int64
	tell := func(line verifyLine) error {
		if err := json.NewEncoder(to).Encode(line); err != nil {
			return err
		}
		return to.control.Flush()
	}
	report, err := audit.VerifySource(ctx, s.Store, audit.Expect{Chain: chain}, nil, func(done, all int64) {
		rows, of = done, all
		err := s.stillMay(ctx)
		if err == nil {
			err = tell(verifyLine{Rows: rows, Of: of})
		}
		if err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	return tell(verifyLine{Rows: rows, Of: of, Report: &report})
}
