package api

import (
	"context"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// exportChanges writes the change log, oldest first, with the hashes of its chain: what "admin audit verify --export"
// reads. It ends with the newest change that there was when it began.
func (s *server) exportChanges(ctx context.Context, in *struct {
	Format     string           `query:"format" default:"jsonl" doc:"jsonl, which can be verified, or csv, for spreadsheets"`
	TargetKind model.TargetKind `query:"target_kind" doc:"bucket, app, user, system or webhook"`
	Target     string           `query:"target"`
	Actor      string           `query:"actor"`
	Action     model.Action     `query:"action"`
	From       time.Time        `query:"from" doc:"inclusive"`
	To         time.Time        `query:"to" doc:"exclusive"`
}) (*huma.StreamResponse, error) {
	q := model.ChangeQuery{TargetKind: in.TargetKind, Target: in.Target, Actor: in.Actor, Action: in.Action, From: in.From, To: in.To}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	head, err := s.Store.AuditHead(ctx)
	if err != nil {
		return nil, err
	}
	filters := given(map[string]string{
		"target_kind": string(in.TargetKind), "target": in.Target, "actor": in.Actor, "action": string(in.Action),
		"from": timeText(in.From), "to": timeText(in.To),
	})
	return s.export(ctx, "changes", in.Format, filters, func(to io.Writer, flush func() error) error {
		if in.Format == formatCSV {
			return s.changesCSV(ctx, q, head.Seq, to, flush)
		}
		return s.changesLines(ctx, q, head.Seq, to, flush)
	})
}

func (s *server) changesLines(ctx context.Context, q model.ChangeQuery, last int64, to io.Writer, flush func() error) error {
	lines := audit.NewLineWriter(to)
	err := s.eachEntry(ctx, q, last, lines.Write, func() error {
		if err := lines.Flush(); err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return lines.Close()
}

func (s *server) changesCSV(ctx context.Context, q model.ChangeQuery, last int64, to io.Writer, flush func() error) error {
	table, err := audit.NewCSVWriter(to)
	if err != nil {
		return err
	}
	var rows int64
	write := func(e *audit.Entry) error {
		rows++
		return table.Write(e)
	}
	err = s.eachEntry(ctx, q, last, write, func() error {
		if err := table.Flush(); err != nil {
			return err
		}
		return flush()
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, endRow(audit.CSVColumns, rows))
	return err
}

// eachEntry hands over the rows up to number last, oldest first, and calls after whenever a part of them is through. It
// holds one part in memory at a time.
func (s *server) eachEntry(ctx context.Context, q model.ChangeQuery, last int64, each func(*audit.Entry) error, after func() error) error {
	for place := int64(0); place < last; {
		entries, err := s.Store.AuditEntries(ctx, q, place, exportRows)
		if err != nil {
			return err
		}
		for i := range entries {
			if place = entries[i].ID; place > last {
				break
			}
			if err := each(&entries[i]); err != nil {
				return err
			}
		}
		if err := after(); err != nil || len(entries) < exportRows {
			return err
		}
	}
	return after()
}
