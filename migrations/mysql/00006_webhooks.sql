-- Endpoints that changes are told to. There is no queue of deliveries: changes are numbered in the order in which they
-- were committed, so one number per endpoint says how far it has been told.

-- +goose Up
-- actions holds filters with spaces between. The secret must be there to sign with, so it is kept as it is.
CREATE TABLE IF NOT EXISTS webhooks (
  id          BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARCHAR(128)  NOT NULL,
  url         VARCHAR(500)  NOT NULL,
  description VARCHAR(1000) NOT NULL,
  actions     VARCHAR(1000) NOT NULL,
  target_kind VARCHAR(16)   NOT NULL,
  target      VARCHAR(128)  NOT NULL,
  checkpoints BOOLEAN       NOT NULL,
  enabled     BOOLEAN       NOT NULL,
  secret      VARCHAR(128)  NOT NULL,
  revision    BIGINT        NOT NULL,
  created_by  VARCHAR(128)  NOT NULL,
  created_at  DATETIME(6)   NOT NULL,
  updated_by  VARCHAR(128)  NOT NULL,
  updated_at  DATETIME(6)   NOT NULL,
  UNIQUE KEY webhooks_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What delivering writes, beside what people edit. The lease says which server delivers; it ends by itself when that
-- server dies.
CREATE TABLE IF NOT EXISTS webhook_states (
  webhook_id     BIGINT       NOT NULL PRIMARY KEY,
  cursor_id      BIGINT       NOT NULL,
  checkpoint_seq BIGINT       NOT NULL,
  failures       INT          NOT NULL,
  failed_at      DATETIME(6)  NULL,
  next_at        DATETIME(6)  NOT NULL,
  failing        BOOLEAN      NOT NULL,
  last_error     VARCHAR(500) NOT NULL,
  lease_owner    VARCHAR(64)  NOT NULL,
  lease_until    DATETIME(6)  NOT NULL,
  CONSTRAINT fk_webhook_states_webhook FOREIGN KEY (webhook_id) REFERENCES webhooks (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The last attempts of each endpoint, for people who look for what is wrong.
CREATE TABLE IF NOT EXISTS webhook_attempts (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  webhook_id BIGINT       NOT NULL,
  event      VARCHAR(64)  NOT NULL,
  change_id  BIGINT       NOT NULL,
  at         DATETIME(6)  NOT NULL,
  took_us    BIGINT       NOT NULL,
  status     INT          NOT NULL,
  error      VARCHAR(500) NOT NULL,
  KEY webhook_attempts_webhook (webhook_id, id),
  CONSTRAINT fk_webhook_attempts_webhook FOREIGN KEY (webhook_id) REFERENCES webhooks (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
