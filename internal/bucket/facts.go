package bucket

import (
	"strconv"
	"strings"
	"time"
)

// Facts are what a caller learns of a definition.
type Facts struct {
	Revision   int64
	Algorithm  string
	Partition  string
	Shards     int
	Mode       string
	OnFailure  string
	MaxWait    time.Duration
	Generation int64 // changes when the state started anew
	MaxPermits int64
	// Rate permits arrive per Period: of token_bucket in lowest terms, so not always the definition's own figures; of
	// windows max_permits. Of concurrency Period is the lease time.
	Rate   int64
	Period time.Duration // whole µs
}

// shape is what the state keys depend on; see head.lua.
func (f *Facts) shape() string {
	return f.Algorithm + "." + f.Partition + "." + strconv.Itoa(f.Shards)
}

// Facts are what a caller will learn of d, but for the generation.
func (d *Definition) Facts() *Facts {
	num, den := d.limit()
	return &Facts{
		Revision: d.Revision, Algorithm: d.Algorithm, Partition: d.Partition, Shards: d.Shards, Mode: d.Mode, OnFailure: d.OnFailure,
		MaxWait: d.MaxWait, MaxPermits: d.MaxPermits, Rate: num, Period: time.Duration(den) * time.Microsecond,
	}
}

// headFields is how many words a head has; see head.lua.
const headFields = 16

// parseHead reads a definition's head.
func parseHead(head string) (*Facts, error) {
	h := words{list: strings.Split(head, " ")}
	if len(h.list) != headFields || h.list[0] != format {
		return nil, errReply
	}
	shape := strings.Split(h.list[2], ".")
	if len(shape) != 3 {
		return nil, errReply
	}
	shards, err := strconv.Atoi(shape[2])
	if err != nil {
		return nil, errReply
	}
	f := &Facts{
		Revision: h.int(1), Algorithm: shape[0], Partition: shape[1], Shards: shards, Mode: h.list[3], OnFailure: h.list[4],
		MaxWait: h.duration(5, time.Millisecond), Generation: h.int(6), Rate: h.int(10), Period: h.duration(11, time.Microsecond), MaxPermits: h.int(12),
	}
	if h.broken || f.Rate < 1 || f.Period < 1 || f.MaxPermits < 1 || f.MaxWait > MaxWaitBound {
		return nil, errReply
	}
	return f, nil
}

// words reads the numbers of a head.
type words struct {
	list   []string
	broken bool
}

func (w *words) int(i int) int64 {
	n, err := strconv.ParseInt(w.list[i], 10, 64)
	if err != nil || n < 0 {
		w.broken = true
	}
	return n
}

func (w *words) duration(i int, unit time.Duration) time.Duration {
	n := w.int(i)
	if n > int64(PeriodMax/unit) {
		w.broken = true
		return 0
	}
	return time.Duration(n) * unit
}
