package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

const buckets = "/api/v1/buckets"

// badFields lists, for each field of a bucket, raw JSON values that must be refused, the field that the answer must
// name, and a part of the rule that it must tell.
var badFields = []struct{ field, value, named, rule string }{
	{"name", `""`, "name", "1..128"},
	{"name", `null`, "name", "must be a text"},
	{"name", `".hidden"`, "name", "1..128"},
	{"name", `"a b"`, "name", "1..128"},
	{"name", `"x'; DROP TABLE buckets; --"`, "name", "1..128"},
	{"name", `"<script>alert(1)</script>"`, "name", "1..128"},
	{"name", `"a\u0000b"`, "name", "1..128"},
	{"name", `"../../etc/passwd"`, "name", "1..128"},
	{"name", `"{tag}"`, "name", "1..128"},
	{"name", `"` + strings.Repeat("n", 129) + `"`, "name", "1..128"},
	{"name", `7`, "name", "must be a text"},
	{"description", `"` + strings.Repeat("d", 1001) + `"`, "description", "0..1,000 characters"},
	{"description", `"a\u0000b"`, "description", "control"},
	{"description", `[]`, "description", "must be a text"},
	{"labels", `[]`, "labels", "must be an object"},
	{"labels", `{"team":5}`, "labels.team", "must be a text"},
	{"labels", `{"a b":"x"}`, "labels", "1..63"},
	{"labels", `{"team":"` + strings.Repeat("v", 64) + `"}`, "labels.team", "0..63"},
	{"labels", labels(21), "labels", "at most 20"},
	{"apps", `"checkout"`, "apps", "must be a list"},
	{"apps", `["checkout",5]`, "apps[1]", "must be a text"},
	{"apps", `["checkout","a b"]`, "apps[1]", "1..128"},
	{"apps", `["checkout","checkout"]`, "apps[1]", "twice"},
	{"apps", `["checkout","ghost"]`, "apps[1]", "not registered"},
	{"apps", `["*","checkout"]`, "apps", `"*" alone`},
	{"apps", many("app", 1001), "apps", "at most 1000"},
	{"owners", `["ghost"]`, "owners[0]", "not registered"},
	{"owners", `["Ann"]`, "owners[0]", "1..64"},
	{"owners", `["bob","bob"]`, "owners[1]", "twice"},
	{"owners", many("user", 101), "owners", "1..100"},
	{"owners", `{}`, "owners", "must be a list"},
	{"algorithm", `"leaky"`, "algorithm", "token_bucket"},
	{"algorithm", `1`, "algorithm", "must be a text"},
	{"algorithm", `"Fixed_Window"`, "algorithm", "fixed_window, sliding_window, sliding_log, concurrency"},
	{"algorithm", `"fixed_window"`, "rate", "must be left out or 0 for fixed_window"},
	{"algorithm", `"sliding_window"`, "rate", "must be left out or 0 for sliding_window"},
	{"algorithm", `"sliding_log"`, "rate", "must be left out or 0 for sliding_log"},
	{"algorithm", `"concurrency"`, "rate", "must be left out or 0 for concurrency"},
	{"max_permits", `0`, "max_permits", "1..1,000,000,000"},
	{"max_permits", `-1`, "max_permits", "1..1,000,000,000"},
	{"max_permits", `1000000001`, "max_permits", "1..1,000,000,000"},
	{"max_permits", `9223372036854775807`, "max_permits", "1..1,000,000,000"},
	{"max_permits", `9223372036854775808`, "max_permits", "whole number"},
	{"max_permits", `1e30`, "max_permits", "whole number"},
	{"max_permits", `1e3`, "max_permits", "whole number"},
	{"max_permits", `1.5`, "max_permits", "whole number"},
	{"max_permits", `"100"`, "max_permits", "whole number"},
	{"max_permits", `null`, "max_permits", "whole number"},
	{"max_permits", ``, "max_permits", "is required"},
	{"rate", `0`, "rate", "1..1,000,000,000"},
	{"rate", ``, "rate", "1..1,000,000,000"},
	{"rate", `null`, "rate", "1..1,000,000,000"},
	{"rate", `1000000001`, "rate", "1..1,000,000,000"},
	{"rate", `true`, "rate", "whole number"},
	{"period_ms", `0`, "period_ms", "1..2,678,400,000"},
	{"period_ms", `-5`, "period_ms", "1..2,678,400,000"},
	{"period_ms", `2678400001`, "period_ms", "1..2,678,400,000"},
	{"period_ms", `9223372036854775807`, "period_ms", "1..2,678,400,000"},
	{"period_ms", `18446744073709552`, "period_ms", "1..2,678,400,000"}, // in ns it wraps round to a small number
	{"period_ms", `0.5`, "period_ms", "whole number"},
	{"partition", `"user"`, "partition", "shared, app, key, app_key"},
	{"shards", `0`, "shards", "1.."},
	{"shards", `65`, "shards", "1..64"},
	{"shards", `2`, "shards", "must be 1 unless partition is key or app_key"},
	{"mode", `"on"`, "mode", "enforce, shadow, off"},
	{"mode", `"Enforce"`, "mode", "enforce, shadow, off"},
	{"max_wait_ms", `-1`, "max_wait_ms", "0..3,600,000"},
	{"max_wait_ms", `3600001`, "max_wait_ms", "0..3,600,000"},
	{"max_wait_ms", `"10s"`, "max_wait_ms", "whole number"},
	{"on_redis_failure", `"retry"`, "on_redis_failure", "open, closed, local"},
	{"after_loss", `"panic"`, "after_loss", "refill, full"},
	{"reason", ``, "reason", "is required"},
	{"reason", `""`, "reason", "1..500"},
	{"reason", `"   "`, "reason", "1..500"},
	{"reason", `"` + strings.Repeat("r", 501) + `"`, "reason", "1..500"},
	{"unheard_of", `1`, "unheard_of", "not a known field"},
	{"Max_Permits", `1`, "Max_Permits", "not a known field"},
	{"revision", `7`, "revision", "not a known field"},
	{"created_by", `"root"`, "created_by", "not a known field"},
}

