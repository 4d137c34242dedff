-- Single sign-on: who somebody is at a provider, and memberships that its groups give (see ../mysql).

-- +goose Up
CREATE TABLE IF NOT EXISTS identities (
  issuer             TEXT     NOT NULL,
  subject            TEXT     NOT NULL,
  user_id            INTEGER  NOT NULL,
  created_by         TEXT     NOT NULL,
  created_at         DATETIME NOT NULL,
  used_at            DATETIME NULL,
  PRIMARY KEY (issuer, subject),
  FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX IF NOT EXISTS identities_user ON identities (user_id);

-- SQLite can't change a primary key: the table is made anew, in this migration's one transaction.
CREATE TABLE members_next (
  app_id             INTEGER  NOT NULL,
  user_id            INTEGER  NOT NULL,
  role               TEXT     NOT NULL,
  source             TEXT     NOT NULL DEFAULT 'hand',
  PRIMARY KEY (app_id, user_id, source),
  FOREIGN KEY (app_id) REFERENCES apps (id),
  FOREIGN KEY (user_id) REFERENCES users (id)
);
INSERT INTO members_next (app_id, user_id, role) SELECT app_id, user_id, role FROM members;
DROP TABLE members;
ALTER TABLE members_next RENAME TO members;
CREATE INDEX members_user ON members (user_id, app_id);
