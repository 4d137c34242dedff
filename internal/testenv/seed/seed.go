// Package seed fills a migrated MariaDB or MySQL with as much as a large deployment has, by bulk SQL past the store:
// one by one, 10,000 buckets take minutes.
//
// What it writes is what the store would have written: every definition is valid, every bucket stands at the revision of
// its last change row, and the rows are links of the audit chain. It is the same in every database that began the same.
//
// All buckets count as installed, so that a server that starts on an empty Redis brings them there by itself.
package seed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Size is how much to write.
type Size struct {
	Users   int // members; at least 3
	Apps    int // at least 2
	Buckets int
	Changes int // at least one for each user, app and bucket: its creation; the rest are edits of buckets, and logins

	// PasswordHash is what auth.Hasher made of the password that all users get; "" lets nobody log in.
	PasswordHash string
	// Until is when the newest change was made; the oldest is half a year before. The zero time is now.
	Until time.Time
}

// Owner is the user who owns every tenth bucket, beside those who share the ownership of all.
func Owner() string { return UserName(0) }

// Viewer is the user who owns nothing and is a viewer of the first app alone.
func Viewer() string { return UserName(1) }

// span is how far back the history goes.
const span = 180 * 24 * time.Hour

// Fill writes the rows into the database that the DSN names, which a server may have begun already (its admin stays) but
// nobody may use meanwhile.
func Fill(ctx context.Context, dsn string, size Size) (err error) {
	if size.Users < 3 || size.Apps < 2 || size.Changes < size.Users+size.Apps+size.Buckets {
		return errors.New("seed: at least 3 users, 2 apps, and a change for each user, app and bucket")
	}
	if size.Until.IsZero() {
		size.Until = time.Now()
	}
	db, err := open(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := &world{Size: size, rand: rand.New(rand.NewPCG(1, 2))}
	if err := w.number(ctx, db); err != nil {
		return err
	}
	w.plan()
	in := &inserter{ctx: ctx, db: db}
	// The history comes first: it settles how each bucket ends.
	w.writeHistory(in)
	w.writePeople(in)
	w.writeBuckets(in)
	return in.err
}

// world is what is to be written.
type world struct {
	Size
	rand    *rand.Rand
	first   struct{ user, app, bucket int64 } // ids of the first rows
	buckets []bucket
	apps    []app
}

// open opens one connection that checks no foreign keys and writes statements with their values inside.
func open(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	cfg.InterpolateParams = true
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["foreign_key_checks"], cfg.Params["unique_checks"] = "0", "0"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// number finds the first free ids.
func (w *world) number(ctx context.Context, db *sql.DB) error {
	for table, id := range map[string]*int64{"users": &w.first.user, "apps": &w.first.app, "buckets": &w.first.bucket} {
		if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(id), 0) + 1 FROM "+table).Scan(id); err != nil {
			return fmt.Errorf("seed: is the database migrated? %w", err)
		}
	}
	return nil
}
