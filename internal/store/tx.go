package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// writeAttempts bounds how often a write starts again after a deadlock or a lost race for a new name.
const writeAttempts = 8

// tx is one write in progress: everything in it happens at the one time now, on behalf of one origin.
type tx struct {
	*gorm.DB
	now     time.Time      // µs, UTC
	changes []model.Change // to be added to the history right before the commit
}

// errAgain asks write to start the transaction again: another one has changed the ground under it.
var errAgain = errors.New("store: start again")

// write runs fn in one transaction and commits it. When another transaction was in the way, or when fn asks for it, it
// starts again, so fn must keep nothing from a run before. After any other failure nothing is tried again: a commit
// whose answer was lost may have been carried out.
func (s *Store) write(ctx context.Context, fn func(t *tx) error) error {
	return s.writeWithin(ctx, callTimeout, fn)
}

// writeWithin is write with a bound of its own, for what moves more than a request does.
func (s *Store) writeWithin(ctx context.Context, bound time.Duration, fn func(t *tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := s.writeOnce(ctx, fn)
		if err == nil {
			return nil
		}
		if attempt == writeAttempts || !isBusy(err) {
			return translate(err)
		}
		pause := time.Duration(attempt) * time.Duration(5+rand.IntN(20)) * time.Millisecond
		if sleep(ctx, pause) != nil {
			return translate(err)
		}
	}
}

func (s *Store) writeOnce(ctx context.Context, fn func(t *tx) error) (err error) {
	ctx, end := s.traceTransaction(ctx)
	defer func() { end(err) }()
	return s.writer.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		t := &tx{DB: db, now: micros(s.now())}
		if err := fn(t); err != nil {
			return err
		}
		return t.chainChanges()
	}, s.writeTx)
}

// read runs fn on one consistent view of the database.
func (s *Store) read(ctx context.Context, fn func(db *gorm.DB) error) error {
	return s.readWithin(ctx, callTimeout, fn)
}

// readWithin is read with a bound of its own, for what reads more than a request does.
func (s *Store) readWithin(ctx context.Context, bound time.Duration, fn func(db *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	ctx, end := s.traceTransaction(ctx)
	err := s.reader.WithContext(ctx).Transaction(fn, s.readTx)
	end(err)
	return translate(err)
}

// readOne runs fn, which makes a single statement, without the cost of a transaction.
func (s *Store) readOne(ctx context.Context, fn func(db *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return translate(fn(s.reader.WithContext(ctx)))
}

// forUpdate locks the rows that it reads until the transaction ends. SQLite needs none: its writers are alone.
func forUpdate(db *gorm.DB) *gorm.DB {
	return db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// forShare keeps others from changing the rows that it reads until the transaction ends.
func forShare(db *gorm.DB) *gorm.DB {
	return db.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
}

// micros is a time as both databases keep it: UTC, whole microseconds.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// sleep waits, or returns the context's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
