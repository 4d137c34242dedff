-- API tokens, and service accounts to act as; table for table those of ../mysql.

-- +goose Up

-- A migration is one transaction on SQLite, so this is carried out with the rest or not at all.
ALTER TABLE users ADD COLUMN service BOOLEAN NOT NULL DEFAULT FALSE;

-- hash is the SHA-256 of the secret, which is kept nowhere. scopes are names with spaces between.
CREATE TABLE IF NOT EXISTS api_tokens (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  kind               TEXT     NOT NULL,
  name               TEXT     NOT NULL,
  user_id            INTEGER  NOT NULL,
  maker_id           INTEGER  NOT NULL,
  scopes             TEXT     NOT NULL,
  hash               BLOB     NOT NULL,
  hint               TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  expires_at         DATETIME NOT NULL,
  revoked_at         DATETIME NULL,
  revoked_by         TEXT     NOT NULL,
  last_used_at       DATETIME NULL,
  last_used_by       TEXT     NOT NULL,
  UNIQUE (hash),
  FOREIGN KEY (user_id) REFERENCES users (id),
  FOREIGN KEY (maker_id) REFERENCES users (id)
);
CREATE INDEX IF NOT EXISTS api_tokens_user ON api_tokens (user_id, id);
CREATE INDEX IF NOT EXISTS api_tokens_maker ON api_tokens (maker_id);
CREATE INDEX IF NOT EXISTS api_tokens_expires ON api_tokens (expires_at);
