-- Break-glass: overlays under which mode enforce acts as shadow, in force and ended.

-- +goose Up
-- covers is "all" or "app:NAME" while the overlay is in force, and NULL afterwards: so no two cover the same at a time.
CREATE TABLE IF NOT EXISTS overlays (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  covers     VARCHAR(140) NULL,
  scope      VARCHAR(16)  NOT NULL,
  app        VARCHAR(128) NOT NULL,
  reason     VARCHAR(500) NOT NULL,
  started_by VARCHAR(128) NOT NULL,
  started_at DATETIME(6)  NOT NULL,
  ended_by   VARCHAR(128) NOT NULL,
  ended_at   DATETIME(6)  NULL,
  UNIQUE KEY overlays_covers (covers)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
