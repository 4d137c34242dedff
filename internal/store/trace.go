package store

import (
	"context"
	"errors"
	"strings"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// Trace begins a step of the trace that ctx belongs to: a statement, or a transaction of several. system names the kind
// of database. end is called once, with the statement, which has ? for its values; "" for a transaction.
type Trace func(ctx context.Context, system string) (_ context.Context, end func(name, statement string, err error))

// traceKey finds the end of a running step among a statement's settings.
const traceKey = "headgate:trace"

// traceStatements has every statement of a handle traced.
func (s *Store) traceStatements(db *gorm.DB) error {
	if s.trace == nil {
		return nil
	}
	begin := func(db *gorm.DB) {
		ctx, end := s.trace(db.Statement.Context, s.system)
		db.Statement.Context = ctx
		db.InstanceSet(traceKey, end)
	}
	end := func(db *gorm.DB) {
		if end, ok := db.InstanceGet(traceKey); ok {
			statement := db.Statement.SQL.String()
			end.(func(name, statement string, err error))(statementName(statement, db.Statement.Table), statement, fault(db.Error))
		}
	}
	c := db.Callback()
	return errors.Join(
		c.Create().Before("*").Register("headgate:begin", begin), c.Create().After("*").Register("headgate:end", end),
		c.Query().Before("*").Register("headgate:begin", begin), c.Query().After("*").Register("headgate:end", end),
		c.Update().Before("*").Register("headgate:begin", begin), c.Update().After("*").Register("headgate:end", end),
		c.Delete().Before("*").Register("headgate:begin", begin), c.Delete().After("*").Register("headgate:end", end),
		c.Row().Before("*").Register("headgate:begin", begin), c.Row().After("*").Register("headgate:end", end),
		c.Raw().Before("*").Register("headgate:begin", begin), c.Raw().After("*").Register("headgate:end", end),
	)
}

// statementName is what a list of steps shows: "SELECT buckets".
func statementName(statement, table string) string {
	verb, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	return strings.TrimSpace(verb + " " + table)
}

// traceTransaction begins the step of a transaction; the wait for a free connection and the commit are in it.
func (s *Store) traceTransaction(ctx context.Context) (context.Context, func(error)) {
	if s.trace == nil {
		return ctx, func(error) {}
	}
	ctx, end := s.trace(ctx, s.system)
	return ctx, func(err error) { end("transaction", "", fault(err)) }
}

// fault is the error if the database made it: that a row is missing, or refused by a rule of ours, is none.
func fault(err error) error {
	var ours *model.Error
	if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, errAgain) || errors.As(err, &ours) && ours.Cause == nil {
		return nil
	}
	return err
}
