-- Single sign-on: who somebody is at a provider, and memberships that its groups give.

-- +goose Up
-- Issuer and subject are compared byte for byte, spaces at the end included, which only a binary type does.
CREATE TABLE IF NOT EXISTS identities (
  issuer     VARBINARY(255) NOT NULL,
  subject    VARBINARY(255) NOT NULL,
  user_id    BIGINT         NOT NULL,
  created_by VARCHAR(128)   NOT NULL,
  created_at DATETIME(6)    NOT NULL,
  used_at    DATETIME(6)    NULL,
  PRIMARY KEY (issuer, subject),
  KEY identities_user (user_id),
  CONSTRAINT fk_identities_user FOREIGN KEY (user_id) REFERENCES users (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A membership given by hand and one given by a group stand beside each other; the higher role counts. MySQL knows no
-- ADD COLUMN IF NOT EXISTS, so that the step asks whether it is done already.
SET @step = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'members' AND column_name = 'source') = 0,
  'ALTER TABLE members ADD COLUMN source VARCHAR(16) NOT NULL DEFAULT ''hand'', DROP PRIMARY KEY, ADD PRIMARY KEY (app_id, user_id, source)',
  'DO 0');
PREPARE step FROM @step;
EXECUTE step;
DEALLOCATE PREPARE step;
