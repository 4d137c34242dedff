// Package suite runs the workloads, round by round and contender by contender, and holds the results against the bars.
package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/bench/peers"
)

// Workload is one kind of work that contenders do side by side.
type Workload struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Goroutines int         `json:"goroutines"`
	Keys       int         `json:"keys,omitempty"`    // distinct keys; 0 = one state for all
	Buckets    int         `json:"buckets"`           // taken from by each call, all or nothing
	Limit      peers.Limit `json:"limit"`             // of each bucket
	Without    []string    `json:"without,omitempty"` // contenders that the work means nothing to
}

// The workloads' ids, which bars refer to.
const (
	hot1, hot10, hot100, hot1000 = "hot-1", "hot-10", "hot-100", "hot-1000"
	refused100                   = "refused-100"
	contended100                 = "contended-100"
	keys100, keys1000            = "keys-100", "keys-1000"
	all100                       = "all-100"
	allContended100              = "all-contended-100"
	refusal                      = "refusal"
	memory                       = "memory"
)

const distinctKeys = 1_000_000

var (
	plenty    = peers.Limit{Max: 10_000_000, Rate: 10_000_000, Period: time.Second}
	thousand  = peers.Limit{Max: 1_000, Rate: 1_000, Period: time.Second}
	contested = peers.Limit{Max: 1_000, Rate: 100_000, Period: time.Second}
	perKey    = peers.Limit{Max: 100, Rate: 100, Period: time.Hour}
)

// Workloads returns those that are run in rounds.
func Workloads() []Workload {
	var all []Workload
	for _, n := range []int{1, 10, 100, 1000} {
		all = append(all, Workload{
			ID: fmt.Sprintf("hot-%d", n), Title: "one hot bucket, all granted, " + goroutines(n), Goroutines: n, Buckets: 1, Limit: plenty,
		})
	}
	bare := []string{peers.NoOp, peers.Incr}
	all = append(all,
		Workload{
			ID: refused100, Title: "one hot bucket of 1,000/s, nearly all refused, 100 goroutines", Goroutines: 100, Buckets: 1, Limit: thousand,
			Without: bare,
		},
		Workload{
			ID: contended100, Title: "one hot bucket of 100,000/s, granted and refused, 100 goroutines", Goroutines: 100, Buckets: 1, Limit: contested,
			Without: append([]string{peers.Ulule, peers.CallerClock, peers.Throttled}, bare...),
		})
	for _, n := range []int{100, 1000} {
		all = append(all, Workload{
			ID: fmt.Sprintf("keys-%d", n), Title: "1,000,000 distinct keys of one bucket, " + goroutines(n), Goroutines: n, Keys: distinctKeys, Buckets: 1,
			Limit: perKey, Without: []string{peers.NoOp},
		})
	}
	return append(all,
		Workload{
			ID: all100, Title: "two hot buckets at once (others: two calls), 100 goroutines", Goroutines: 100, Buckets: 2, Limit: plenty,
			Without: append([]string{peers.Throttled}, bare...),
		},
		Workload{
			ID: allContended100, Title: "two buckets of 100,000/s at once, granted and refused, 100 goroutines", Goroutines: 100, Buckets: 2,
			Limit: contested, Without: append([]string{peers.RedisRate, peers.Ulule, peers.CallerClock, peers.Throttled}, bare...),
		})
}

// contenders returns those of the wanted ones that the work means something to.
func (w Workload) contenders(wanted []string) []peers.Contender {
	return slices.DeleteFunc(peers.All(), func(c peers.Contender) bool {
		return slices.Contains(w.Without, c.Name) || len(wanted) > 0 && !slices.Contains(wanted, c.Name)
	})
}

// selected tells whether a part was asked for: by its id, or by a beginning that is no part's id; no words ask for all.
func selected(id string, only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(word string) bool {
		return id == word || strings.HasPrefix(id, word) && !slices.Contains(IDs(), word)
	})
}

// IDs returns the ids of everything that can be run.
func IDs() []string {
	var ids []string
	for _, w := range Workloads() {
		ids = append(ids, w.ID)
	}
	return append(ids, refusal, memory)
}

func goroutines(n int) string {
	switch n {
	case 1:
		return "1 goroutine"
	case 1000:
		return "1,000 goroutines"
	}
	return fmt.Sprintf("%d goroutines", n)
}
