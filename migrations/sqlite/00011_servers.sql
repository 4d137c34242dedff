-- The admin servers that run; table for table that of ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS servers (
  id         TEXT     NOT NULL PRIMARY KEY,
  host       TEXT     NOT NULL,
  version    TEXT     NOT NULL,
  sync_state TEXT     NOT NULL,
  draining   BOOLEAN  NOT NULL,
  started_at DATETIME NOT NULL,
  seen_at    DATETIME NOT NULL
);
