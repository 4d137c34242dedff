-- The history becomes a chain of hashes (docs/audit.md). Each row gets the next number from audit_head, the hash of the
-- row before it and its own; rows from before this migration have neither. The number is no longer given by the
-- database, so that no program can add a row that is not in the chain without naming its number.
--
-- The ALTER stands in a prepared statement because MySQL has no ADD COLUMN IF NOT EXISTS, and an interrupted migration
-- starts again from the top.

-- +goose Up
SET @headgate_chain = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'changes' AND column_name = 'hash') > 0,
  'DO 0',
  'ALTER TABLE changes
     MODIFY id BIGINT NOT NULL,
     ADD COLUMN token VARCHAR(128) NOT NULL DEFAULT '''',
     ADD COLUMN times BIGINT NOT NULL DEFAULT 1,
     ADD COLUMN until_at DATETIME(6) NULL,
     ADD COLUMN prev_hash VARBINARY(32) NULL,
     ADD COLUMN hash VARBINARY(32) NULL');
PREPARE headgate_chain FROM @headgate_chain;
EXECUTE headgate_chain;
DEALLOCATE PREPARE headgate_chain;

-- One row: the last number and hash of the chain, and the number of its first row. It is locked last in every
-- transaction that writes history, which is what makes one chain of many writers.
CREATE TABLE IF NOT EXISTS audit_head (
  id        INT           NOT NULL PRIMARY KEY,
  seq       BIGINT        NOT NULL,
  hash      VARBINARY(32) NOT NULL,
  first_seq BIGINT        NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT IGNORE INTO audit_head (id, seq, hash, first_seq)
SELECT 1, COALESCE(MAX(id), 0), UNHEX(REPEAT('00', 32)), COALESCE(MAX(id), 0) + 1 FROM changes;

-- Signed statements of where the chain stood. Only ever inserted, except by retention.
CREATE TABLE IF NOT EXISTS audit_checkpoints (
  seq        BIGINT        NOT NULL PRIMARY KEY,
  chain      VARCHAR(64)   NOT NULL,
  first_seq  BIGINT        NOT NULL,
  hash       VARBINARY(32) NOT NULL,
  at         DATETIME(6)   NOT NULL,
  public_key VARBINARY(32) NOT NULL,
  signature  VARBINARY(64) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
