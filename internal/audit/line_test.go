package audit_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

func exported(t *testing.T, rows []audit.Entry) string {
	t.Helper()
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
	return out.String()
}

func imported(text string) (rows []audit.Entry, err error) {
	r := audit.NewLineReader(strings.NewReader(text))
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, e)
	}
}

// What an export tells is byte for byte what was hashed: texts of every kind come back as they were.
func TestExportedRowsComeBackByteForByte(t *testing.T) {
	rows, head := history(2, 10)
	raws := []string{`{"a":1.50,  "b":"\u00e9 é 😀 \u2028"}`, "null", "", " {}", "{}\n", "{\n}", "not json", `"<&>"`, "[1e400]", "\u2028", `{"a":"` + "\u2029" + `"}`}
	for i, raw := range raws {
		c := change(i + 1)
		c.Before, c.After = json.RawMessage(raw), json.RawMessage(raw)
		rows = append(rows, head.Link(c))
	}
	c := change(1)
	c.Actor, c.Reason, c.Address = "tab\t\"quote\" \\ \x00\x1f\x7f", "line\nline\r \u2028 <>&", "😀"
	rows = append(rows, head.Link(c))
	text := exported(t, rows)
	if lines := strings.Count(text, "\n"); lines != len(rows)+1 {
		t.Errorf("%d lines for %d rows", lines, len(rows))
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	back, err := imported(text)
	if err != nil || !reflect.DeepEqual(back, rows) {
		t.Fatalf("%v\n%+v\nwant\n%+v", err, back, rows)
	}
	wantClean(t, verify(back, audit.Expect{}, nil))
}

func TestExportThatWasBrokenOffIsNoExport(t *testing.T) {
	rows, _ := history(0, 5)
	text := exported(t, rows)
	lines := strings.SplitAfter(text, "\n")
	if _, err := imported(strings.Join(lines[:5], "")); !errors.Is(err, audit.ErrCutShort) {
		t.Errorf("without its last line: %v", err)
	}
	for name, broken := range map[string]string{
		"a line less":      strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""),
		"half a line":      text[:len(text)/2],
		"more behind":      text + lines[0],
		"no JSON":          "x\n" + text,
		"a stranger field": strings.Replace(text, `"actor"`, `"actress":1,"actor"`, 1),
		"a short hash":     strings.Replace(text, rows[2].Hash.String(), rows[2].Hash.String()[2:], 1),
		"two values":       strings.Replace(text, "}\n", "} {}\n", 1),
	} {
		if _, err := imported(broken); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: read without an error", name)
		}
	}
	if none, err := imported(exported(t, nil)); err != nil || len(none) != 0 {
		t.Errorf("an export of nothing: %v, %v", none, err)
	}
}

// A line that another reader would read otherwise is refused, though its hash fits what is read here: of members that
// stand there twice or in other letters some readers take the first and some the last.
func TestLineThatReadersCouldReadDifferentlyIsRefused(t *testing.T) {
	rows, _ := history(0, 3)
	text := exported(t, rows)
	if _, err := imported(strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		t.Errorf("line ends of another system: %v", err)
	}
	for name, broken := range map[string]string{
		"a member twice":            strings.Replace(text, `"reason":"`, `"reason":"a lie","reason":"`, 1),
		"a member in other letters": strings.Replace(text, `"reason":"`, `"reason":"a lie","REASON":"`, 1),
		"before in two ways":        strings.Replace(text, `"before":`, `"before":{"a":"lie"},"before":`, 1),
		"spaces":                    strings.Replace(text, `,"reason"`, `, "reason"`, 1),
		"an end that is a row too":  strings.Replace(text, `"end":true`, `"seq":4,"end":true`, 1),
	} {
		if broken == text {
			t.Fatalf("%s: nothing was broken", name)
		}
		if _, err := imported(broken); err == nil || !strings.Contains(err.Error(), "not as an export writes it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cell that a spreadsheet would run is a text in the file.
func TestCSVCellsAreNoFormulas(t *testing.T) {
	var out bytes.Buffer
	w, err := audit.NewCSVWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	var head audit.Head
	starts := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "plain", "", "＝1+1", "＋1", "－1", "＠x", "\n=1", "a,b\n\"c\"", "'=1"}
	for _, text := range starts {
		e := head.Link(model.Change{At: start, Actor: text, Target: text, Reason: text, After: json.RawMessage(text), Revision: -1, Count: 2, Until: start.Add(time.Second)})
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != len(starts)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows {
		for column, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") || strings.ContainsRune("＝＋－＠", []rune(cell + " ")[0]) {
				t.Errorf("row %d: %s begins like a formula: %q", i, rows[0][column], cell)
			}
		}
	}
	if got := rows[8][2]; got != "plain" || rows[1][9] != "'=1+1" {
		t.Errorf("cells %q, %q", got, rows[1][9])
	}
}
