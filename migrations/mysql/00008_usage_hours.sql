-- What the SDKs reported, by hour. Redis counts minutes and keeps them for two days; here are their sums for 90 days.

-- +goose Up
-- An hour is in whole hours of Redis's clock since 1970. minutes holds the hour's minutes one by one while Redis may
-- still have them, so that each can only grow, whoever reads it how often; it is emptied afterwards.
CREATE TABLE IF NOT EXISTS usage_hours (
  bucket_id      BIGINT          NOT NULL,
  hour           BIGINT          NOT NULL,
  app            VARCHAR(128)    NOT NULL,
  granted        BIGINT          NOT NULL,
  limited        BIGINT          NOT NULL,
  shadow_limited BIGINT          NOT NULL,
  minutes        VARBINARY(2048) NOT NULL,
  PRIMARY KEY (bucket_id, hour, app),
  KEY usage_hours_app (app, hour),
  KEY usage_hours_hour (hour),
  CONSTRAINT fk_usage_hours_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- How far the minutes have been read at each age at which they are read; see internal/figures.
CREATE TABLE IF NOT EXISTS usage_marks (
  name VARCHAR(32) NOT NULL PRIMARY KEY,
  upto BIGINT      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