func labels(n int) string {
	m := map[string]string{}
	for i := range n {
		m[fmt.Sprintf("key%d", i)] = "v"
	}
	raw, _ := json.Marshal(m)
	return string(raw)
}

func many(prefix string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	raw, _ := json.Marshal(list)
	return string(raw)
}

// with is a good body with one field replaced by raw JSON, or left out.
func with(body map[string]any, field, raw string) map[string]any {
	changed := map[string]any{}
	for k, v := range body {
		changed[k] = v
	}
	if changed[field] = json.RawMessage(raw); raw == "" {
		delete(changed, field)
	}
	return changed
}

func TestEachBadFieldIsRefusedByNameAndBound(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		tag := c.do("GET", buckets+"/"+theBucket, nil).header.Get("ETag")
		check := func(a answer, field, value, named, rule string) {
			t.Helper()
			p := a.problem(t, http.StatusUnprocessableEntity)
			i := slices.IndexFunc(p.Errors, func(f model.FieldError) bool { return f.Field == named && strings.Contains(f.Message, rule) })
			if i < 0 || p.Code != model.CodeInvalid {
				t.Errorf("%s = %.60s: %.300s", field, value, a.body)
			}
		}
		for _, bad := range badFields {
			create := definition(map[string]any{"name": "fresh", "owners": []string{bob}})
			check(c.do("POST", buckets, with(create, bad.field, bad.value)), bad.field, bad.value, bad.named, bad.rule)
			if bad.field != "name" {
				put := definition(map[string]any{"owners": []string{bob}})
				check(c.do("PUT", buckets+"/"+theBucket, with(put, bad.field, bad.value), "If-Match", tag), bad.field, bad.value, bad.named, bad.rule)
			}
		}
		c.do("PUT", buckets+"/"+theBucket, definition(nil), "If-Match", tag).problem(t, http.StatusUnprocessableEntity) // no owner left
		if c.do("GET", buckets+"/"+theBucket, nil).header.Get("ETag") != tag {
			t.Error("one of them was saved")
		}
		c.do("GET", buckets+"/fresh", nil).problem(t, http.StatusNotFound)
	})
}

