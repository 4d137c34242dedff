package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate/headgate/internal/model"
)

// valid is a definition that leaves out all that may be left out.
func valid() model.Definition {
	return model.Definition{Owners: []string{"alice"}, MaxPermits: 100, Rate: 50}
}

// brokenFields returns the fields that an error names.
func brokenFields(t testing.TB, err error) map[string]string {
	t.Helper()
	fields := map[string]string{}
	if err == nil {
		return fields
	}
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeInvalid {
		t.Fatalf("error %v, want one with the code invalid", err)
	}
	for _, f := range e.Fields {
		fields[f.Field] = f.Message
	}
	return fields
}

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	d := valid()
	d.SetDefaults()
	want := model.Definition{
		Labels: map[string]string{}, Apps: []string{}, Owners: []string{"alice"}, Algorithm: model.TokenBucket, MaxPermits: 100, Rate: 50,
		Period: time.Second, Partition: model.PartitionShared, Shards: 1, Mode: model.ModeEnforce, OnRedisFailure: model.FailOpen, AfterLoss: model.LossRefill,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if err := d.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for _, partition := range []model.Partition{model.PartitionKey, model.PartitionAppKey} {
		d := valid()
		d.Partition = partition
		if d.SetDefaults(); d.AfterLoss != model.LossFull {
			t.Errorf("after_loss of %s is %s, want full", partition, d.AfterLoss)
		}
	}
}

// Each bound: the last good value on either side passes, the next one is refused with the field's name and its bound.
func TestEachBoundIsKeptAndNamed(t *testing.T) {
	names := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("n%04d", i)
		}
		return list
	}
	labels := func(n int) map[string]string {
		m := map[string]string{}
		for _, name := range names(n) {
			m[name] = ""
		}
		return m
	}
	tests := []struct {
		field, bound string
		good, bad    []func(*model.Definition)
	}{
		{"max_permits", "1..1,000,000,000",
			edits(func(d *model.Definition) { d.MaxPermits = 1 }, func(d *model.Definition) { d.MaxPermits = 1e9 }),
			edits(func(d *model.Definition) { d.MaxPermits = 0 }, func(d *model.Definition) { d.MaxPermits = -100 }, func(d *model.Definition) { d.MaxPermits = 1e9 + 1 })},
		{"rate", "1..1,000,000,000",
			edits(func(d *model.Definition) { d.Rate = 1 }, func(d *model.Definition) { d.Rate = 1e9 }),
			edits(func(d *model.Definition) { d.Rate = -1 }, func(d *model.Definition) { d.Rate = 1e9 + 1 }, func(d *model.Definition) { d.Rate = math.MinInt64 })},
		{"period_ms", "1..2,678,400,000",
			edits(func(d *model.Definition) { d.Period = time.Millisecond }, func(d *model.Definition) { d.Period = 31 * 24 * time.Hour }),
			edits(func(d *model.Definition) { d.Period = -time.Second }, func(d *model.Definition) { d.Period = 31*24*time.Hour + time.Millisecond }, func(d *model.Definition) { d.Period = model.Millis(math.MaxInt64) })},
		{"max_wait_ms", "0..3,600,000",
			edits(func(d *model.Definition) { d.MaxWait = 0 }, func(d *model.Definition) { d.MaxWait = time.Hour }),
			edits(func(d *model.Definition) { d.MaxWait = -time.Millisecond }, func(d *model.Definition) { d.MaxWait = time.Hour + time.Millisecond })},
		{"description", "0..1,000 characters",
			edits(func(d *model.Definition) { d.Description = strings.Repeat("😀", 1000) }),
			edits(func(d *model.Definition) { d.Description = strings.Repeat("😀", 1001) })},
		{"apps", "at most 1000",
			edits(func(d *model.Definition) { d.Apps = names(1000) }),
			edits(func(d *model.Definition) { d.Apps = names(1001) })},
		{"owners", "1..100 users",
			edits(func(d *model.Definition) { d.Owners = names(100) }),
			edits(func(d *model.Definition) { d.Owners = names(101) }, func(d *model.Definition) { d.Owners = nil })},
		{"labels", "at most 20",
			edits(func(d *model.Definition) { d.Labels = labels(20) }),
			edits(func(d *model.Definition) { d.Labels = labels(21) })},
	}
	for _, test := range tests {
		for i, edit := range test.good {
			if fields := check(t, edit); len(fields) != 0 {
				t.Errorf("%s: good value %d is refused: %v", test.field, i, fields)
			}
		}
		for i, edit := range test.bad {
			if fields := check(t, edit); !strings.Contains(fields[test.field], test.bound) {
				t.Errorf("%s: bad value %d gives %v, want the bound %s", test.field, i, fields, test.bound)
			}
		}
	}
}

func edits(list ...func(*model.Definition)) []func(*model.Definition) { return list }

