package seed

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// batch is how many rows go into one statement: few enough for max_allowed_packet, which is 1 MiB or more.
const batch = 500

// inserter writes rows in large statements. Its first error is kept, and what follows does nothing.
type inserter struct {
	ctx context.Context
	db  *sql.DB
	err error
}

func (in *inserter) exec(query string, args ...any) {
	if in.err != nil {
		return
	}
	if _, err := in.db.ExecContext(in.ctx, query, args...); err != nil {
		in.err = fmt.Errorf("seed: %.60s: %w", query, err)
	}
}

// table gathers rows of one table.
type table struct {
	in      *inserter
	into    string
	columns int
	args    []any
}

// table begins to write into columns, which are named with commas between.
func (in *inserter) table(name, columns string) *table {
	return &table{in: in, into: fmt.Sprintf("INSERT INTO %s (%s) VALUES ", name, columns), columns: strings.Count(columns, ",") + 1}
}

// add takes one row; every so often the gathered ones are written.
func (t *table) add(values ...any) {
	t.args = append(t.args, values...)
	if len(t.args) >= batch*t.columns {
		t.flush()
	}
}

// flush writes what was gathered.
func (t *table) flush() {
	if len(t.args) == 0 {
		return
	}
	one := "(" + strings.Repeat("?,", t.columns-1) + "?)"
	t.in.exec(t.into+one+strings.Repeat(","+one, len(t.args)/t.columns-1), t.args...)
	t.args = t.args[:0]
}
