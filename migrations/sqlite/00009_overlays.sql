-- Break-glass; table for table that of ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS overlays (
  id         INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  covers     TEXT     NULL UNIQUE,
  scope      TEXT     NOT NULL,
  app        TEXT     NOT NULL,
  reason     TEXT     NOT NULL,
  started_by TEXT     NOT NULL,
  started_at DATETIME NOT NULL,
  ended_by   TEXT     NOT NULL,
  ended_at   DATETIME NULL
);
