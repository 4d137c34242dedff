package reconcile

import (
	"testing"
	"time"
)

// The mark follows the clock of Redis. Where that clock stands behind it, all servers together move it one step at a
// time, so that the lag that shows a loss does not shrink with every server more.
func TestNextMarkNeverGoesBack(t *testing.T) {
	mark := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const step = time.Second
	for _, c := range []struct {
		what        string
		clock, seen time.Time
		want        time.Time
		move        bool
	}{
		{"the clock is ahead", mark.Add(time.Second), mark, mark.Add(time.Second), true},
		{"the clock is ahead and another server moved the mark", mark.Add(time.Second), mark.Add(-time.Hour), mark.Add(time.Second), true},
		{"the clock is behind and nobody moved the mark", mark.Add(-time.Hour), mark, mark.Add(step), true},
		{"the clock is behind and another server moved the mark", mark.Add(-time.Hour), mark.Add(-step), mark.Add(step), false},
	} {
		next, move := nextMark(c.clock, mark, c.seen, step)
		if !next.Equal(c.want) || move != c.move {
			t.Errorf("%s: %v, %v; want %v, %v", c.what, next, move, c.want, c.move)
		}
	}
}

// The wait grows from at least half a second to at most half a minute, and is never the same for all.
func TestBackoffStaysInItsBounds(t *testing.T) {
	for attempts := -1; attempts < 100; attempts++ {
		seen := map[time.Duration]bool{}
		for range 50 {
			wait := backoff(attempts)
			if wait < backoffLeast || wait > backoffMost {
				t.Fatalf("after %d tries the wait is %v", attempts, wait)
			}
			if attempts > 10 && wait < backoffMost/2 {
				t.Fatalf("after %d tries the wait is only %v", attempts, wait)
			}
			seen[wait] = true
		}
		if len(seen) < 10 {
			t.Errorf("after %d tries only %d different waits", attempts, len(seen))
		}
	}
}
