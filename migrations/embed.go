// Package migrations carries the SQL files that bring a database to the present schema, one folder a dialect. A file
// that was released is never edited: a change of the schema is a new file in both folders under the same number.
package migrations

import "embed"

// Files holds mysql/*.sql and sqlite/*.sql, in goose's form.
//
//go:embed mysql/*.sql sqlite/*.sql
var Files embed.FS
