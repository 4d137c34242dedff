-- Alerts; table for table that of ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS alert_sets (
  bucket_id  INTEGER  NOT NULL PRIMARY KEY REFERENCES buckets (id),
  revision   INTEGER  NOT NULL,
  updated_by TEXT     NOT NULL,
  updated_at DATETIME NOT NULL
);

CREATE TABLE IF NOT EXISTS alert_rules (
  id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  bucket_id      INTEGER NOT NULL REFERENCES buckets (id),
  kind           TEXT    NOT NULL,
  percent        INTEGER NOT NULL,
  minutes        INTEGER NOT NULL,
  enabled        BOOLEAN NOT NULL,
  last_minute    INTEGER NOT NULL,
  over_run       INTEGER NOT NULL,
  under_run      INTEGER NOT NULL,
  since_minute   INTEGER NOT NULL,
  started_minute INTEGER NOT NULL,
  share          REAL    NOT NULL
);
CREATE INDEX IF NOT EXISTS alert_rules_bucket ON alert_rules (bucket_id, id);

CREATE TABLE IF NOT EXISTS alerts (
  id         INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  open_rule  INTEGER  NULL UNIQUE,
  rule_id    INTEGER  NOT NULL,
  bucket_id  INTEGER  NOT NULL REFERENCES buckets (id),
  kind       TEXT     NOT NULL,
  percent    INTEGER  NOT NULL,
  minutes    INTEGER  NOT NULL,
  since      DATETIME NOT NULL,
  started_at DATETIME NOT NULL,
  ended_at   DATETIME NULL,
  cause      TEXT     NOT NULL,
  share      REAL     NOT NULL,
  peak       REAL     NOT NULL
);
CREATE INDEX IF NOT EXISTS alerts_bucket ON alerts (bucket_id, started_at);
CREATE INDEX IF NOT EXISTS alerts_ended ON alerts (ended_at);