func TestAllWrongFieldsAreNamedAtOnce(t *testing.T) {
	w := onSQLite(t)
	p := w.as(root).do("POST", buckets, definition(map[string]any{
		"name": "a b", "max_permits": 0, "rate": 0, "period_ms": 0, "mode": "on", "reason": "",
	})).problem(t, http.StatusUnprocessableEntity)
	got := fields(p)
	for _, field := range []string{"name", "max_permits", "rate", "period_ms", "mode", "reason"} {
		if !slices.Contains(got, field) {
			t.Errorf("%s is missing from %v", field, got)
		}
	}
}

// What a field says of itself in the answer is bounded, however much is wrong.
func TestAnswerToAHostileBodyStaysSmall(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	numbers := "[" + strings.Repeat("1,", 200_000) + "1]"
	long := `{"` + strings.Repeat("k", 900_000) + `":1}`
	for _, body := range []string{`{"name":"x","max_permits":1,"reason":"r","apps":` + numbers + `}`, long} {
		a := c.do("POST", buckets, body)
		a.problem(t, http.StatusUnprocessableEntity)
		if len(a.body) > 32<<10 {
			t.Errorf("%d bytes come back", len(a.body))
		}
	}
}

func TestMalformedBodiesAreRefusedBeforeAnythingElse(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	good, err := json.Marshal(definition(map[string]any{"name": "fresh"}))
	must(t, err)
	for name, body := range map[string]string{
		"empty": "", "not JSON": "name=x", "cut off": string(good[:len(good)-2]), "trailing garbage": string(good) + "x",
		"two values": string(good) + string(good), "invalid UTF-8": strings.Replace(string(good), "fresh", "fr\xffsh", 1),
		"field twice": strings.Replace(string(good), `{`, `{"rate":1,`, 1), "deep nesting": strings.Repeat(`{"a":`, 100_000),
		"deep lists": strings.Repeat("[", 500_000), "deep but closed": strings.Repeat("[", 20) + strings.Repeat("]", 20),
		"BOM": "\ufeff" + string(good), "comment": "/* */" + string(good), "bare word": "nul", "trailing comma": `{"a":1,}`,
	} {
		a := c.do("POST", buckets, body)
		p := a.problem(t, http.StatusBadRequest)
		if p.Code != "malformed" || len(p.Errors) != 1 || p.Errors[0].Field != "body" {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	for name, body := range map[string]string{"list": "[]", "null": "null", "text": `"x"`, "number": "5"} {
		if p := c.do("POST", buckets, body).problem(t, http.StatusUnprocessableEntity); !slices.Equal(fields(p), []string{"body"}) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	c.do("POST", buckets, string(good), "Content-Type", "text/plain").problem(t, http.StatusUnsupportedMediaType)
	c.do("POST", buckets, string(good), "Content-Type", "application/x-www-form-urlencoded").problem(t, http.StatusUnsupportedMediaType)
	c.do("POST", buckets, string(good), "Content-Type", "application/json; charset=utf-8").want(t, http.StatusCreated)
}

func TestBodyMayBeOneMebibyteAndNoMore(t *testing.T) {
	w := onSQLite(t)
	c := w.as(root)
	body := func(size int) string {
		good, err := json.Marshal(definition(map[string]any{"name": "fresh"}))
		must(t, err)
		return string(good) + strings.Repeat(" ", size-len(good))
	}
	p := c.do("POST", buckets, body(1<<20+1)).problem(t, http.StatusRequestEntityTooLarge)
	if p.Code != "too_large" || !strings.Contains(p.Detail, "1,048,576") {
		t.Errorf("problem %+v", p)
	}
	c.do("POST", buckets, body(8<<20)).problem(t, http.StatusRequestEntityTooLarge)
	c.do("POST", buckets, body(1<<20)).want(t, http.StatusCreated)
}

func TestBadQueriesAreRefusedByNameAndBound(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		for path, named := range map[string]string{
			"/buckets?limit=0": "limit", "/buckets?limit=201": "limit", "/buckets?limit=many": "limit", "/buckets?cursor=%21": "cursor",
			"/buckets?cursor=AAAA": "cursor", "/buckets?cursor=" + strings.Repeat("A", 1001): "cursor", "/buckets?sort=rate": "sort",
			"/buckets?mode=on": "mode", "/buckets?sync=maybe": "sync", "/buckets?app=a%20b": "app", "/buckets?owner=A": "owner",
			"/buckets?search=" + strings.Repeat("s", 201): "search", "/buckets?unheard=1": "unheard", "/buckets?Limit=5": "Limit",
			"/apps?limit=-1": "limit", "/apps?cursor=x": "cursor", "/users?role=god": "role", "/users?disabled=maybe": "disabled",
			"/users/names?limit=1000": "limit", "/users/names?search=" + strings.Repeat("s", 201): "search",
			"/changes?from=yesterday": "from", "/changes?target_kind=thing": "target_kind", "/changes?cursor=x": "cursor",
			"/changes?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "to", "/buckets/partner-api/usage?minutes=0": "minutes",
			"/buckets/partner-api/usage?minutes=2881": "minutes", "/buckets/partner-api/changes?cursor=x": "cursor",
		} {
			a := c.do("GET", "/api/v1"+path, nil)
			p := a.problem(t, http.StatusUnprocessableEntity)
			if !slices.Equal(fields(p), []string{named}) || p.Errors[0].Message == "is not valid" {
				t.Errorf("%.80s: %s", path, a.body)
			}
		}
	})
}

// Whatever is in a path or a query must come back as a 4xx, or as data, never as a 500.
func TestHostilePathsAndQueriesStayHarmless(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		texts := []string{
			"%27%20OR%201%3D1%20--", "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%25", "_", "%5C", "%F0%9F%98%80", "%E2%80%AE", "a%0Ab",
			strings.Repeat("x", 5000), "%2e%2e%2f%2e%2e%2fetc", "%22", "*",
		}
		for _, text := range texts {
			c.do("GET", buckets+"/"+text, nil).problem(t, http.StatusNotFound)
			c.do("GET", "/api/v1/apps/"+text, nil).problem(t, http.StatusNotFound)
			c.do("GET", "/api/v1/users/"+text, nil).problem(t, http.StatusNotFound)
			for _, path := range []string{"/buckets?search=", "/buckets?label=", "/apps?search=", "/users?search=", "/users/names?search=", "/changes?target=", "/changes?actor="} {
				if a := c.do("GET", "/api/v1"+path+text, nil); a.status != http.StatusOK && a.status != http.StatusUnprocessableEntity {
					t.Errorf("%s%.60s: %d %s", path, text, a.status, a.body)
				}
			}
		}
		for _, bad := range []string{buckets + "/%ff", buckets + "/%00", buckets + "?search=%ff", buckets + "?search=%00", buckets + "?search=%zz"} {
			c.do("GET", bad, nil).problem(t, http.StatusBadRequest)
		}
		var list api.List[api.Bucket]
		c.do("GET", buckets+"?search=%25", nil).want(t, http.StatusOK).into(t, &list)
		if len(list.Items) != 0 {
			t.Error("a percent sign searches as a wildcard")
		}
	})
}

// Texts that are legal but look like markup or SQL are data: they come back as they were.
func TestMarkupAndSQLInTextsComeBackUnchanged(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.as(root)
		text := `<img src=x onerror=alert(1)> '; DROP TABLE buckets; -- 限流 😀 "quoted" \ %`
		a := c.do("POST", buckets, definition(map[string]any{"name": "fresh", "description": text, "labels": map[string]string{"team": "<b>'--"}, "reason": text}))
		b := a.bucket(t, http.StatusCreated)
		if b.Description != text || b.Labels["team"] != "<b>'--" {
			t.Errorf("bucket %+v", b)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", a.header)
		}
		var changes api.List[api.Change]
		c.do("GET", buckets+"/fresh/changes", nil).want(t, http.StatusOK).into(t, &changes)
		if len(changes.Items) != 1 || changes.Items[0].Reason != text || !bytes.Contains(changes.Items[0].After, []byte("onerror")) {
			t.Errorf("changes %+v", changes)
		}
	})
}
