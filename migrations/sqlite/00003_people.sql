-- Table for table that of ../mysql, whose comments hold here too.

-- +goose Up
CREATE TABLE IF NOT EXISTS signing_keys (
  id                 INTEGER  NOT NULL PRIMARY KEY AUTOINCREMENT,
  secret             TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  signs_from         DATETIME NOT NULL
);
