package audit

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSVWriter writes an export for spreadsheets: a line of headings, then one for each row. A text that a spreadsheet
// would take for a formula gets a ' in front, so the rows are for reading; what is to be verified is exported as JSON
// Lines.
type CSVWriter struct{ to *csv.Writer }

// csvHeadings are the names of the columns, in order.
var csvHeadings = []string{
	"seq", "at", "actor", "action", "target_kind", "target", "revision", "before", "after", "reason", "address", "request_id",
	"token", "count", "until", "prev", "hash",
}

// CSVColumns is the number of columns.
var CSVColumns = len(csvHeadings)

// NewCSVWriter makes a writer and writes the headings.
func NewCSVWriter(to io.Writer) (*CSVWriter, error) {
	w := &CSVWriter{csv.NewWriter(to)}
	return w, w.to.Write(csvHeadings)
}

// Write adds a row.
func (w *CSVWriter) Write(e *Entry) error {
	until, prev, hash := "", "", ""
	if !e.Until.IsZero() {
		until = e.Until.UTC().Format(timeForm)
	}
	if e.Chained {
		prev, hash = e.Prev.String(), e.Hash.String()
	}
	cells := []string{
		strconv.FormatInt(e.ID, 10), e.At.UTC().Format(timeForm), e.Actor, string(e.Action), string(e.TargetKind), e.Target,
		strconv.FormatInt(e.Revision, 10), string(e.Before), string(e.After), e.Reason, e.Address, e.RequestID, e.Token,
		strconv.FormatInt(e.Count, 10), until, prev, hash,
	}
	for i := range cells {
		cells[i] = Cell(cells[i])
	}
	return w.to.Write(cells)
}

// Flush hands on what was collected.
func (w *CSVWriter) Flush() error {
	w.to.Flush()
	return w.to.Error()
}

// Cell is a text as it may stand in a cell: one that begins with = + - @, also in their full-width forms, or with a tab
// or a line end would be a formula in a spreadsheet and gets a ' in front.
func Cell(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}
