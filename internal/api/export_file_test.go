package api_test

import (
	"bufio"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
	"github.com/headgate/headgate/internal/testenv"
)

const exportChanges = "/api/v1/export/changes"

// readExport reads a whole export as a verification does.
func readExport(t *testing.T, from io.Reader) []audit.Entry {
	t.Helper()
	lines := audit.NewLineReader(from)
	var entries []audit.Entry
	for {
		e, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		must(t, err)
		entries = append(entries, e)
	}
}

func TestWholeExportVerifiesAndLeavesARow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(bob, map[string]any{"owners": []string{bob}, "rate": 7, "description": "<é> & \"😀\"\nline"})
		a := w.as(aud).do("GET", exportChanges, nil).want(t, http.StatusOK)
		if a.header.Get("Content-Type") != "application/jsonl" || !strings.HasPrefix(a.header.Get("Content-Disposition"), `attachment; filename="headgate-changes-2`) ||
			!strings.HasSuffix(a.header.Get("Content-Disposition"), `.jsonl"`) || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", a.header)
		}
		v := audit.NewVerifier(audit.Expect{})
		entries := readExport(t, strings.NewReader(string(a.body)))
		for i := range entries {
			v.Add(&entries[i])
		}
		report := v.Finish(nil)
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionExport})
		must(t, err)
		if !report.OK() || int64(len(entries)) != page.Items[0].ID-1 {
			t.Errorf("%d rows: %+v", len(entries), report)
		}
		c := page.Items[0]
		if c.Actor != aud || c.Target != "changes" || c.Address == "" || string(c.After) != `{"filters":{},"format":"jsonl","of":"changes"}` {
			t.Errorf("change %+v", c)
		}
	})
}

func TestExportTakesTheFiltersOfTheList(t *testing.T) {
	w := onSQLite(t)
	c := w.as(aud)
	a := c.do("GET", exportChanges+"?action=login&actor=aud&from=2020-01-01T00:00:00Z", nil).want(t, http.StatusOK)
	for _, e := range readExport(t, strings.NewReader(string(a.body))) {
		if e.Actor != aud || e.Action != model.ActionLogin {
			t.Errorf("row %+v", e.Change)
		}
	}
	if !strings.HasSuffix(string(a.body), "{\"end\":true,\"rows\":1}\n") {
		t.Errorf("export %s", a.body)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionExport})
	must(t, err)
	if got := string(page.Items[0].After); got != `{"filters":{"action":"login","actor":"aud","from":"2020-01-01T00:00:00Z"},"format":"jsonl","of":"changes"}` {
		t.Errorf("recorded %s", got)
	}
	for _, bad := range []string{"?format=xml", "?target_kind=x", "?from=2021-01-01T00:00:00Z&to=2020-01-01T00:00:00Z", "?from=x", "?unknown=1"} {
		p := c.do("GET", exportChanges+bad, nil).problem(t, http.StatusUnprocessableEntity)
		if len(p.Errors) != 1 {
			t.Errorf("%s: %+v", bad, p)
		}
	}
}

// What a spreadsheet would run as a formula comes out as a text, in every column.
func TestCSVExportHoldsNoFormulas(t *testing.T) {
	w := onSQLite(t)
	evil := []string{`=cmd|' /C calc'!A0`, "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", `plain, "quoted"` + "\n2nd line"}
	for _, text := range evil {
		must(t, w.store.AppendChange(t.Context(), model.Change{
			Actor: text, Action: model.ActionLoginRefused, TargetKind: model.TargetUser, Target: text, Reason: text, Address: text, RequestID: text,
		}))
	}
	a := w.as(aud).do("GET", exportChanges+"?format=csv&action=login.refused", nil).want(t, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	must(t, err)
	if len(rows) != len(evil)+2 || rows[0][0] != "seq" || rows[len(rows)-1][0] != "end" || rows[len(rows)-1][1] != fmt.Sprintf("%d rows", len(evil)) {
		t.Fatalf("rows %q", rows)
	}
	for i, text := range evil {
		row := rows[i+1]
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("cell %q of %q", cell, row)
			}
		}
		if want := strings.ReplaceAll(text, "\r", ""); strings.TrimPrefix(strings.ReplaceAll(row[2], "\r", ""), "'") != want {
			t.Errorf("actor %q, want %q", row[2], want)
		}
	}
	if got := a.header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("content type %s", got)
	}
}

