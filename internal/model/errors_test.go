package model_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

func TestCodeOfFindsTheErrorInTheChain(t *testing.T) {
	cause := errors.New("disk on fire")
	err := error(&model.Error{Code: model.CodeStale, Message: "changed meanwhile", Fields: []model.FieldError{{Field: "rate", Message: "must be 1"}}, Cause: cause})
	wrapped := fmt.Errorf("while saving: %w", err)
	if got := model.CodeOf(wrapped); got != model.CodeStale || !errors.Is(wrapped, cause) {
		t.Errorf("code %q of %v", got, wrapped)
	}
	if got := err.Error(); got != "stale: changed meanwhile; rate must be 1: disk on fire" {
		t.Errorf("text %q", got)
	}
	if model.CodeOf(nil) != "" || model.CodeOf(cause) != model.CodeInternal {
		t.Errorf("nil has %q, a foreign error %q", model.CodeOf(nil), model.CodeOf(cause))
	}
}
