-- The history becomes a chain of hashes; see the file of the same number for MySQL. SQLite has no users with rights of
-- their own, so triggers refuse what those may not do there.

-- +goose Up
ALTER TABLE changes ADD COLUMN token TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
ALTER TABLE changes ADD COLUMN until_at DATETIME NULL;
ALTER TABLE changes ADD COLUMN prev_hash BLOB NULL;
ALTER TABLE changes ADD COLUMN hash BLOB NULL;

CREATE TABLE IF NOT EXISTS audit_head (
  id        INTEGER NOT NULL PRIMARY KEY,
  seq       INTEGER NOT NULL,
  hash      BLOB    NOT NULL,
  first_seq INTEGER NOT NULL
);

INSERT OR IGNORE INTO audit_head (id, seq, hash, first_seq)
SELECT 1, COALESCE(MAX(id), 0), zeroblob(32), COALESCE(MAX(id), 0) + 1 FROM changes;

CREATE TABLE IF NOT EXISTS audit_checkpoints (
  seq        INTEGER  NOT NULL PRIMARY KEY,
  chain      TEXT     NOT NULL,
  first_seq  INTEGER  NOT NULL,
  hash       BLOB     NOT NULL,
  at         DATETIME NOT NULL,
  public_key BLOB     NOT NULL,
  signature  BLOB     NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS changes_no_update BEFORE UPDATE ON changes
BEGIN SELECT RAISE(ABORT, 'changes are only ever added'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS changes_no_delete BEFORE DELETE ON changes
BEGIN SELECT RAISE(ABORT, 'changes are only ever added'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS checkpoints_no_update BEFORE UPDATE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are only ever added'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS checkpoints_no_delete BEFORE DELETE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are only ever added'); END;
-- +goose StatementEnd
