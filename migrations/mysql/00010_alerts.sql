-- Alerts: when the owners of a bucket are told, where each rule stands, and what was told.

-- +goose Up
-- The rules of a bucket are edited together; a bucket without a row here was never given any, which is revision 1.
CREATE TABLE IF NOT EXISTS alert_sets (
  bucket_id  BIGINT       NOT NULL PRIMARY KEY,
  revision   BIGINT       NOT NULL,
  updated_by VARCHAR(128) NOT NULL,
  updated_at DATETIME(6)  NOT NULL,
  CONSTRAINT fk_alert_sets_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Minutes are whole minutes of Redis's clock since 1970.
CREATE TABLE IF NOT EXISTS alert_rules (
  id             BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  bucket_id      BIGINT      NOT NULL,
  kind           VARCHAR(32) NOT NULL,
  percent        INT         NOT NULL,
  minutes        INT         NOT NULL,
  enabled        BOOLEAN     NOT NULL,
  last_minute    BIGINT      NOT NULL,
  over_run       INT         NOT NULL,
  under_run      INT         NOT NULL,
  since_minute   BIGINT      NOT NULL,
  started_minute BIGINT      NOT NULL,
  share          DOUBLE      NOT NULL,
  KEY alert_rules_bucket (bucket_id, id),
  CONSTRAINT fk_alert_rules_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- open_rule is the rule while the alert is open, and NULL afterwards: so no rule has two open at a time.
CREATE TABLE IF NOT EXISTS alerts (
  id         BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  open_rule  BIGINT      NULL,
  rule_id    BIGINT      NOT NULL,
  bucket_id  BIGINT      NOT NULL,
  kind       VARCHAR(32) NOT NULL,
  percent    INT         NOT NULL,
  minutes    INT         NOT NULL,
  since      DATETIME(6) NOT NULL,
  started_at DATETIME(6) NOT NULL,
  ended_at   DATETIME(6) NULL,
  cause      VARCHAR(32) NOT NULL,
  share      DOUBLE      NOT NULL,
  peak       DOUBLE      NOT NULL,
  UNIQUE KEY alerts_open (open_rule),
  KEY alerts_bucket (bucket_id, started_at),
  KEY alerts_ended (ended_at),
  CONSTRAINT fk_alerts_bucket FOREIGN KEY (bucket_id) REFERENCES buckets (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