func TestBucketsAreExportedAsFarAsOneMaySee(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.bucket("others", []string{"other"}, []string{otto})
		w.put(bob, map[string]any{"owners": []string{bob}, "description": "=1+1", "labels": map[string]string{"tier": "gold"}})
		for i := range 205 { // more than one page
			w.bucket(fmt.Sprintf("many-%03d", i), []string{"checkout"}, []string{bob})
		}
		for who, want := range map[string]int{nemo: 0, vic: 206, bob: 206, otto: 1, root: 207} {
			a := w.as(who).do("GET", "/api/v1/export/buckets", nil).want(t, http.StatusOK)
			lines := strings.Split(strings.TrimSuffix(string(a.body), "\n"), "\n")
			if len(lines) != want+1 || lines[want] != fmt.Sprintf(`{"end":true,"rows":%d}`, want) {
				t.Errorf("%s: %d lines, the last %s", who, len(lines), lines[len(lines)-1])
			}
		}
		a := w.as(bob).do("GET", "/api/v1/export/buckets?format=csv&label=tier", nil).want(t, http.StatusOK)
		rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
		must(t, err)
		if len(rows) != 3 || rows[1][0] != theBucket || rows[1][1] != "'=1+1" || rows[1][2] != `{"tier":"gold"}` || rows[1][3] != "checkout" || len(rows[1]) != len(rows[0]) {
			t.Errorf("rows %q", rows)
		}
		var line struct {
			Name   string
			Rate   int
			Apps   []string
			Labels map[string]string
		}
		a = w.as(bob).do("GET", "/api/v1/export/buckets?search=partner", nil).want(t, http.StatusOK)
		must(t, json.Unmarshal([]byte(strings.Split(string(a.body), "\n")[0]), &line))
		if line.Name != theBucket || line.Rate != 50 || line.Labels["tier"] != "gold" {
			t.Errorf("line %+v", line)
		}
	})
}

func TestBucketExportTakesTheFilterForWhatWaitsForRedis(t *testing.T) {
	w := onSQLite(t)
	w.bucket("waits", []string{"checkout"}, []string{bob})
	w.bucket("arrived", []string{"checkout"}, []string{bob})
	w.install("arrived")
	for state, want := range map[string]string{model.SyncPending: "waits", model.SyncSynced: "arrived"} {
		a := w.as(bob).do("GET", "/api/v1/export/buckets?format=csv&search=a&sync="+state, nil).want(t, http.StatusOK)
		rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
		must(t, err)
		named := slices.ContainsFunc(rows, func(row []string) bool { return row[0] == want })
		if other := map[string]string{"waits": "arrived", "arrived": "waits"}[want]; !named || slices.ContainsFunc(rows, func(row []string) bool { return row[0] == other }) {
			t.Errorf("%s: rows %q", state, rows)
		}
	}
}

// manyRows makes a world with n more rows of about 850 bytes in its log, which stand in no chain.
func manyRows(t *testing.T, n int) *world {
	t.Helper()
	dsn := testenv.MySQL(t)
	w := newWorld(t, store.Config{MySQLDSN: dsn})
	db, err := sql.Open("mysql", dsn)
	must(t, err)
	defer func() { _ = db.Close() }()
	execute := func(query string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), query, args...)
		must(t, err)
	}
	execute(`INSERT INTO changes (id, at, actor, action, target_kind, target, revision, before_json, after_json, reason, address, request_id)
		VALUES (1000, '2026-01-01', 'alice', 'bucket.update', 'bucket', 'bulk', 1, CONCAT('{"text":"', REPEAT('x', 300), '"}'),
		CONCAT('{"text":"', REPEAT('y', 300), '"}'), 'because', '192.0.2.1', 'request')`)
	for rows := 1; rows < n; rows *= 2 {
		execute(`INSERT INTO changes (id, at, actor, action, target_kind, target, revision, before_json, after_json, reason, address, request_id)
			SELECT id + ?, at, actor, action, target_kind, target, revision, before_json, after_json, reason, address, request_id
			FROM changes WHERE id BETWEEN 1000 AND ?`, rows, 1000+min(rows, n-rows)-1)
	}
	execute(`UPDATE audit_head SET seq = (SELECT MAX(id) FROM changes)`)
	return w
}

