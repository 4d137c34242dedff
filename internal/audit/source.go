package audit

import (
	"context"
	"errors"
	"io"

	"github.com/headgate/headgate/internal/model"
)

// Source is a history in a database. Other servers may go on writing to it meanwhile.
type Source interface {
	AuditHead(ctx context.Context) (Head, error)
	// AuditEntries reads up to limit rows behind number after, oldest first.
	AuditEntries(ctx context.Context, q model.ChangeQuery, after int64, limit int) ([]Entry, error)
	// Checkpoints reads up to limit checkpoints of rows behind number after, oldest first.
	Checkpoints(ctx context.Context, after int64, limit int) ([]Checkpoint, error)
}

// Sizes of what is read at a time.
const (
	rowsPage   = 5000
	pointsPage = 1000
)

// Progress is told how many rows were read, and how many there were at the beginning.
type Progress func(rows, of int64)

// VerifySource verifies a history in a database with the checkpoints that it keeps and those that are given. Who expects
// keys is told when nothing is signed. The error is the source's; what is wrong with the history stands in the report.
func VerifySource(ctx context.Context, from Source, expect Expect, given []Checkpoint, progress Progress) (Report, error) {
	start, err := from.AuditHead(ctx)
	if err != nil {
		return Report{}, err
	}
	expect.First = start.First
	r := &reading{from: from, v: NewVerifier(expect), progress: progress, of: start.Seq}
	for _, c := range given {
		r.v.AddCheckpoint(c)
	}
	if err := r.rows(ctx, 0); err != nil {
		return Report{}, err
	}
	// Every checkpoint that is read before the head is of a row that the head knows, and likewise every row.
	if err := r.loadPoints(ctx, 0); err != nil {
		return Report{}, err
	}
	head, err := from.AuditHead(ctx)
	if err != nil {
		return Report{}, err
	}
	if err := r.rows(ctx, head.Seq); err != nil {
		return Report{}, err
	}
	report := r.v.Finish(&head)
	if len(expect.Keys) > 0 && report.OK() && report.Last > 0 && report.Checkpoints == 0 {
		report.Faults = append(report.Faults, *faultOver(Unvouched, report.First, report.Last,
			"no checkpoint is there, so nothing shows that your key signed these rows: all were removed, or no server with the key has run for a minute yet"))
	}
	return report, nil
}

// reading is one verification of a source.
type reading struct {
	from     Source
	v        *Verifier
	progress Progress
	of       int64

	after int64 // number of the last row read
	count int64
	point int64 // of the last checkpoint read
}

// rows reads on to the end, or to the row with number to.
func (r *reading) rows(ctx context.Context, to int64) error {
	for to == 0 || r.after < to {
		page, err := r.from.AuditEntries(ctx, model.ChangeQuery{}, r.after, rowsPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := r.loadPoints(ctx, page[len(page)-1].ID); err != nil {
			return err
		}
		for i := range page {
			if to > 0 && page[i].ID > to {
				return nil
			}
			r.v.Add(&page[i])
			r.after = page[i].ID
			r.count++
		}
		if r.progress != nil {
			r.progress(r.count, max(r.of, r.count))
		}
	}
	return nil
}

// loadPoints reads checkpoints up to a row's, or all with 0.
func (r *reading) loadPoints(ctx context.Context, to int64) error {
	for to == 0 || r.point < to {
		page, err := r.from.Checkpoints(ctx, r.point, pointsPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, c := range page {
			r.v.AddCheckpoint(c)
			r.point = c.Seq
		}
	}
	return nil
}

// VerifyExport verifies an export in JSON Lines. The error is ErrCutShort, or says which line can't be read; then the
// report tells of the rows before it.
func VerifyExport(from io.Reader, expect Expect, given []Checkpoint, progress Progress) (Report, error) {
	v := NewVerifier(expect)
	for _, c := range given {
		v.AddCheckpoint(c)
	}
	lines := NewLineReader(from)
	for n := int64(1); ; n++ {
		e, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return v.Finish(nil), nil
		}
		if err != nil {
			return v.Finish(nil), err
		}
		v.Add(&e)
		if progress != nil && n%rowsPage == 0 {
			progress(n, 0)
		}
	}
}
