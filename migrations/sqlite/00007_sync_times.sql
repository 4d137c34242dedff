-- See the file of the same number for MySQL.

-- +goose Up
ALTER TABLE buckets ADD COLUMN installed_at DATETIME NULL;