// A log of any size goes through a bounded memory, and its first bytes come at once.
func TestExportOf200000RowsTakesLittleMemoryAndBeginsAtOnce(t *testing.T) {
	const rows = 200_000
	w := manyRows(t, rows)
	c := w.as(aud)
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	before, peak := memory.HeapAlloc, uint64(0)
	begin := time.Now()
	response := c.open(exportChanges)
	reader := bufio.NewReaderSize(response.Body, 1<<20)
	if _, err := reader.ReadByte(); err != nil {
		t.Fatal(err)
	}
	first := time.Since(begin)
	var bytes, lines int64
	for part := make([]byte, 1<<20); ; {
		n, err := reader.Read(part)
		lines += int64(strings.Count(string(part[:n]), "\n"))
		if bytes += int64(n); bytes>>24 != (bytes-int64(n))>>24 { // every 16 MiB
			runtime.ReadMemStats(&memory)
			peak = max(peak, memory.HeapAlloc)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
	}
	t.Logf("%d lines, %d MiB in %v, the first byte after %v, heap grew by %d KiB at most", lines, bytes>>20, time.Since(begin), first, (int64(peak)-int64(before))>>10)
	if lines <= rows || bytes < 128<<20 {
		t.Errorf("%d lines, %d bytes", lines, bytes)
	}
	if first > 3*time.Second {
		t.Errorf("the first byte came after %v", first)
	}
	if peak > before+32<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, peak)
	}
}

// open asks for a file and leaves its body to be read.
func (c *client) open(path string) *http.Response {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+path, nil)
	must(c.t, err)
	slow := *c.http
	slow.Timeout = 0
	response, err := slow.Do(request)
	must(c.t, err)
	c.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		c.t.Fatalf("status %d", response.StatusCode)
	}
	return response
}

// A database that goes away in the middle leaves no file that looks whole, neither to HTTP nor to who reads the file.
func TestBrokenExportShowsThatItIsBroken(t *testing.T) {
	for _, format := range []string{"jsonl", "csv"} {
		w := manyRows(t, 20_000)
		response := w.as(aud).open(exportChanges + "?format=" + format)
		head := make([]byte, 100)
		_, err := io.ReadFull(response.Body, head)
		must(t, err)
		must(t, w.store.Close())
		rest, err := io.ReadAll(response.Body)
		if err == nil {
			t.Errorf("%s: the transfer ended as if it were whole", format)
		}
		file := string(head) + string(rest)
		if strings.Contains(file, `{"end":true`) || strings.Contains(file, "\nend,") {
			t.Errorf("%s: the file says that it is whole", format)
		}
		if format == "jsonl" {
			lines := audit.NewLineReader(strings.NewReader(file[:strings.LastIndex(file, "\n")+1]))
			for err = nil; err == nil; {
				_, err = lines.Next()
			}
			if !errors.Is(err, audit.ErrCutShort) {
				t.Errorf("reading it: %v", err)
			}
		}
	}
}

// Who is disabled or demoted in the middle of an export gets no more of it.
func TestExportEndsWithTheRightsOfItsPerson(t *testing.T) {
	ends := map[string]func(*world){
		"disabled": func(w *world) { w.disable(aud) },
		"demoted": func(w *world) {
			u, err := w.store.User(t.Context(), aud)
			must(t, err)
			role := model.RoleMember
			_, err = w.store.UpdateUser(t.Context(), aud, u.Revision, model.UserPatch{Role: &role}, byRoot)
			must(t, err)
		},
	}
	for how, end := range ends {
		w := manyRows(t, 20_000)
		response := w.as(aud).open(exportChanges)
		_, err := io.ReadFull(response.Body, make([]byte, 100))
		must(t, err)
		end(w)
		if rest, err := io.ReadAll(response.Body); err == nil || strings.Contains(string(rest), `{"end":true`) {
			t.Errorf("%s: %d bytes more, as a whole file", how, len(rest))
		}
	}
}

// Clients that leave in the middle give their places back, and no more than four exports run at once.
func TestExportsAreBoundedAndEndWithTheirClients(t *testing.T) {
	w := manyRows(t, 20_000)
	c := w.as(aud)
	var open []*http.Response
	for range 4 {
		open = append(open, c.open(exportChanges))
	}
	a := c.do("GET", exportChanges, nil)
	if a.problem(t, http.StatusServiceUnavailable); a.header.Get("Retry-After") == "" {
		t.Errorf("headers %v", a.header)
	}
	for _, response := range open {
		must(t, response.Body.Close())
	}
	testenv.Eventually(t, 20*time.Second, "the places are free", func() bool {
		return c.do("GET", exportChanges+"?actor=nobody", nil).status == http.StatusOK
	})
	if log := w.log.String(); strings.Contains(log, "panic") {
		t.Errorf("log %s", log)
	}
}
