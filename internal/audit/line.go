package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headgate/headgate/internal/model"
)

// timeForm is RFC 3339 in UTC with microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z07:00"

// lineBound bounds one line of an export, in bytes. The longest row is far below: two definitions of 1,000 apps each.
const lineBound = 16 << 20

// Line is one row of an export in JSON Lines, as a reader sees it. Before and After stand in it byte for byte as they
// were hashed; what is no JSON on one line stands as a text in BeforeText or AfterText. The last line of an export is
// no row: it has End true and the number of rows.
type Line struct {
	Seq        int64           `json:"seq"`
	At         time.Time       `json:"at"`
	Actor      string          `json:"actor"`
	Action     string          `json:"action"`
	TargetKind string          `json:"target_kind"`
	Target     string          `json:"target"`
	Revision   int64           `json:"revision"`
	Before     json.RawMessage `json:"before"`
	BeforeText *string         `json:"before_text"`
	After      json.RawMessage `json:"after"`
	AfterText  *string         `json:"after_text"`
	Reason     string          `json:"reason"`
	Address    string          `json:"address"`
	RequestID  string          `json:"request_id"`
	Token      string          `json:"token"`
	Count      int64           `json:"count"`
	Until      *time.Time      `json:"until"`
	Prev       string          `json:"prev"` // hex; "" for a row from before the chain
	Hash       string          `json:"hash"`

	End  bool  `json:"end"`
	Rows int64 `json:"rows"`
}

// LineWriter writes an export in JSON Lines: a line for each row and a last one that tells the number of rows, without
// which a reader knows that the export was broken off.
type LineWriter struct {
	to   *bufio.Writer
	line []byte
	rows int64
}

// NewLineWriter makes a writer that collects up to 64 KiB before it writes.
func NewLineWriter(to io.Writer) *LineWriter {
	return &LineWriter{to: bufio.NewWriterSize(to, 64<<10)}
}

// Write adds a row.
func (w *LineWriter) Write(e *Entry) error {
	w.rows++
	w.line = append(AppendLine(w.line[:0], e), '\n')
	_, err := w.to.Write(w.line)
	return err
}

// Flush hands on what was collected.
func (w *LineWriter) Flush() error { return w.to.Flush() }

// Close writes the last line and flushes. It does not close what it writes to.
func (w *LineWriter) Close() error {
	if _, err := w.to.WriteString(endLine(w.rows) + "\n"); err != nil {
		return err
	}
	return w.to.Flush()
}

func endLine(rows int64) string { return fmt.Sprintf(`{"end":true,"rows":%d}`, rows) }

// AppendLine appends a row's JSON, without a line end. It is written by hand because encoding/json would change the
// bytes of Before and After, which the hash is over.
func AppendLine(b []byte, e *Entry) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.ID, 10)
	b = append(b, `,"at":"`...)
	b = append(e.At.UTC().AppendFormat(b, timeForm), '"')
	b = appendMember(b, "actor", e.Actor)
	b = appendMember(b, "action", string(e.Action))
	b = appendMember(b, "target_kind", string(e.TargetKind))
	b = appendMember(b, "target", e.Target)
	b = append(b, `,"revision":`...)
	b = strconv.AppendInt(b, e.Revision, 10)
	b = appendRaw(b, "before", e.Before)
	b = appendRaw(b, "after", e.After)
	b = appendMember(b, "reason", e.Reason)
	b = appendMember(b, "address", e.Address)
	b = appendMember(b, "request_id", e.RequestID)
	b = appendMember(b, "token", e.Token)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, e.Count, 10)
	if e.Until.IsZero() {
		b = append(b, `,"until":null`...)
	} else {
		b = append(b, `,"until":"`...)
		b = append(e.Until.UTC().AppendFormat(b, timeForm), '"')
	}
	prev, hash := "", ""
	if e.Chained {
		prev, hash = e.Prev.String(), e.Hash.String()
	}
	b = appendMember(b, "prev", prev)
	b = appendMember(b, "hash", hash)
	return append(b, '}')
}

