package model_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

func TestABrokenRuleNamesItsCodeAndWhatItIsSaidWith(t *testing.T) {
	b := model.Bucket{Name: "x"}
	b.Description = strings.Repeat("x", model.DescriptionBound+1)
	var e *model.Error
	err := b.Validate()
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := model.FieldError{
		Field: "description", Message: "must be 0..1,000 characters, not 1,001", Code: "length",
		Params: map[string]string{"low": "0", "high": "1,000", "n": "1,001"},
	}
	if !reflect.DeepEqual(e.Fields[0], want) {
		t.Errorf("got %+v", e.Fields[0])
	}
	for _, f := range e.Fields {
		if f.Code == "" {
			t.Errorf("%s %q has no code", f.Field, f.Message)
		}
	}
}

func TestASentenceThatWasPutTogetherElsewhereIsFoundAgain(t *testing.T) {
	for message, want := range map[string]model.FieldError{
		"must be a text":                {Code: "text"},
		"must be one of a, b":           {Code: "one_of", Params: map[string]string{"choices": "a, b"}},
		"must be at least 3 characters": {Code: "at_least_characters", Params: map[string]string{"least": "3"}},
		"must be at least 3":            {Code: "at_least", Params: map[string]string{"least": "3"}},
		"must be at most 20 characters": {Code: "at_most_characters", Params: map[string]string{"most": "20"}},
		"must be at most 20":            {Code: "most", Params: map[string]string{"most": "20"}},
		"tells of something else":       {},
	} {
		got := model.BrokenAs("f", message)
		want.Field, want.Message = "f", message
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v", message, got)
		}
	}
}

func TestErrorfNamesItsSentence(t *testing.T) {
	e := model.Errorf(model.CodeTaken, "the name %s is taken", "x")
	if e.Rule != "name_taken" || e.Params["name"] != "x" {
		t.Errorf("got %+v", e)
	}
}
