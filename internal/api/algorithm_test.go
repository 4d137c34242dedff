package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// withoutRate is a good body for an algorithm that has no rate of its own.
func withoutRate(algorithm model.Algorithm, changes map[string]any) map[string]any {
	body := definition(map[string]any{"rate": nil, "algorithm": algorithm})
	for field, value := range changes {
		body[field] = value
	}
	return body
}

// Every algorithm can be chosen at creation and by an edit, is answered without a rate where it has none, and Redis has it.
func TestEachAlgorithmIsCreatedAndEditedInto(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(ann)
		for _, algorithm := range model.Algorithms {
			body := withoutRate(algorithm, nil)
			rate, inRedis := int64(0), int64(100)
			switch algorithm {
			case model.TokenBucket:
				body["rate"], rate, inRedis = 50, 50, 50
			case model.Concurrency:
				inRedis = 1
			}
			check := func(name string, a answer, status int, revision int64) {
				t.Helper()
				b := a.bucket(t, status)
				if b.Algorithm != algorithm || b.Rate != rate || b.MaxPermits != 100 || b.PeriodMS != algorithm.DefaultPeriod().Milliseconds() || b.Revision != revision || b.Sync.State != "synced" {
					t.Errorf("%s: %s", name, a.body)
				}
				installed, err := w.engine.Read(t.Context(), name)
				must(t, err)
				if d := installed[0].Definition; d.Algorithm != string(algorithm) || d.Rate != inRedis || d.Revision != revision || d.Period != algorithm.DefaultPeriod() {
					t.Errorf("%s: Redis has %+v", name, d)
				}
			}
			name := "made-" + strings.ReplaceAll(string(algorithm), "_", "-")
			body["name"] = name
			check(name, c.do("POST", buckets, body), http.StatusCreated, 1)

			name = "turned-" + strings.ReplaceAll(string(algorithm), "_", "-")
			before := definition(map[string]any{"name": name, "owners": []string{ann}})
			if algorithm == model.TokenBucket {
				before = withoutRate(model.SlidingLog, map[string]any{"name": name, "owners": []string{ann}})
			}
			c.do("POST", buckets, before).want(t, http.StatusCreated)
			delete(body, "name")
			body["owners"] = []string{ann}
			check(name, c.do("PUT", buckets+"/"+name, body, "If-Match", `"1"`), http.StatusOK, 2)
		}
	})
}

// An algorithm without a rate takes it left out, null or 0, and answers 0; a token bucket needs one.
func TestRateIsLeftOutWhereThereIsNone(t *testing.T) {
	w := onSQLite(t)
	c := w.as(ann)
	for i, rate := range []string{"", "null", "0"} {
		name := fmt.Sprintf("window-%d", i)
		a := c.do("POST", buckets, with(withoutRate(model.FixedWindow, map[string]any{"name": name}), "rate", rate))
		a.want(t, http.StatusCreated)
		var raw map[string]json.RawMessage
		a.into(t, &raw)
		if string(raw["rate"]) != "0" {
			t.Errorf("rate %q is answered as %s", rate, raw["rate"])
		}
	}
	for _, rate := range []string{"1", "-1", "100"} {
		p := c.do("POST", buckets, with(withoutRate(model.FixedWindow, map[string]any{"name": "rated"}), "rate", rate)).problem(t, http.StatusUnprocessableEntity)
		if !slices.Equal(fields(p), []string{"rate"}) || !strings.Contains(p.Errors[0].Message, "left out or 0 for fixed_window") {
			t.Errorf("rate %s: %+v", rate, p.Errors)
		}
	}
}

// The bounds that are an algorithm's own are told with its name; nothing of the edit is saved.
func TestBoundsOfAnAlgorithmAreTold(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	for _, bad := range []struct {
		algorithm    model.Algorithm
		field        string
		value        any
		named, bound string
	}{
		{model.SlidingLog, "max_permits", 100_001, "max_permits", "1..100,000 for sliding_log"},
		{model.Concurrency, "max_permits", 100_001, "max_permits", "1..100,000 for concurrency"},
		{model.Concurrency, "period_ms", 999, "period_ms", "1,000..2,678,400,000 for concurrency"},
		{model.SlidingWindow, "max_permits", 1_000_000_001, "max_permits", "1..1,000,000,000"},
		{model.FixedWindow, "shards", 2, "shards", "must be 1 unless"},
	} {
		body := withoutRate(bad.algorithm, map[string]any{"owners": []string{bob}, bad.field: bad.value})
		p := c.do("PUT", bucketPath, body, "If-Match", `"1"`).problem(t, http.StatusUnprocessableEntity)
		if !slices.Equal(fields(p), []string{bad.named}) || !strings.Contains(p.Errors[0].Message, bad.bound) {
			t.Errorf("%s with %s %v: %+v", bad.algorithm, bad.field, bad.value, p.Errors)
		}
	}
	if b := c.do("GET", bucketPath, nil).bucket(t, http.StatusOK); b.Revision != 1 || b.Algorithm != model.TokenBucket {
		t.Errorf("one of them was saved: %+v", b)
	}
}

// Keys are spread over as many shards as asked for, and Redis's definition says so.
func TestShardsOfAKeyedBucketReachRedis(t *testing.T) {
	w := onSQLite(t)
	b := w.as(ann).do("POST", buckets, withoutRate(model.SlidingWindow, map[string]any{
		"name": "spread", "partition": "app_key", "shards": 64, "period_ms": (10 * time.Second).Milliseconds(),
	})).bucket(t, http.StatusCreated)
	installed, err := w.engine.Read(t.Context(), "spread")
	must(t, err)
	if d := installed[0].Definition; b.Shards != 64 || b.Sync.State != "synced" || d.Shards != 64 || d.Partition != "app_key" {
		t.Errorf("answer %+v, Redis %+v", b, d)
	}
}
