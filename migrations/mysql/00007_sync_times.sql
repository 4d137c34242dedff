-- When Redis was last known to have a newer revision of a bucket: with updated_at, how long the last edit took to get
-- there. NULL until the first install after this migration.

-- +goose Up
-- MySQL has no ADD COLUMN IF NOT EXISTS, and an interrupted migration starts again from the top.
SET @headgate_step = IF(
  (SELECT COUNT(*) FROM information_schema.columns
   WHERE table_schema = DATABASE() AND table_name = 'buckets' AND column_name = 'installed_at') = 0,
  'ALTER TABLE buckets ADD COLUMN installed_at DATETIME(6) NULL', 'DO 0');
PREPARE headgate_step FROM @headgate_step;
EXECUTE headgate_step;
DEALLOCATE PREPARE headgate_step;
