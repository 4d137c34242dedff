package faults_test

import (
	"database/sql"
	"net/http"
	"sync"
	"testing"

	"github.com/headgate/headgate/internal/testenv"
)

// The database is killed and comes back: applications notice nothing, people are told to try again, and everything that
// was answered is there. Servers go on by themselves.
func TestKilledDatabaseStopsNoApplicationAndLosesNoAnsweredSave(t *testing.T) {
	t.Parallel()
	database, redis := testenv.OwnMySQL(t), testenv.OwnRedis(t)
	w := newWorld(t, onRedis(t, database.Database(t), redis.Addr, redis.Addr).calm(), 2)
	for range 2 {
		database.Stop()
		w.edits.refused(t, http.StatusServiceUnavailable)
		for _, s := range w.servers {
			if got := s.Probe("/readyz"); got != http.StatusServiceUnavailable {
				t.Errorf("/readyz says %d without a database", got)
			}
		}
		w.load[stream].IsGranted(t, 100)
		database.Start(t)
		for _, s := range w.servers {
			s.WaitReady()
		}
		w.goesOn()
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

// More people save at once than the server has connections, while somebody holds the lock that every write needs: they
// wait their time and are told to try again, applications notice nothing, and the server recovers by itself.
func TestExhaustedConnectionsOfTheDatabaseAreWaitedForAndRecover(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	w := newWorld(t, g.calm(), 1)
	db, err := sql.Open("mysql", g.database.MySQLDSN)
	must(t, err)
	defer func() { _ = db.Close() }()
	held, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	var seq int64
	must(t, held.QueryRowContext(t.Context(), "SELECT seq FROM audit_head WHERE id = 1 FOR UPDATE").Scan(&seq))

	const crowd = 40 // of which one address may have 64 requests in work, and the server 20 connections
	var people sync.WaitGroup
	statuses := make([]int, crowd)
	for i := range crowd {
		people.Go(func() {
			a := w.person.call(http.MethodPost, "/apps", 0, map[string]any{"name": nameOf(i), "description": ""})
			statuses[i] = a.Status
		})
	}
	testenv.Eventually(t, comeback, "the connections are used up", func() bool { return w.servers[0].Probe("/readyz") == http.StatusServiceUnavailable })
	w.load[stream].IsGranted(t, 100)
	people.Wait()
	must(t, held.Rollback())
	w.servers[0].WaitReady()
	w.goesOn()
	for i, status := range statuses {
		there := w.person.call(http.MethodGet, "/apps/"+nameOf(i), 0, nil).Status == http.StatusOK
		if status == http.StatusCreated && !there || status != http.StatusCreated && status != http.StatusServiceUnavailable {
			t.Errorf("%s: answered %d, there: %v", nameOf(i), status, there)
		}
	}
	w.drained()
	w.settle(nil)
	w.noticedNothing()
}

func nameOf(i int) string { return "app-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
