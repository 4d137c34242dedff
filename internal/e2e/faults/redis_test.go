package faults_test

import (
	"testing"
)

// A Redis that is flushed gets its definitions back, and their permits start from empty: nothing is granted twice, but of
// the bucket that is to start full.
func TestFlush(t *testing.T) {
	t.Parallel()
	g, _ := onOwnRedis(t)
	w := newWorld(t, g, 1)
	w.drained()
	must(t, w.own.FlushAll(t.Context()).Err())
	w.load.notices(t, stream)
	w.goesOn()
	w.settle(excess{burst: 1})
}
