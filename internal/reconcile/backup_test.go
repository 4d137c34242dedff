package reconcile_test

import "database/sql"

// tables that a restore takes back, the children first.
var tables = []string{"bucket_apps", "bucket_owners", "bucket_labels", "outbox", "buckets", "changes", "audit_head", "meta"}

// backup copies the rows, as an operator's dump would.
func (w *world) backup() {
	w.Helper()
	for _, table := range tables {
		_, err := w.raw.ExecContext(w.Context(), "DROP TABLE IF EXISTS saved_"+table)
		must(w.T, err)
		_, err = w.raw.ExecContext(w.Context(), "CREATE TABLE saved_"+table+" AS SELECT * FROM "+table)
		must(w.T, err)
	}
}

// restore takes the rows back.
func (w *world) restore() {
	w.Helper()
	conn, err := w.raw.Conn(w.Context())
	must(w.T, err)
	defer func() { _ = conn.Close() }()
	// A restore brings a whole file back; this one goes row by row, past what keeps the history from being cut.
	_, err = conn.ExecContext(w.Context(), "DROP TRIGGER IF EXISTS changes_no_delete")
	must(w.T, err)
	tx, err := conn.BeginTx(w.Context(), &sql.TxOptions{})
	must(w.T, err)
	defer func() { _ = tx.Rollback() }() // else a failure would leave the connection waiting for it
	for _, table := range tables {
		_, err := tx.ExecContext(w.Context(), "DELETE FROM "+table)
		must(w.T, err)
	}
	for i := len(tables) - 1; i >= 0; i-- {
		_, err := tx.ExecContext(w.Context(), "INSERT INTO "+tables[i]+" SELECT * FROM saved_"+tables[i])
		must(w.T, err)
	}
	must(w.T, tx.Commit())
}
