package store

import (
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/model"
)

// Whoever saves on a full disk is told so, and not to ask again in a second.
func TestFullDiskOfMySQLIsToldFromADatabaseThatIsAway(t *testing.T) {
	for number, want := range map[uint16]model.Code{
		mysqlDiskFull: model.CodeDiskFull, mysqlTableFull: model.CodeDiskFull,
		mysqlShutdown: model.CodeUnavailable, mysqlLockTimeout: model.CodeUnavailable,
	} {
		if got := model.CodeOf(translate(&mysql.MySQLError{Number: number})); got != want {
			t.Errorf("error %d is %q, want %q", number, got, want)
		}
	}
}