func appendMember(b []byte, name, value string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return appendString(b, value)
}

func appendRaw(b []byte, name string, raw json.RawMessage) []byte {
	if raw != nil && !oneLineJSON(raw) {
		return appendMember(b, name+"_text", string(raw))
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	if raw == nil {
		return append(b, "null"...)
	}
	return append(b, raw...)
}

// oneLineJSON tells whether a text can stand in a line as it is and be read back byte for byte: JSON that is not null,
// without a line end, and without space around it.
func oneLineJSON(raw []byte) bool {
	return json.Valid(raw) && !bytes.Equal(raw, []byte("null")) && !bytes.ContainsAny(raw, "\r\n") &&
		len(bytes.TrimSpace(raw)) == len(raw) && utf8.Valid(raw)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// ErrCutShort says that an export has no last line: it was broken off.
var ErrCutShort = errors.New("the export was broken off: its last line, which tells the number of rows, is missing")

// LineReader reads what a LineWriter wrote, and takes nothing else: a line that is not byte for byte as it would be
// written could tell other readers something else than what is hashed, by a member that stands there twice or in other
// letters.
type LineReader struct {
	from  *bufio.Scanner
	rows  int64
	again []byte // the line as it would be written
}

// NewLineReader makes a reader; lines may have up to 16 MiB.
func NewLineReader(from io.Reader) *LineReader {
	scanner := bufio.NewScanner(from)
	scanner.Buffer(make([]byte, 64<<10), lineBound)
	return &LineReader{from: scanner}
}

// Next returns the next row, io.EOF after the last line, and ErrCutShort where that line is missing. Other errors name
// the line that can't be read.
func (r *LineReader) Next() (Entry, error) {
	if !r.from.Scan() {
		if err := r.from.Err(); err != nil {
			return Entry{}, fmt.Errorf("line %d: %w", r.rows+1, err)
		}
		return Entry{}, ErrCutShort
	}
	var line Line
	decoder := json.NewDecoder(bytes.NewReader(r.from.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil || decoder.More() {
		return Entry{}, fmt.Errorf("line %d is no row of an export", r.rows+1)
	}
	if line.End {
		return Entry{}, r.end(line)
	}
	r.rows++
	e, err := line.entry()
	if err != nil {
		return Entry{}, fmt.Errorf("line %d: %w", r.rows, err)
	}
	if r.again = AppendLine(r.again[:0], &e); !bytes.Equal(r.again, r.from.Bytes()) {
		return Entry{}, fmt.Errorf("line %d is not as an export writes it", r.rows)
	}
	return e, nil
}

func (r *LineReader) end(line Line) error {
	if text := r.from.Text(); text != endLine(line.Rows) {
		return errors.New("the last line is not as an export writes it")
	}
	if line.Rows != r.rows {
		return fmt.Errorf("the export tells of %d rows but has %d lines", line.Rows, r.rows)
	}
	if r.from.Scan() {
		return errors.New("the export goes on behind its last line")
	}
	return io.EOF
}

func (l *Line) entry() (Entry, error) {
	e := Entry{Change: model.Change{
		ID: l.Seq, At: l.At.UTC(), Actor: l.Actor, Action: model.Action(l.Action), TargetKind: model.TargetKind(l.TargetKind), Target: l.Target,
		Revision: l.Revision, Before: rawOf(l.Before, l.BeforeText), After: rawOf(l.After, l.AfterText), Reason: l.Reason,
		Address: l.Address, RequestID: l.RequestID, Token: l.Token, Count: l.Count,
	}}
	if l.Until != nil {
		e.Until = l.Until.UTC()
	}
	if l.Hash == "" && l.Prev == "" {
		return e, nil
	}
	var err error
	if e.Prev, err = ParseHash(l.Prev); err == nil {
		e.Hash, err = ParseHash(l.Hash)
	}
	e.Chained = true
	return e, err
}

func rawOf(raw json.RawMessage, text *string) json.RawMessage {
	if text != nil {
		return json.RawMessage(*text)
	}
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}