func check(t testing.TB, edit func(*model.Definition)) map[string]string {
	t.Helper()
	d := valid()
	edit(&d)
	d.SetDefaults()
	return brokenFields(t, d.Validate())
}

func TestBrokenFieldsAreAllNamedAtOnce(t *testing.T) {
	fields := check(t, func(d *model.Definition) {
		*d = model.Definition{
			Description: "a\x00b", Labels: map[string]string{"-k": "v", "k": strings.Repeat("v", 64), "x": "\xff"}, Apps: []string{"a", "a", "a b"},
			Owners: []string{"Alice"}, Algorithm: "magic", Partition: "half", Mode: "loud", OnRedisFailure: "panic", AfterLoss: "cry",
			Period: time.Second + time.Microsecond, Shards: -1,
		}
	})
	for _, field := range []string{
		"description", "labels", "labels.k", "labels.x", "apps[1]", "apps[2]", "owners[0]", "algorithm", "partition", "mode", "on_redis_failure",
		"after_loss", "max_permits", "rate", "period_ms", "shards",
	} {
		if fields[field] == "" {
			t.Errorf("%s is not named in %v", field, fields)
		}
	}
	if fields := check(t, func(d *model.Definition) { d.Apps = []string{"*", "pay"} }); fields["apps"] == "" {
		t.Errorf("* beside a name: %v", fields)
	}
}

func TestFillTimeIsBoundedToTenYears(t *testing.T) {
	slow := func(permits int64) func(*model.Definition) {
		return func(d *model.Definition) { d.MaxPermits, d.Rate, d.Period = permits, 1, 24*time.Hour }
	}
	if fields := check(t, slow(3660)); len(fields) != 0 {
		t.Errorf("3660 days to fill are refused: %v", fields)
	}
	if fields := check(t, slow(3661)); fields["rate"] == "" {
		t.Errorf("3661 days to fill pass")
	}
}

func TestReasonIsOneTo500Characters(t *testing.T) {
	for reason, good := range map[string]bool{"x": true, strings.Repeat("é", 500): true, "": false, " \n\t ": false, strings.Repeat("é", 501): false, "a\x00": false, "\xff": false} {
		if err := model.ValidateReason(reason); (err == nil) != good {
			t.Errorf("reason %.20q: %v", reason, err)
		}
	}
}

// Whatever comes in as JSON is either refused by name or within every bound, and comes back as it went in.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"owners":["alice"],"max_permits":100,"rate":50}`))
	f.Add([]byte(`{"owners":["alice"],"apps":["*"],"max_permits":1000000000,"rate":1,"period_ms":2678400000,"max_wait_ms":3600000}`))
	f.Add([]byte(`{"owners":["alice"],"max_permits":1,"rate":1,"period_ms":9223372036854775807,"max_wait_ms":-9223372036854775808}`))
	f.Add([]byte(`{"owners":["alice"],"algorithm":"sliding_log","max_permits":100000,"partition":"key","shards":64}`))
	f.Add([]byte(`{"owners":["alice"],"algorithm":"concurrency","max_permits":4,"rate":0,"period_ms":1000}`))
	f.Add([]byte(`{"owners":["a","a"],"apps":["b","a"],"labels":{"k":"<script>","":"\u0000"},"partition":"app_key","shards":64}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fields model.DefinitionFields
		if json.Unmarshal(raw, &fields) != nil {
			return
		}
		d := fields.Definition()
		d.SetDefaults()
		if len(brokenFields(t, d.Validate())) > 0 {
			return
		}
		rated := d.Rate >= 1 && d.Rate <= 1e9
		if d.MaxPermits < 1 || d.MaxPermits > 1e9 || rated != (d.Algorithm == model.TokenBucket) || d.Period < time.Millisecond || d.Period > 31*24*time.Hour || len(d.Owners) == 0 {
			t.Errorf("%s passed as %+v", raw, d)
		}
		var again model.DefinitionFields
		if err := json.Unmarshal(model.DefinitionJSON(&d), &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, again.Definition()); diff != "" {
			t.Errorf("after a way out and back:\n%s", diff)
		}
	})
}

// Redis counts by name and minute, so the minute in which a name went over is not the new bucket's own.
func TestABucketsOwnUsageBeginsWithItsFirstWholeMinute(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]int64{0: 0, time.Microsecond: 1, 30 * time.Second: 1, time.Minute: 1, time.Minute + time.Microsecond: 2} {
		again := model.Bucket{CreatedRevision: 3, CreatedAt: noon.Add(after)}
		if got := again.OwnFrom() - noon.Unix()/60; got != want {
			t.Errorf("made %v after noon: its own from minute %d on, want %d", after, got, want)
		}
	}
	if first := (&model.Bucket{CreatedRevision: 1, CreatedAt: noon}).OwnFrom(); first != 0 {
		t.Errorf("a name that was no other's: from %d on", first)
	}
}
