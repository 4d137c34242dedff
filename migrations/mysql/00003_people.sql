-- The keys that sign the tokens of sessions: the newest whose time has come signs, all of them prove. They had been one
-- row of meta, which the first server of this version takes over.

-- +goose Up
CREATE TABLE IF NOT EXISTS signing_keys (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  secret     VARCHAR(128) NOT NULL,
  created_at DATETIME(6)  NOT NULL,
  signs_from DATETIME(6)  NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
