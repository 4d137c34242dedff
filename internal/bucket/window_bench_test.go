package bucket_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// BenchmarkTimeInRedis reports what a decision costs in Redis, for each algorithm: µs of EVALSHA, which includes all that
// the script calls. It is the lowest decile of the means of many short rows, so that a busy machine disturbs it little.
// Compare figures of one run only.
func BenchmarkTimeInRedis(b *testing.B) {
	work := []struct {
		name    string
		max     int64
		period  time.Duration
		keys    int
		permits int64
	}{
		{"hot, granted", bucket.EntriesMax, 100 * time.Millisecond, 1, 1},
		{"hot, slow window", bucket.EntriesMax, time.Hour, 1, 1},
		{"hot, refused", 10, time.Hour, 1, 1},
		{"many keys", 10, time.Minute, 10_000, 1},
	}
	for _, w := range work {
		for _, algorithm := range append([]string{bucket.TokenBucket}, windowAlgorithms...) {
			b.Run(fmt.Sprintf("%s/%s", w.name, algorithm), func(b *testing.B) {
				server := testenv.OwnRedis(b)
				e := newEnv(b, server.Addr, "")
				d := windowed(algorithm, w.max, w.period)
				d.Rate, d.Partition = w.max, bucket.PartitionKey
				e.install(b, d)
				keys := make([]string, w.keys)
				for i := range keys {
					keys[i] = "user:" + strconv.Itoa(i)
				}
				reply := e.ask(b, d, bucket.Entry{Permits: 1, Count: 1, Key: "u"}) // loads the script
				target, err := e.Target(d.Name, "checkout", reply.Facts)
				check(b, err)
				var means []float64
				before := e.evalsha(b)
				for i := 0; b.Loop(); i++ {
					if i%50 == 49 {
						after := e.evalsha(b)
						means = append(means, (after.us-before.us)/(after.calls-before.calls))
						before = after
					}
					c := bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: w.permits, Count: 1, Key: keys[i%len(keys)]}}}
					check(b, e.Ask(b.Context(), &c))
					check(b, c.Err)
				}
				slices.Sort(means)
				b.ReportMetric(append(means, 0)[len(means)/10], "redis-µs/op")
			})
		}
	}
}

type commandstat struct{ calls, us float64 }

var evalshaStat = regexp.MustCompile(`cmdstat_evalsha:calls=(\d+),usec=(\d+)`)

func (e *env) evalsha(t testing.TB) commandstat {
	t.Helper()
	info, err := e.rdb.Info(t.Context(), "commandstats").Result()
	check(t, err)
	found := evalshaStat.FindStringSubmatch(info)
	if found == nil {
		return commandstat{}
	}
	return commandstat{float64(atoi(t, found[1])), float64(atoi(t, found[2]))}
}
