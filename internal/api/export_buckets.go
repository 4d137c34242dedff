package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// bucketLine is a bucket in an export.
type bucketLine struct {
	Name string `json:"name"`
	model.DefinitionFields
	Revision  int64     `json:"revision"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedBy string    `json:"updated_by"`
	UpdatedAt time.Time `json:"updated_at"`
}

var bucketHeadings = []string{
	"name", "description", "labels", "apps", "owners", "algorithm", "max_permits", "rate", "period_ms", "partition", "shards", "mode",
	"max_wait_ms", "on_redis_failure", "after_loss", "revision", "created_by", "created_at", "updated_by", "updated_at",
}

// exportBuckets writes the buckets that one may see, by name.
func (s *server) exportBuckets(ctx context.Context, in *struct {
	Format string     `query:"format" default:"jsonl" doc:"jsonl or csv"`
	Search string     `query:"search" doc:"part of the name or the description, in upper or lower case"`
	App    string     `query:"app"`
	Owner  string     `query:"owner"`
	Label  string     `query:"label" doc:"key=value, or a key for any value"`
	Mode   model.Mode `query:"mode"`
	Sync   string     `query:"sync" doc:"synced or pending, at the reading of each page of the file"`
}) (*huma.StreamResponse, error) {
	q := model.BucketQuery{
		Viewer: viewer(principalOf(ctx), auth.BucketSee), Search: in.Search, App: in.App, Owner: in.Owner, Label: in.Label, Mode: in.Mode,
		Sync: in.Sync, Limit: model.PageMax,
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	filters := given(map[string]string{"search": in.Search, "app": in.App, "owner": in.Owner, "label": in.Label, "mode": string(in.Mode), "sync": in.Sync})
	return s.export(ctx, "buckets", in.Format, filters, func(to io.Writer, flush func() error) error {
		if in.Format == formatCSV {
			return s.bucketsCSV(ctx, q, to, flush)
		}
		return s.bucketsLines(ctx, q, to, flush)
	})
}

func (s *server) bucketsLines(ctx context.Context, q model.BucketQuery, to io.Writer, flush func() error) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	rows, err := s.eachBucket(ctx, q, flush, func(b *model.Bucket) error { return encoder.Encode(lineOf(b)) })
	if err != nil {
		return err
	}
	return encoder.Encode(struct {
		End  bool  `json:"end"`
		Rows int64 `json:"rows"`
	}{true, rows})
}

func (s *server) bucketsCSV(ctx context.Context, q model.BucketQuery, to io.Writer, flush func() error) error {
	table := csv.NewWriter(to)
	if err := table.Write(bucketHeadings); err != nil {
		return err
	}
	through := func() error {
		if table.Flush(); table.Error() != nil {
			return table.Error()
		}
		return flush()
	}
	rows, err := s.eachBucket(ctx, q, through, func(b *model.Bucket) error { return table.Write(cellsOf(b)) })
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, endRow(len(bucketHeadings), rows))
	return err
}

// eachBucket hands over the buckets page by page and counts them.
func (s *server) eachBucket(ctx context.Context, q model.BucketQuery, after func() error, each func(*model.Bucket) error) (int64, error) {
	var rows int64
	for {
		page, err := s.Store.Buckets(ctx, q)
		if err != nil {
			return rows, err
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return rows, err
			}
			rows++
		}
		if err := after(); err != nil || page.Next == "" {
			return rows, err
		}
		q.Cursor = page.Next
	}
}

func lineOf(b *model.Bucket) bucketLine {
	return bucketLine{
		Name: b.Name, DefinitionFields: b.Fields(), Revision: b.Revision, CreatedBy: b.CreatedBy, CreatedAt: utc(b.CreatedAt),
		UpdatedBy: b.UpdatedBy, UpdatedAt: utc(b.UpdatedAt),
	}
}

// cellsOf is a bucket's line in a table; what a spreadsheet would take for a formula is defused.
func cellsOf(b *model.Bucket) []string {
	f := b.Fields()
	labels, _ := json.Marshal(f.Labels) // a map of texts always encodes
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	cells := []string{
		b.Name, f.Description, string(labels), strings.Join(f.Apps, " "), strings.Join(f.Owners, " "), string(f.Algorithm), number(f.MaxPermits),
		number(f.Rate), number(f.PeriodMS), string(f.Partition), strconv.Itoa(f.Shards), string(f.Mode), number(f.MaxWaitMS),
		string(f.OnRedisFailure), string(f.AfterLoss), number(b.Revision), b.CreatedBy, timeText(b.CreatedAt), b.UpdatedBy, timeText(b.UpdatedAt),
	}
	for i := range cells {
		cells[i] = audit.Cell(cells[i])
	}
	return cells
}
