package api

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/model"
)

// FuzzIfMatch: whatever is in the header, the answer is a revision that prints as the header did, or a 4xx.
func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{`"7"`, `7`, `W/"7"`, `*`, ``, `"7", "8"`, `"-1"`, `"9223372036854775808"`, "\"7\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		revision, err := Based{IfMatch: header}.revision()
		switch code := model.CodeOf(err); {
		case err == nil && (revision < 1 || etag(revision) != strings.TrimSpace(header)):
			t.Errorf("%q is revision %d", header, revision)
		case err != nil && code != model.CodeInvalid && code != model.CodeMissingMatch:
			t.Errorf("%q: %v", header, err)
		}
	})
}

// FuzzParseJSON: what is taken is JSON that encoding/json takes too, and its tree says the same.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true],"b":{}}`, `{"a":1,"a":2}`, `[1 2]`, `{"a" 1}`, `1e400`, `"\ud800"`, `[]x`, `{"a":}`, `[,]`, "\xff", ` `, `-0`, `00`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := parseJSON(data)
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "must ") && !strings.HasPrefix(text, "is ") {
				t.Errorf("error not for users: %s", text)
			}
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q was taken", data)
		}
		if _, err := json.Marshal(tree); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// FuzzProblem: whatever huma or a store says, the answer is bounded, valid JSON and has a status of the table.
func FuzzProblem(f *testing.F) {
	f.Add(422, "validation failed", "body.apps[3]", "expected string")
	f.Add(500, "cannot read request body", "", "unexpected EOF")
	f.Add(0, "", "body.\xff", strings.Repeat("x", 1000))
	f.Fuzz(func(t *testing.T, status int, message, location, text string) {
		detail := &huma.ErrorDetail{Message: text, Location: location, Value: "secret value"}
		problem := humaProblem(nil, status, message, detail, errors.New(text))
		raw, err := json.Marshal(problem)
		if err != nil || len(raw) > 8<<10 || !utf8.Valid(raw) {
			t.Fatalf("%d bytes, %v: %s", len(raw), err, raw)
		}
		if got := problem.GetStatus(); got < 400 || got > 599 {
			t.Errorf("status %d", got)
		}
		if strings.Contains(string(raw), "secret value") {
			t.Error("the value comes back")
		}
		p := problemOf(context.Background(), &model.Error{Code: model.Code(text), Message: message, Cause: errors.New("secret cause")})
		if raw, _ := json.Marshal(p); strings.Contains(string(raw), "secret cause") {
			t.Errorf("the cause comes out: %s", raw)
		}
	})
}
