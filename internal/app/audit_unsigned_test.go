package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

// Who names the key that must have signed the history is not told that all is well when every checkpoint was removed;
// who names none is told that nothing is signed. A checkpoint that was kept elsewhere vouches for the rows all the same.
func TestHistoryWhoseCheckpointsWereRemovedIsNotVouchedFor(t *testing.T) {
	dsn, s := history(t, nil)
	add(t, s, 5)
	k, _ := keeper(t, s)
	k.sign(t.Context())
	kept, _, err := s.LastCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{MySQLDSN: dsn}
	key := audit.PublicText(k.signer.Public())
	must(VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{PublicKeys: []string{key}}))(t)

	exec(t, dsn, "DELETE FROM audit_checkpoints")
	report, err := VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{PublicKeys: []string{key}})
	if !errors.Is(err, ErrUnvouched) || len(report.Faults) != 1 || report.Faults[0].Kind != audit.Unvouched || report.Faults[0].To != 5 {
		t.Errorf("with the key: %+v, %v", report, err)
	}
	if said := AuditSummary(report, VerifyOptions{}); !strings.Contains(said, "nothing shows that your key signed") {
		t.Error(said)
	}
	report = must(VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{}))(t)
	if said := AuditSummary(report, VerifyOptions{}); !strings.Contains(said, "No checkpoint is in the database") {
		t.Error(said)
	}
	outside := VerifyOptions{PublicKeys: []string{key}, Checkpoints: []string{kept.String()}}
	if report := must(VerifyAudit(t.Context(), cfg, quiet(), outside))(t); report.Checkpoints != 1 {
		t.Errorf("with a checkpoint from outside: %+v", report)
	}
}

// A user who may not delete history is refused before a row tells of a removal that does not follow.
func TestPruneByAUserWithoutTheRightTellsOfNoRemoval(t *testing.T) {
	dsn, s, _ := old(t)
	add(t, s, 1)
	serving := Config{MySQLDSN: testenv.DocumentedUser(t, dsn, securityPage, "sql-serving")}
	_, err := PruneAudit(t.Context(), serving, quiet(), PruneOptions{OlderThan: PruneLeast})
	if err == nil || !strings.Contains(err.Error(), "nothing was removed") || model.CodeOf(err) != model.CodeUnavailable {
		t.Errorf("it says %v", err)
	}
	if head := must(s.AuditHead(t.Context()))(t); head.Seq != 26 {
		t.Errorf("the history has %d rows, 26 were written", head.Seq)
	}
}
