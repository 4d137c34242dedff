package model_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// of is a good definition for an algorithm: with a rate only where it has one.
func of(a model.Algorithm) func(*model.Definition) {
	return func(d *model.Definition) {
		if d.Algorithm = a; a != model.TokenBucket {
			d.Rate = 0
		}
	}
}

func TestEachAlgorithmIsAcceptedWithItsDefaults(t *testing.T) {
	if want := []model.Algorithm{"token_bucket", "fixed_window", "sliding_window", "sliding_log", "concurrency"}; !slices.Equal(model.Algorithms, want) {
		t.Errorf("the algorithms are %v, want %v", model.Algorithms, want)
	}
	for _, a := range model.Algorithms {
		d := valid()
		of(a)(&d)
		d.SetDefaults()
		if err := d.Validate(); err != nil {
			t.Errorf("%s is refused: %v", a, err)
		}
		want := time.Second
		if a == model.Concurrency {
			want = 30 * time.Second
		}
		if d.Period != want || d.Algorithm != a || d.Shards != 1 {
			t.Errorf("%s defaults to %+v", a, d)
		}
		if a.HasRate() != (a == model.TokenBucket) {
			t.Errorf("%s has a rate: %v", a, a.HasRate())
		}
	}
}

// Each algorithm's own bounds: the last good value passes, the next one is refused with the field's name and the bound.
func TestEachAlgorithmKeepsItsOwnBounds(t *testing.T) {
	permits := func(n int64) func(*model.Definition) { return func(d *model.Definition) { d.MaxPermits = n } }
	rate := func(n int64) func(*model.Definition) { return func(d *model.Definition) { d.Rate = n } }
	period := func(p time.Duration) func(*model.Definition) { return func(d *model.Definition) { d.Period = p } }
	tests := []struct {
		algorithms   []model.Algorithm
		field, bound string
		good, bad    func(*model.Definition)
	}{
		{model.Algorithms[:3], "max_permits", "1..1,000,000,000", permits(1e9), permits(1e9 + 1)},
		{model.Algorithms[3:4], "max_permits", "1..100,000 for sliding_log", permits(100_000), permits(100_001)},
		{model.Algorithms[4:], "max_permits", "1..100,000 for concurrency", permits(100_000), permits(100_001)},
		{model.Algorithms, "max_permits", "must be 1..", permits(1), permits(0)},
		{model.Algorithms[:1], "rate", "1..1,000,000,000", rate(1), rate(0)},
		{model.Algorithms[1:], "rate", "must be left out or 0", rate(0), rate(1)},
		{model.Algorithms[1:], "rate", "must be left out or 0", rate(0), rate(-1)},
		{model.Algorithms[:4], "period_ms", "1..2,678,400,000", period(time.Millisecond), period(time.Microsecond)},
		{model.Algorithms[4:], "period_ms", "1,000..2,678,400,000 for concurrency", period(time.Second), period(999 * time.Millisecond)},
		{model.Algorithms, "period_ms", "..2,678,400,000", period(31 * 24 * time.Hour), period(31*24*time.Hour + time.Millisecond)},
	}
	for _, test := range tests {
		for _, a := range test.algorithms {
			if fields := check(t, func(d *model.Definition) { of(a)(d); test.good(d) }); len(fields) != 0 {
				t.Errorf("%s: a good %s is refused: %v", a, test.field, fields)
			}
			if fields := check(t, func(d *model.Definition) { of(a)(d); test.bad(d) }); !strings.Contains(fields[test.field], test.bound) || len(fields) != 1 {
				t.Errorf("%s: a bad %s gives %v, want the bound %s alone", a, test.field, fields, test.bound)
			}
		}
	}
}

// A window's whole limit comes back after one period, so that there is no time to fill that could be too long.
func TestFillTimeBindsTokenBucketsOnly(t *testing.T) {
	for _, a := range model.Algorithms {
		fields := check(t, func(d *model.Definition) {
			of(a)(d)
			d.MaxPermits, d.Period = 100_000, 31*24*time.Hour
			if a.HasRate() {
				d.Rate = 1
			}
		})
		if (fields["rate"] != "") != (a == model.TokenBucket) {
			t.Errorf("%s: %v", a, fields)
		}
	}
}

func TestOnlyKeysAreSpreadOverShards(t *testing.T) {
	for _, a := range model.Algorithms {
		for _, partition := range []model.Partition{model.PartitionShared, model.PartitionApp, model.PartitionKey, model.PartitionAppKey} {
			keyed := partition == model.PartitionKey || partition == model.PartitionAppKey
			for shards, good := range map[int]bool{-1: false, 1: true, 2: keyed, 64: keyed, 65: false} {
				fields := check(t, func(d *model.Definition) { of(a)(d); d.Partition, d.Shards = partition, shards })
				if (len(fields) == 0) != good || !good && fields["shards"] == "" {
					t.Errorf("%s by %s over %d shards: %v", a, partition, shards, fields)
				}
			}
		}
	}
	if fields := check(t, func(d *model.Definition) { d.Shards = 2 }); !strings.Contains(fields["shards"], "must be 1 unless partition is key or app_key") {
		t.Errorf("shards without keys: %v", fields)
	}
	if fields := check(t, func(d *model.Definition) { d.Partition, d.Shards = model.PartitionKey, 65 }); !strings.Contains(fields["shards"], "1..64") {
		t.Errorf("65 shards: %v", fields)
	}
}
