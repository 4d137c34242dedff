-- The first schema. Names are compared byte by byte (utf8mb4_bin): names that differ in case or in an accent are
-- different. Times are UTC with microseconds. Statements are repeatable, because MySQL commits each CREATE by itself
-- and an interrupted migration starts again from the top.
--
-- What comes later finds its place without a change of these tables: a change request is a table of its own with
-- (bucket_id, base_revision, proposed definition); a per-key override is (bucket_id, limit_key, expires_at); further
-- Redis targets are a table of targets, and (target_id, bucket_id) takes over installed_revision and the outbox.

-- +goose Up
CREATE TABLE IF NOT EXISTS meta (
  name  VARCHAR(64)  NOT NULL PRIMARY KEY,
  value VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS users (
  id            BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name          VARCHAR(64)  NOT NULL,
  display_name  VARCHAR(100) NOT NULL,
  role          VARCHAR(16)  NOT NULL,
  disabled      BOOLEAN      NOT NULL,
  password_hash VARCHAR(255) NOT NULL,
  revision      BIGINT       NOT NULL,
  created_by    VARCHAR(128) NOT NULL,
  created_at    DATETIME(6)  NOT NULL,
  updated_by    VARCHAR(128) NOT NULL,
  updated_at    DATETIME(6)  NOT NULL,
  UNIQUE KEY users_name (name),
  KEY users_updated (updated_at, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A deleted app keeps its row, so that a new one of the name goes on counting revisions.
CREATE TABLE IF NOT EXISTS apps (
  id               BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name             VARCHAR(128)  NOT NULL,
  description      VARCHAR(1000) NOT NULL,
  deleted          BOOLEAN       NOT NULL,
  revision         BIGINT        NOT NULL,
  created_revision BIGINT        NOT NULL,
  created_by       VARCHAR(128)  NOT NULL,
  created_at       DATETIME(6)   NOT NULL,
  updated_by       VARCHAR(128)  NOT NULL,
  updated_at       DATETIME(6)   NOT NULL,
  UNIQUE KEY apps_name (name),
  KEY apps_updated (updated_at, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS members (
  app_id  BIGINT      NOT NULL,
  user_id BIGINT      NOT NULL,
  role    VARCHAR(16) NOT NULL,
  PRIMARY KEY (app_id, user_id),
  KEY members_user (user_id, app_id),
  CONSTRAINT fk_members_app FOREIGN KEY (app_id) REFERENCES apps (id),
  CONSTRAINT fk_members_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row a name, for ever: the revision never restarts. mark counts the markings for the outbox, so that a mark is
-- never used twice though outbox rows come and go.
CREATE TABLE IF NOT EXISTS buckets (
  id                 BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name               VARCHAR(128)  NOT NULL,
  description        VARCHAR(1000) NOT NULL,
  all_apps           BOOLEAN       NOT NULL,
  algorithm          VARCHAR(32)   NOT NULL,
  max_permits        BIGINT        NOT NULL,
  rate               BIGINT        NOT NULL,
  period_ms          BIGINT        NOT NULL,
  partition_by       VARCHAR(16)   NOT NULL,
  shards             INT           NOT NULL,
  mode               VARCHAR(16)   NOT NULL,
  max_wait_ms        BIGINT        NOT NULL,
  on_redis_failure   VARCHAR(16)   NOT NULL,
  after_loss         VARCHAR(16)   NOT NULL,
  deleted            BOOLEAN       NOT NULL,
  revision           BIGINT        NOT NULL,
  created_revision   BIGINT        NOT NULL,
  installed_revision BIGINT        NOT NULL,
  mark               BIGINT        NOT NULL,
  created_by         VARCHAR(128)  NOT NULL,
  created_at         DATETIME(6)   NOT NULL,
  updated_by         VARCHAR(128)  NOT NULL,
  updated_at         DATETIME(6)   NOT NULL,
  UNIQUE KEY buckets_name (name),
  KEY buckets_updated (updated_at, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS bucket_apps (
  bucket_id BIGINT NOT NULL,
  app_id    BIGINT NOT NULL,
  PRIMARY KEY (bucket_id, app_id),
  KEY bucket_apps_app (app_id, bucket_id),
  CONSTRAINT fk_bucket_apps_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id),
  CONSTRAINT fk_bucket_apps_app FOREIGN KEY (app_id) REFERENCES apps (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS bucket_owners (
  bucket_id BIGINT NOT NULL,
  user_id   BIGINT NOT NULL,
  PRIMARY KEY (bucket_id, user_id),
  KEY bucket_owners_user (user_id, bucket_id),
  CONSTRAINT fk_bucket_owners_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id),
  CONSTRAINT fk_bucket_owners_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS bucket_labels (
  bucket_id BIGINT      NOT NULL,
  name      VARCHAR(63) NOT NULL,
  value     VARCHAR(63) NOT NULL,
  PRIMARY KEY (bucket_id, name),
  KEY bucket_labels_name (name, value, bucket_id),
  CONSTRAINT fk_bucket_labels_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Append-only. The two JSON texts are kept byte for byte, which the JSON type would not do.
CREATE TABLE IF NOT EXISTS changes (
  id          BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at          DATETIME(6)  NOT NULL,
  actor       VARCHAR(128) NOT NULL,
  action      VARCHAR(32)  NOT NULL,
  target_kind VARCHAR(16)  NOT NULL,
  target      VARCHAR(128) NOT NULL,
  revision    BIGINT       NOT NULL,
  before_json LONGTEXT     NULL,
  after_json  LONGTEXT     NULL,
  reason      VARCHAR(500) NOT NULL,
  address     VARCHAR(64)  NOT NULL,
  request_id  VARCHAR(64)  NOT NULL,
  KEY changes_target (target_kind, target, id),
  KEY changes_actor (actor, id),
  KEY changes_action (action, id),
  KEY changes_at (at, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS outbox (
  bucket_id  BIGINT       NOT NULL PRIMARY KEY,
  mark       BIGINT       NOT NULL,
  attempts   INT          NOT NULL,
  next_at    DATETIME(6)  NOT NULL,
  last_error VARCHAR(500) NOT NULL,
  KEY outbox_next (next_at, bucket_id),
  CONSTRAINT fk_outbox_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sessions (
  id           VARCHAR(64)   NOT NULL PRIMARY KEY,
  user_id      BIGINT        NOT NULL,
  refresh_hash VARBINARY(64) NOT NULL,
  prev_hash    VARBINARY(64) NULL,
  created_at   DATETIME(6)   NOT NULL,
  rotated_at   DATETIME(6)   NOT NULL,
  expires_at   DATETIME(6)   NOT NULL,
  address      VARCHAR(64)   NOT NULL,
  user_agent   VARCHAR(255)  NOT NULL,
  KEY sessions_user (user_id),
  KEY sessions_expires (expires_at),
  CONSTRAINT fk_sessions_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
