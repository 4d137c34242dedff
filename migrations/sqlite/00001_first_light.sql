-- The first schema, table for table that of ../mysql (whose comments hold here too). Names are compared byte by byte
-- (BINARY is SQLite's default collation). Times are UTC texts with microseconds, which sort as times do.

-- +goose Up
CREATE TABLE IF NOT EXISTS meta (
  name               TEXT     NOT NULL PRIMARY KEY,
  value              TEXT     NOT NULL
);

CREATE TABLE IF NOT EXISTS users (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  name               TEXT     NOT NULL,
  display_name       TEXT     NOT NULL,
  role               TEXT     NOT NULL,
  disabled           BOOLEAN  NOT NULL,
  password_hash      TEXT     NOT NULL,
  revision           INTEGER  NOT NULL,
  created_by         TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  updated_by         TEXT     NOT NULL,
  updated_at         DATETIME NOT NULL,
  UNIQUE (name)
);
CREATE INDEX IF NOT EXISTS users_updated ON users (updated_at, name);

-- A deleted app keeps its row, so that a new one of the name goes on counting revisions.
CREATE TABLE IF NOT EXISTS apps (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  name               TEXT     NOT NULL,
  description        TEXT     NOT NULL,
  deleted            BOOLEAN  NOT NULL,
  revision           INTEGER  NOT NULL,
  created_revision   INTEGER  NOT NULL,
  created_by         TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  updated_by         TEXT     NOT NULL,
  updated_at         DATETIME NOT NULL,
  UNIQUE (name)
);
CREATE INDEX IF NOT EXISTS apps_updated ON apps (updated_at, name);

CREATE TABLE IF NOT EXISTS members (
  app_id             INTEGER  NOT NULL,
  user_id            INTEGER  NOT NULL,
  role               TEXT     NOT NULL,
  PRIMARY KEY (app_id, user_id),
  FOREIGN KEY (app_id) REFERENCES apps (id),
  FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX IF NOT EXISTS members_user ON members (user_id, app_id);

-- One row a name, for ever: the revision never restarts. mark counts the markings for the outbox, so that a mark is
-- never used twice though outbox rows come and go.
CREATE TABLE IF NOT EXISTS buckets (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  name               TEXT     NOT NULL,
  description        TEXT     NOT NULL,
  all_apps           BOOLEAN  NOT NULL,
  algorithm          TEXT     NOT NULL,
  max_permits        INTEGER  NOT NULL,
  rate               INTEGER  NOT NULL,
  period_ms          INTEGER  NOT NULL,
  partition_by       TEXT     NOT NULL,
  shards             INTEGER  NOT NULL,
  mode               TEXT     NOT NULL,
  max_wait_ms        INTEGER  NOT NULL,
  on_redis_failure   TEXT     NOT NULL,
  after_loss         TEXT     NOT NULL,
  deleted            BOOLEAN  NOT NULL,
  revision           INTEGER  NOT NULL,
  created_revision   INTEGER  NOT NULL,
  installed_revision INTEGER  NOT NULL,
  mark               INTEGER  NOT NULL,
  created_by         TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  updated_by         TEXT     NOT NULL,
  updated_at         DATETIME NOT NULL,
  UNIQUE (name)
);
CREATE INDEX IF NOT EXISTS buckets_updated ON buckets (updated_at, name);

CREATE TABLE IF NOT EXISTS bucket_apps (
  bucket_id          INTEGER  NOT NULL,
  app_id             INTEGER  NOT NULL,
  PRIMARY KEY (bucket_id, app_id),
  FOREIGN KEY (bucket_id) REFERENCES buckets (id),
  FOREIGN KEY (app_id) REFERENCES apps (id)
);
CREATE INDEX IF NOT EXISTS bucket_apps_app ON bucket_apps (app_id, bucket_id);

CREATE TABLE IF NOT EXISTS bucket_owners (
  bucket_id          INTEGER  NOT NULL,
  user_id            INTEGER  NOT NULL,
  PRIMARY KEY (bucket_id, user_id),
  FOREIGN KEY (bucket_id) REFERENCES buckets (id),
  FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX IF NOT EXISTS bucket_owners_user ON bucket_owners (user_id, bucket_id);

CREATE TABLE IF NOT EXISTS bucket_labels (
  bucket_id          INTEGER  NOT NULL,
  name               TEXT     NOT NULL,
  value              TEXT     NOT NULL,
  PRIMARY KEY (bucket_id, name),
  FOREIGN KEY (bucket_id) REFERENCES buckets (id)
);
CREATE INDEX IF NOT EXISTS bucket_labels_name ON bucket_labels (name, value, bucket_id);

-- Append-only. The two JSON texts are kept byte for byte, which the JSON type would not do.
CREATE TABLE IF NOT EXISTS changes (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  at                 DATETIME NOT NULL,
  actor              TEXT     NOT NULL,
  action             TEXT     NOT NULL,
  target_kind        TEXT     NOT NULL,
  target             TEXT     NOT NULL,
  revision           INTEGER  NOT NULL,
  before_json        TEXT     NULL,
  after_json         TEXT     NULL,
  reason             TEXT     NOT NULL,
  address            TEXT     NOT NULL,
  request_id         TEXT     NOT NULL
);
CREATE INDEX IF NOT EXISTS changes_target ON changes (target_kind, target, id);
CREATE INDEX IF NOT EXISTS changes_actor ON changes (actor, id);
CREATE INDEX IF NOT EXISTS changes_action ON changes (action, id);
CREATE INDEX IF NOT EXISTS changes_at ON changes (at, id);

CREATE TABLE IF NOT EXISTS outbox (
  bucket_id          INTEGER  NOT NULL PRIMARY KEY,
  mark               INTEGER  NOT NULL,
  attempts           INTEGER  NOT NULL,
  next_at            DATETIME NOT NULL,
  last_error         TEXT     NOT NULL,
  FOREIGN KEY (bucket_id) REFERENCES buckets (id)
);
CREATE INDEX IF NOT EXISTS outbox_next ON outbox (next_at, bucket_id);

CREATE TABLE IF NOT EXISTS sessions (
  id                 TEXT     NOT NULL PRIMARY KEY,
  user_id            INTEGER  NOT NULL,
  refresh_hash       BLOB     NOT NULL,
  prev_hash          BLOB     NULL,
  created_at         DATETIME NOT NULL,
  rotated_at         DATETIME NOT NULL,
  expires_at         DATETIME NOT NULL,
  address            TEXT     NOT NULL,
  user_agent         TEXT     NOT NULL,
  FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX IF NOT EXISTS sessions_user ON sessions (user_id);
CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires_at);
