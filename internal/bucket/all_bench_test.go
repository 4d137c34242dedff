package bucket_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// BenchmarkTimeInRedisOfAllCalls reports what a call of two buckets costs in Redis, alone and as one of a row, beside two
// acquires; as BenchmarkTimeInRedis does. Compare figures of one run only.
func BenchmarkTimeInRedisOfAllCalls(b *testing.B) {
	server := testenv.OwnRedis(b)
	e := newEnv(b, server.Addr, "")
	global := definition(bucket.PermitsBound, bucket.PermitsBound, time.Second)
	global.Name = "global"
	perUser := definition(bucket.PermitsBound, bucket.PermitsBound, time.Second)
	perUser.Name, perUser.Partition = "user", bucket.PartitionKey
	window := global
	window.Name, window.Algorithm = "window", bucket.FixedWindow
	tight := named("tight", 1)
	for _, d := range []bucket.Definition{global, perUser, window, tight} {
		e.install(b, d)
	}
	all := func(count int64, ds ...bucket.Definition) func() bucket.Question {
		return func() bucket.Question {
			entry := bucket.AllEntry{Count: count}
			for _, d := range ds {
				entry.Parts = append(entry.Parts, e.part(b, d, 1))
			}
			return &bucket.AllCall{Entries: []bucket.AllEntry{entry}}
		}
	}
	users := func(n int) func() bucket.Question {
		return func() bucket.Question {
			c := &bucket.AllCall{}
			for i := range n {
				part := e.part(b, perUser, 1)
				part.Key = fmt.Sprintf("u%d", i)
				c.Entries = append(c.Entries, bucket.AllEntry{Count: 1, Parts: []bucket.Part{e.part(b, global, 1), part}})
			}
			return c
		}
	}
	for _, w := range []struct {
		name string
		ask  func() bucket.Question
	}{
		{"acquire", func() bucket.Question {
			c := e.call(b, global, bucket.Entry{Permits: 1, Count: 1})
			return &c
		}},
		{"two buckets, one call", all(1, global, perUser)},
		{"two buckets, a row of 50", all(50, global, perUser)},
		{"two buckets, refused", all(1, global, tight)},
		{"bucket and window, one call", all(1, global, window)},
		{"one bucket for all and one for each of 50", users(50)},
	} {
		b.Run(w.name, func(b *testing.B) { e.timeInRedis(b, w.ask) })
	}
}

// timeInRedis asks the same again and again.
func (e *env) timeInRedis(b *testing.B, ask func() bucket.Question) {
	check(b, e.Ask(b.Context(), ask())) // loads the script
	var means []float64
	before := e.evalsha(b)
	question := ask()
	for i := 0; b.Loop(); i++ {
		if i%50 == 49 {
			after := e.evalsha(b)
			means = append(means, (after.us-before.us)/(after.calls-before.calls))
			before = after
		}
		check(b, e.Ask(b.Context(), question))
	}
	slices.Sort(means)
	b.ReportMetric(append(means, 0)[len(means)/10], "redis-µs/op")
}
