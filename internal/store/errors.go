package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// coder is what the SQLite driver's errors offer.
type coder interface{ Code() int }

func mysqlNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func sqliteCode(err error) int {
	var e coder
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isDuplicate tells whether a unique key refused a row.
func isDuplicate(err error) bool {
	code := sqliteCode(err)
	return mysqlNumber(err) == mysqlDuplicate || code == sqliteUnique || code == sqlitePrimaryKey
}

// isNoTable tells whether a statement named a table that is not there.
func isNoTable(err error) bool {
	return mysqlNumber(err) == mysqlNoTable || err != nil && strings.Contains(err.Error(), "no such table") // SQLite has no code for it
}

// isBusy tells whether another transaction was in the way, so that trying again from the start is right.
func isBusy(err error) bool {
	if errors.Is(err, errAgain) {
		return true
	}
	conflicts := []uint16{mysqlDeadlock, mysqlLockTimeout, mysqlRowChanged}
	locks := []int{sqliteBusy, sqliteLocked}
	return slices.Contains(conflicts, mysqlNumber(err)) || slices.Contains(locks, sqliteCode(err)&0xff)
}

// isDown tells whether the database, not the statement, is what failed.
func isDown(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	if strings.HasSuffix(err.Error(), "sql: database is closed") { // database/sql does not export this one
		return true
	}
	var network net.Error
	if errors.As(err, &network) {
		return true
	}
	refusals := []uint16{mysqlTooManyConnections, mysqlNoDatabase, mysqlShutdown, mysqlReadOnly, mysqlInterrupted, mysqlReadOnlyTx, mysqlKilled}
	if slices.Contains(refusals, mysqlNumber(err)) {
		return true
	}
	files := []int{sqliteNoMemory, sqliteReadOnly, sqliteInterrupt, sqliteIOError, sqliteCantOpen}
	return slices.Contains(files, sqliteCode(err)&0xff)
}

// LacksRight tells whether the database server let its user in and refused what was asked for.
func LacksRight(err error) bool {
	rights := []uint16{mysqlDatabaseDenied, mysqlTableDenied, mysqlColumnDenied, mysqlRightDenied}
	return slices.Contains(rights, mysqlNumber(err))
}

// isFull tells whether the database found no room for what it was to save. SQLite calls only one kind of that full: a
// quota or a limit that is used up is a failed write to it.
func isFull(err error) bool {
	disks := []uint16{mysqlDiskFull, mysqlTableFull}
	return slices.Contains(disks, mysqlNumber(err)) || sqliteCode(err)&0xff == sqliteFull || sqliteCode(err) == sqliteIOWrite
}

// translate turns any error into a *model.Error; nil stays nil.
func translate(err error) error {
	var ours *model.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return ours
	case isFull(err):
		return full(err)
	case mysqlNumber(err) == mysqlReadOnly || mysqlNumber(err) == mysqlReadOnlyTx:
		return &model.Error{Code: model.CodeUnavailable, Message: "nothing was saved: the database takes no changes now; try again", Cause: err, RetryAfter: tryAgainAfter}
	case LacksRight(err):
		return denied("the server's database user lacks a right that this needs; its operator finds which in the log, and all of them in docs/security.md", err)
	case mysqlNumber(err) == mysqlAccessDenied:
		return denied("the database refuses the server's user; its operator must check the name and the password", err)
	case isBusy(err) || isDown(err):
		return unavailable(err)
	default:
		return internal(err)
	}
}

// tryAgainAfter is what callers are told to wait: a restart or a crowd at the connections may last longer, but asking
// once a second harms nobody.
const tryAgainAfter = time.Second

func unavailable(cause error) error {
	return &model.Error{Code: model.CodeUnavailable, Message: "the database does not answer now; try again", Cause: cause, RetryAfter: tryAgainAfter}
}

// denied is no fault of ours, nor one that the caller can mend. What is granted counts without a restart, so asking again
// is as good here as with a database that is away.
func denied(message string, cause error) error {
	return &model.Error{Code: model.CodeUnavailable, Message: message, Cause: cause, RetryAfter: tryAgainAfter}
}

// full says what to do next: asking again does not help before somebody has made room.
func full(cause error) error {
	return &model.Error{
		Code:    model.CodeDiskFull,
		Message: "nothing was saved: the disk of the database is full, or can't be written; have its operator free some space, then save again",
		Cause:   cause,
	}
}

func internal(cause error) error {
	return &model.Error{Code: model.CodeInternal, Message: "something went wrong inside", Cause: cause}
}

// notFound names the missing thing; what was asked for is not repeated, because it may be anything.
func notFound(what string) error {
	return model.Errorf(model.CodeNotFound, "there is no such %s", what)
}

// orNotFound turns gorm's "no row" into CodeNotFound and leaves other errors as they are.
func orNotFound(err error, what string) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return notFound(what)
	}
	return err
}

func stale(what string, now, base int64) error {
	return model.Errorf(model.CodeStale, "the %s was changed meanwhile: it is at revision %d, not %d", what, now, base)
}

func invalidField(what, field, format string, args ...any) *model.Error {
	return &model.Error{Code: model.CodeInvalid, Message: what + " has invalid fields", Fields: []model.FieldError{model.Broken(field, format, args...)}}
}
