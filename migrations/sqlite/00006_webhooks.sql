-- Endpoints that changes are told to; table for table those of ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS webhooks (
  id          INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  name        TEXT     NOT NULL UNIQUE,
  url         TEXT     NOT NULL,
  description TEXT     NOT NULL,
  actions     TEXT     NOT NULL,
  target_kind TEXT     NOT NULL,
  target      TEXT     NOT NULL,
  checkpoints BOOLEAN  NOT NULL,
  enabled     BOOLEAN  NOT NULL,
  secret      TEXT     NOT NULL,
  revision    INTEGER  NOT NULL,
  created_by  TEXT     NOT NULL,
  created_at  DATETIME NOT NULL,
  updated_by  TEXT     NOT NULL,
  updated_at  DATETIME NOT NULL
);

CREATE TABLE IF NOT EXISTS webhook_states (
  webhook_id     INTEGER  NOT NULL PRIMARY KEY,
  cursor_id      INTEGER  NOT NULL,
  checkpoint_seq INTEGER  NOT NULL,
  failures       INTEGER  NOT NULL,
  failed_at      DATETIME NULL,
  next_at        DATETIME NOT NULL,
  failing        BOOLEAN  NOT NULL,
  last_error     TEXT     NOT NULL,
  lease_owner    TEXT     NOT NULL,
  lease_until    DATETIME NOT NULL,
  FOREIGN KEY (webhook_id) REFERENCES webhooks (id)
);

CREATE TABLE IF NOT EXISTS webhook_attempts (
  id         INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER  NOT NULL,
  event      TEXT     NOT NULL,
  change_id  INTEGER  NOT NULL,
  at         DATETIME NOT NULL,
  took_us    INTEGER  NOT NULL,
  status     INTEGER  NOT NULL,
  error      TEXT     NOT NULL,
  FOREIGN KEY (webhook_id) REFERENCES webhooks (id)
);
CREATE INDEX IF NOT EXISTS webhook_attempts_webhook ON webhook_attempts (webhook_id, id);
