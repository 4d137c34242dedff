-- The admin servers that run, as each tells of itself every few seconds. No people's data: no change rows.

-- +goose Up
CREATE TABLE IF NOT EXISTS servers (
  id         VARCHAR(64)  NOT NULL PRIMARY KEY,
  host       VARCHAR(255) NOT NULL,
  version    VARCHAR(64)  NOT NULL,
  sync_state VARCHAR(32)  NOT NULL,
  draining   BOOLEAN      NOT NULL,
  started_at DATETIME(6)  NOT NULL,
  seen_at    DATETIME(6)  NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
