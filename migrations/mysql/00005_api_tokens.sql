-- API tokens, and service accounts to act as. A service account is a user that can't log in.

-- +goose Up

-- MySQL has no ADD COLUMN IF NOT EXISTS, and a migration that was interrupted starts again from the top.
SET @headgate_step = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'users' AND column_name = 'service') = 0,
  'ALTER TABLE users ADD COLUMN service BOOLEAN NOT NULL DEFAULT FALSE', 'DO 0');
PREPARE headgate_step FROM @headgate_step;
EXECUTE headgate_step;
DEALLOCATE PREPARE headgate_step;

-- hash is the SHA-256 of the secret, which is kept nowhere. scopes are names with spaces between.
CREATE TABLE IF NOT EXISTS api_tokens (
  id           BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  kind         VARCHAR(16)   NOT NULL,
  name         VARCHAR(64)   NOT NULL,
  user_id      BIGINT        NOT NULL,
  maker_id     BIGINT        NOT NULL,
  scopes       VARCHAR(255)  NOT NULL,
  hash         VARBINARY(32) NOT NULL,
  hint         VARCHAR(16)   NOT NULL,
  created_at   DATETIME(6)   NOT NULL,
  expires_at   DATETIME(6)   NOT NULL,
  revoked_at   DATETIME(6)   NULL,
  revoked_by   VARCHAR(128)  NOT NULL,
  last_used_at DATETIME(6)   NULL,
  last_used_by VARCHAR(64)   NOT NULL,
  UNIQUE KEY api_tokens_hash (hash),
  KEY api_tokens_user (user_id, id),
  KEY api_tokens_maker (maker_id),
  KEY api_tokens_expires (expires_at),
  CONSTRAINT fk_api_tokens_user FOREIGN KEY (user_id) REFERENCES users (id),
  CONSTRAINT fk_api_tokens_maker FOREIGN KEY (maker_id) REFERENCES users (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
