package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// The formats of an export.
const (
	formatLines = "jsonl"
	formatCSV   = "csv"
)

// Bounds of exports.
const (
	exportsAtOnce = 4                // on one server; each keeps a connection of the database busy
	exportRows    = 1000             // read at once
	writeWithin   = 30 * time.Second // for a client to take what was read at once
)

// exportCount counts the exports under way.
type exportCount struct{ n atomic.Int32 }

// begin takes a place, to be given back by end. CodeUnavailable when all are taken.
func (c *exportCount) begin() error {
	if c.n.Add(1) > exportsAtOnce {
		c.end()
		return &model.Error{
			Code: model.CodeUnavailable, Message: fmt.Sprintf("%d exports are under way; try again later", exportsAtOnce), RetryAfter: 10 * time.Second,
		}
	}
	return nil
}

func (c *exportCount) end() { c.n.Add(-1) }

// streamed registers a GET whose answer is a file of any size.
func streamed[I any](r *routes, path string, needs auth.Permission, h handler[I, huma.StreamResponse], id, summary string) {
	text := &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
	get(r, path, needs, h, id, summary, func(op *huma.Operation) {
		op.Description += " The answer is written as it is read, so what fails on the way breaks the transfer off; the last line says that the file is whole."
		op.Responses = map[string]*huma.Response{"200": {
			Description: "the file", Content: map[string]*huma.MediaType{"application/jsonl": text, "text/csv": text},
		}}
	})
	r.server.streams[prefix+path] = true
}

// exportFile is a file on its way to the client.
type exportFile struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// Write gives the client its time for each part, however long the whole takes.
func (f *exportFile) Write(b []byte) (int, error) {
	if err := f.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return 0, err
	}
	return f.to.Write(b)
}

// export records an export and answers with the file that fill writes; flush hands on to the client what it has so far.
func (s *server) export(ctx context.Context, what, format string, filters any, fill func(to io.Writer, flush func() error) error) (*huma.StreamResponse, error) {
	if format != formatLines && format != formatCSV {
		return nil, invalidField("format", "must be jsonl or csv")
	}
	if err := s.exports.begin(); err != nil {
		return nil, err
	}
	if err := s.recordExport(ctx, what, format, filters); err != nil {
		s.exports.end()
		return nil, err
	}
	name := fmt.Sprintf("headgate-%s-%s.%s", what, s.Now().UTC().Format("20060102T150405Z"), format)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.exports.end()
		kind := "application/jsonl"
		if format == formatCSV {
			kind = "text/csv; charset=utf-8"
		}
		hc.SetHeader("Content-Type", kind)
		hc.SetHeader("Content-Disposition", `attachment; filename="`+name+`"`)
		hc.SetStatus(http.StatusOK)
		w := humagin.Unwrap(hc).Writer
		file := &exportFile{to: w, control: http.NewResponseController(w)}
		flush := func() error {
			if err := s.stillMay(ctx); err != nil {
				return err
			}
			return file.control.Flush()
		}
		if err := fill(file, flush); err != nil {
			s.log.WarnContext(ctx, "export broken off", "what", what, "request_id", callOf(ctx).requestID, "cause", err)
			panic(http.ErrAbortHandler) // the client sees a transfer that failed, and no file that looks whole
		}
	}}, nil
}

// errNoMore ends an export whose person was disabled or got another role meanwhile.
var errNoMore = errors.New("the rights that the export began with have ended")

// stillMay looks again whether the person is who it was: an export may take longer than any other request. The session
// itself is not asked for, since its access token may end in the middle of a long download.
func (s *server) stillMay(ctx context.Context) error {
	p := principalOf(ctx)
	switch user, err := s.Store.User(ctx, p.Name); {
	case model.CodeOf(err) == model.CodeNotFound: // renamed; who it is now logs in under that name
		return errNoMore
	case err != nil:
		return err
	case user.Disabled || user.Role != p.Role || user.ID != p.UserID:
		return errNoMore
	}
	return nil
}

// recordExport leaves the change row before the first byte goes out.
func (s *server) recordExport(ctx context.Context, what, format string, filters any) error {
	after, err := json.Marshal(map[string]any{"of": what, "format": format, "filters": filters})
	if err != nil {
		return err
	}
	o := originOf(ctx, "")
	return s.Store.AppendChange(ctx, model.Change{
		Actor: o.Actor, Action: model.ActionExport, TargetKind: model.TargetSystem, Target: what, After: after,
		Address: o.Address, RequestID: o.RequestID, Token: o.Token,
	})
}

// given keeps the filters that were set, for the change row.
func given(filters map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range filters {
		if value != "" {
			kept[name] = value
		}
	}
	return kept
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// endRow is the last line of a CSV export, as wide as the others.
func endRow(columns int, rows int64) string {
	return fmt.Sprintf("end,%d rows%s\n", rows, strings.Repeat(",", columns-2))
}
