-- What the SDKs reported, by hour; table for table those of ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS usage_hours (
  bucket_id      INTEGER NOT NULL,
  hour           INTEGER NOT NULL,
  app            TEXT    NOT NULL,
  granted        INTEGER NOT NULL,
  limited        INTEGER NOT NULL,
  shadow_limited INTEGER NOT NULL,
  minutes        BLOB    NOT NULL,
  PRIMARY KEY (bucket_id, hour, app),
  FOREIGN KEY (bucket_id) REFERENCES buckets (id)
);
CREATE INDEX IF NOT EXISTS usage_hours_app ON usage_hours (app, hour);
CREATE INDEX IF NOT EXISTS usage_hours_hour ON usage_hours (hour);

CREATE TABLE IF NOT EXISTS usage_marks (
  name TEXT    NOT NULL PRIMARY KEY,
  upto INTEGER NOT NULL
);
