package app

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

const securityPage = root + "/docs/security.md"

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// history is a migrated database with its store.
func history(t *testing.T, now func() time.Time) (dsn string, s *store.Store) {
	t.Helper()
	dsn = testenv.MySQL(t)
	s, err := store.Open(t.Context(), store.Config{MySQLDSN: dsn, Now: now, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dsn, s
}

func add(t *testing.T, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		c := model.Change{Actor: fmt.Sprint("u", i), Action: model.ActionLogin, TargetKind: model.TargetUser}
		if err := s.AppendChange(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func exec(t *testing.T, dsn, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// keeper signs with a fresh key, and says in the log what it finds.
func keeper(t *testing.T, s *store.Store) (*chainKeeper, *bytes.Buffer) {
	t.Helper()
	signer, err := audit.SignerOf(audit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	return &chainKeeper{store: s, signer: signer, log: slog.New(slog.NewTextHandler(&said, nil)), noted: func() {}}, &said
}

// A server that works under the documented rights records what is refused, folds what is repeated, and when it stops
// its history ends with a signed checkpoint.
func TestServerUnderTheDocumentedRightsLeavesASignedHistory(t *testing.T) {
	dsn, s := history(t, nil)
	redis, prefix := testenv.Redis(t)
	private, public, err := NewAuditKey()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN = "127.0.0.1:0", testenv.DocumentedUser(t, dsn, securityPage, "sql-serving")
	cfg.RedisURL, cfg.RedisPrefix = "redis://"+redis+"/0", prefix
	cfg.AdminPassword, cfg.AuditKey = "a-password-of-some-length", private
	server, err := New(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	stop := adminenv.Run(t, server)
	for range 8 {
		guess(t, server.URL())
	}
	stop()
	page, err := s.Changes(t.Context(), model.ChangeQuery{Action: model.ActionLoginRefused})
	if err != nil {
		t.Fatal(err)
	}
	var events int64
	for _, c := range page.Items {
		events += c.Count
	}
	if events != 8 || len(page.Items) > 4 {
		t.Errorf("%d refused logins in %d rows, want 8 in at most 4: first and repeated, wrong and held off", events, len(page.Items))
	}
	report, err := VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{PublicKeys: []string{public}})
	if err != nil || report.Checkpoints != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if c, _, err := s.LastCheckpoint(t.Context()); err != nil || c.Seq != report.Last {
		t.Errorf("the last checkpoint is of row %d, the last row is %d; %v", c.Seq, report.Last, err)
	}
}

// A database and a collector of traces that hang keep a server from ending no longer than is documented, requests in hand
// that wait for the database included.
func TestServerEndsInTimeWhileTheDatabaseHangs(t *testing.T) {
	dsn, _ := history(t, nil)
	where, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testenv.Proxy(t, where.Addr)
	where.Addr = proxy.Addr
	redis, prefix := testenv.Redis(t)
	cfg := Defaults()
	cfg.Listen, cfg.MySQLDSN, cfg.RedisURL, cfg.RedisPrefix = "127.0.0.1:0", where.FormatDSN(), "redis://"+redis+"/0", prefix
	cfg.AdminPassword = "a-password-of-some-length"
	collector := hangingServer(t)
	cfg.OTLPEndpoint = "http://" + collector
	server, err := New(t.Context(), cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	logins := make(chan struct{}, 10)
	handler := server.server.Handler
	server.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // others on this machine may try what was their port before
			logins <- struct{}{}
		}
		handler.ServeHTTP(w, r)
	})
	stop := adminenv.Run(t, server)
	for range 4 {
		guess(t, server.URL()) // what is to be written at the end
	}
	for range 4 {
		<-logins
	}
	proxy.LoseReplies(t)
	inHand := make(chan int, 1)
	visitor := adminenv.Visitor(t, server.URL(), nil)
	go func() {
		a, _ := visitor.Ask(t.Context(), http.MethodPost, "/auth/login", nil, adminenv.Credentials("somebody", "wrong"))
		inHand <- a.Status
	}()
	<-logins
	began := time.Now()
	stop()
	took := time.Since(began)
	t.Logf("it took %v", took)
	if took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if status := <-inHand; status != http.StatusServiceUnavailable {
		t.Errorf("the request in hand was answered %d", status)
	}
}

// hangingServer takes connections and never answers.
func hangingServer(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return listener.Addr().String()
}

// guess tries a wrong password.
func guess(t *testing.T, url string) {
	t.Helper()
	a, err := adminenv.Visitor(t, url, nil).Ask(t.Context(), http.MethodPost, "/auth/login", nil, adminenv.Credentials("admin", "wrong"))
	if err != nil || a.Status != http.StatusUnauthorized && a.Status != http.StatusTooManyRequests {
		t.Fatalf("status %d, %v", a.Status, err)
	}
}

// A checkpoint is made when the chain has grown and only then, stands in the log as one text, and can be verified with.
func TestCheckpointsFollowTheChain(t *testing.T) {
	dsn, s := history(t, nil)
	k, said := keeper(t, s)
	other, _ := keeper(t, s)
	k.sign(t.Context())
	if said.Len() > 0 {
		t.Errorf("an empty chain was signed: %s", said)
	}
	for range 3 {
		add(t, s, 2)
		k.sign(t.Context())
		other.sign(t.Context())
		k.sign(t.Context())
	}
	points, err := s.Checkpoints(t.Context(), 0, 10)
	if err != nil || len(points) != 3 || points[2].Seq != 6 {
		t.Fatalf("checkpoints %v, %v", points, err)
	}
	log := filepath.Join(t.TempDir(), "headgate.log")
	if err := os.WriteFile(log, said.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := VerifyOptions{Checkpoints: []string{"@" + log}, PublicKeys: []string{audit.PublicText(k.signer.Public())}}
	report, err := VerifyAudit(t.Context(), Config{MySQLDSN: dsn}, quiet(), o)
	if err != nil || report.Checkpoints != 6 || strings.Contains(said.String(), "tampered") {
		t.Errorf("%+v, %v; log:\n%s", report, err, said)
	}
}

// A running server notices what is done to the rows that it has not signed yet, and to the chain's end.
func TestRunningServerNoticesTampering(t *testing.T) {
	for name, tamper := range map[string]func(t *testing.T, dsn string){
		"altered":  func(t *testing.T, dsn string) { exec(t, dsn, "UPDATE changes SET reason = 'x' WHERE id = 5") },
		"removed":  func(t *testing.T, dsn string) { exec(t, dsn, "DELETE FROM changes WHERE id = 5") },
		"the last": func(t *testing.T, dsn string) { exec(t, dsn, "DELETE FROM changes WHERE id = 6") },
		"set back": func(t *testing.T, dsn string) {
			exec(t, dsn, "UPDATE audit_head h, changes c SET h.seq = 3, h.hash = c.hash WHERE c.id = 3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn, s := history(t, nil)
			k, said := keeper(t, s)
			add(t, s, 4)
			k.sign(t.Context())
			add(t, s, 2)
			tamper(t, dsn)
			k.sign(t.Context())
			if !strings.Contains(said.String(), "tampered") {
				t.Errorf("nothing was noticed:\n%s", said)
			}
			said.Reset()
			k.sign(t.Context())
			if strings.Contains(said.String(), "tampered") {
				t.Errorf("it is told again and again:\n%s", said)
			}
			if _, err := VerifyAudit(t.Context(), Config{MySQLDSN: dsn}, quiet(), VerifyOptions{}); !errors.Is(err, ErrTampered) {
				t.Errorf("verification answers %v", err)
			}
		})
	}
}

// An export verifies without database and settings; altered, it does not; broken off, it can't be verified.
func TestExportVerifiesOffline(t *testing.T) {
	_, s := history(t, nil)
	add(t, s, 20)
	rows, err := s.AuditEntries(t.Context(), model.ChangeQuery{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := audit.NewLineWriter(&out)
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := out.String()
	lines := strings.SplitAfter(whole, "\n")
	for name, test := range map[string]struct {
		export string
		want   error
	}{
		"whole":      {whole, nil},
		"altered":    {strings.Replace(whole, `"actor":"u7"`, `"actor":"u8"`, 1), ErrTampered},
		"a line out": {strings.Join(append(lines[:7:7], lines[8:]...), ""), ErrTampered},
		"broken off": {whole[:strings.LastIndex(whole, `{"end"`)], audit.ErrCutShort},
	} {
		o := VerifyOptions{Export: "-", Stdin: strings.NewReader(test.export)}
		report, err := VerifyAudit(t.Context(), Config{}, quiet(), o)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if !errors.Is(test.want, audit.ErrCutShort) && test.want == nil != strings.Contains(AuditSummary(report, o), "as it was written: rows 1 to 20") {
			t.Errorf("%s: %s", name, AuditSummary(report, o))
		}
	}
}

// Retention removes what is old enough, tells so in the history, and leaves one that verifies; a second call has
// nothing to do, and a history that was tampered with is left alone.
func TestPruneRemovesOldHistoryAndSaysSo(t *testing.T) {
	old := time.Now().Add(-60 * 24 * time.Hour)
	at := old
	dsn, s := history(t, func() time.Time { return at })
	add(t, s, 25)
	k, _ := keeper(t, s)
	deployment := must(s.DeploymentID(t.Context()))(t)
	signed := must(k.signer.Sign(deployment, must(s.AuditHead(t.Context()))(t), old))(t)
	must(s.AddCheckpoint(t.Context(), signed))(t)
	at = time.Now()
	add(t, s, 10)
	k.sign(t.Context())
	cfg := Config{MySQLDSN: testenv.DocumentedUser(t, dsn, securityPage, "sql-maintenance")}
	month := PruneOptions{OlderThan: PruneLeast}

	if _, err := PruneAudit(t.Context(), cfg, quiet(), PruneOptions{OlderThan: PruneLeast - time.Hour}); err == nil {
		t.Error("rows younger than the least age may be removed")
	}
	dry := month
	dry.DryRun = true
	if said := must(PruneAudit(t.Context(), cfg, quiet(), dry))(t); !strings.Contains(said, "Rows 1 to 25 would be removed") {
		t.Error(said)
	}
	if kept := must(s.KeptChanges(t.Context()))(t); kept.First != 1 || kept.Last != 35 {
		t.Fatalf("a dry run removed rows: %+v", kept)
	}
	if said := must(PruneAudit(t.Context(), cfg, quiet(), month))(t); said != "25 rows were removed; the history begins with row 26." {
		t.Error(said)
	}
	report := must(VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{Checkpoints: []string{signed.String()}}))(t)
	if report.First != 26 || report.Last != 36 || report.PrunedTo != 25 {
		t.Errorf("report %+v", report)
	}
	if said := must(PruneAudit(t.Context(), cfg, quiet(), month))(t); !strings.Contains(said, "Nothing to remove") {
		t.Error(said)
	}
	exec(t, dsn, "UPDATE changes SET reason = 'x' WHERE id = 30")
	if _, err := PruneAudit(t.Context(), cfg, quiet(), month); !errors.Is(err, ErrTampered) {
		t.Errorf("a history that was tampered with is pruned: %v", err)
	}
}

// old is a history of 25 rows from 60 days ago, with a checkpoint of then; what is added to it is of now.
func old(t *testing.T) (dsn string, s *store.Store, point audit.Checkpoint) {
	t.Helper()
	at := time.Now().Add(-60 * 24 * time.Hour)
	dsn, s = history(t, func() time.Time { return at })
	add(t, s, 25)
	k, _ := keeper(t, s)
	point = must(k.signer.Sign(must(s.DeploymentID(t.Context()))(t), must(s.AuditHead(t.Context()))(t), at))(t)
	must(s.AddCheckpoint(t.Context(), point))(t)
	at = time.Now()
	return dsn, s, point
}

// A removal that was broken off, here after its row and some of the deletions, is finished by the next call.
func TestPruneFinishesARemovalThatWasBrokenOff(t *testing.T) {
	dsn, s, point := old(t)
	plan := prunePlan{from: 1, to: 25, point: point}
	if err := tellPrune(t.Context(), s, plan, PruneOptions{OlderThan: PruneLeast}); err != nil {
		t.Fatal(err)
	}
	must(s.DeleteChanges(t.Context(), 25, 10))(t)
	cfg := Config{MySQLDSN: dsn}
	report := must(VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{}))(t)
	if said := AuditSummary(report, VerifyOptions{}); report.First != 11 || !strings.Contains(said, "begun and not finished") {
		t.Errorf("report %+v: %s", report, said)
	}
	if said := must(PruneAudit(t.Context(), cfg, quiet(), PruneOptions{OlderThan: 4000 * 24 * time.Hour}))(t); !strings.HasPrefix(said, "15 rows were removed") {
		t.Error(said)
	}
	if report := must(VerifyAudit(t.Context(), cfg, quiet(), VerifyOptions{}))(t); report.First != 26 || report.Rows != 1 {
		t.Errorf("report %+v", report)
	}
}

func TestAgesAreReadInDaysAndHours(t *testing.T) {
	for text, want := range map[string]time.Duration{"400d": 9600 * time.Hour, "720h": 720 * time.Hour, "0d": 0} {
		if age, err := ParseAge(text); err != nil || age != want {
			t.Errorf("%s: %s, %v", text, age, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "999999d", "400", "x"} {
		if _, err := ParseAge(text); err == nil {
			t.Errorf("%q was read as an age", text)
		}
	}
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
