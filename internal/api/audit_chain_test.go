package api_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

const verifyPath = "/api/v1/audit/verify"

// verification is a line of the answer.
type verification struct {
	Rows, Of int64
	Report   *audit.Report
}

// verified reads a whole verification: each line tells no less than the one before it, and only the last one has a report.
func verified(t *testing.T, c *client) verification {
	t.Helper()
	var last verification
	lines := bufio.NewScanner(c.open(verifyPath).Body)
	for lines.Scan() {
		var next verification
		must(t, json.Unmarshal(lines.Bytes(), &next))
		if last.Report != nil || next.Rows < last.Rows || next.Rows > next.Of {
			t.Fatalf("%+v comes behind %+v", next, last)
		}
		last = next
	}
	must(t, lines.Err())
	if last.Report == nil {
		t.Fatalf("no report, at last %+v", last)
	}
	return last
}

func TestTheChainIsToldAndVerified(t *testing.T) {
	dsn := testenv.MySQL(t)
	w := newWorld(t, store.Config{MySQLDSN: dsn})
	c := w.as(aud)
	var chain api.AuditChain
	c.do("GET", "/api/v1/audit/chain", nil).want(t, http.StatusOK).into(t, &chain)
	if chain.Checkpoint != nil {
		t.Errorf("before the first checkpoint: %+v", chain.Checkpoint)
	}
	if got := verified(t, c).Report; !got.OK() || got.Checkpoints != 0 || got.Keys == nil {
		t.Errorf("before the first checkpoint: %+v, want no fault and an empty list of keys", got)
	}

	signer, err := audit.SignerOf(audit.NewKey())
	must(t, err)
	id, err := w.store.DeploymentID(t.Context())
	must(t, err)
	head, err := w.store.AuditHead(t.Context())
	must(t, err)
	point, err := signer.Sign(id, head, time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC))
	must(t, err)
	_, err = w.store.AddCheckpoint(t.Context(), point)
	must(t, err)
	c.do("GET", "/api/v1/audit/chain", nil).want(t, http.StatusOK).into(t, &chain)
	want := api.AuditCheckpoint{Row: head.Seq, At: point.At, Key: audit.PublicText(signer.Public()), Text: point.String()}
	if chain.First != head.First || chain.Last != head.Seq || chain.Hash != head.Hash.String() || *chain.Checkpoint != want {
		t.Errorf("chain %+v with %+v, want %+v with %+v", chain, chain.Checkpoint, head, want)
	}

	if got := verified(t, c); !got.Report.OK() || got.Rows != head.Seq || got.Of != head.Seq || got.Report.Last != head.Seq || got.Report.Checkpoints != 1 {
		t.Errorf("verified %+v: %+v", got, got.Report)
	}
	db, err := sql.Open("mysql", dsn)
	must(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "UPDATE changes SET actor = 'mallory' WHERE id = ?", head.First+1)
	must(t, err)
	if got := verified(t, c).Report; len(got.Faults) == 0 || got.Faults[0].Kind != audit.Altered || got.Faults[0].Seq != head.First+1 {
		t.Errorf("of an altered row %+v", got)
	}
}

// One verification runs at a time, and one that is broken off, by whom ever, has no report and gives its place back.
func TestAVerificationThatIsBrokenOffHasNoReport(t *testing.T) {
	left := func(_ *world, answer *http.Response) { _ = answer.Body.Close() }
	demoted := func(w *world, _ *http.Response) {
		u, err := w.store.User(t.Context(), aud)
		must(t, err)
		role := model.RoleMember
		_, err = w.store.UpdateUser(t.Context(), aud, u.Revision, model.UserPatch{Role: &role}, byRoot)
		must(t, err)
	}
	w := manyRows(t, 100_000)
	second := w.as(root)
	for _, end := range []func(*world, *http.Response){left, demoted} {
		answer := w.as(aud).open(verifyPath)
		line, err := bufio.NewReaderSize(answer.Body, 16).ReadString('\n')
		must(t, err)
		if strings.Contains(line, "report") {
			t.Fatalf("the first line is the last one: %s", line)
		}
		busy := second.do("GET", verifyPath, nil)
		if busy.problem(t, http.StatusTooManyRequests); busy.header.Get("Retry-After") == "" {
			t.Errorf("headers %v", busy.header)
		}
		end(w, answer)
		if rest, err := io.ReadAll(answer.Body); err == nil || strings.Contains(string(rest), "report") {
			t.Errorf("%d bytes more, as if it were whole", len(rest))
		}
		testenv.Eventually(t, 30*time.Second, "the place is free", func() bool { return second.do("GET", verifyPath, nil).status == http.StatusOK })
	}
}
