package model_test

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

func TestUserAppAndMemberNameTheirBrokenFields(t *testing.T) {
	if got := brokenFields(t, (&model.User{Name: "Bob", DisplayName: strings.Repeat("é", 101), Role: "king"}).Validate()); len(got) != 3 {
		t.Errorf("user: %v, want name, display_name and role", got)
	}
	if got := brokenFields(t, (&model.App{Name: "-", Description: strings.Repeat("é", 1001)}).Validate()); len(got) != 2 {
		t.Errorf("app: %v, want name and description", got)
	}
	if got := brokenFields(t, (&model.Member{User: "", Role: "king"}).Validate()); len(got) != 2 {
		t.Errorf("member: %v, want user and role", got)
	}
	if err := (&model.User{Name: "bob", DisplayName: strings.Repeat("é", 100), Role: model.RoleMember}).Validate(); err != nil {
		t.Error(err)
	}
}

// Else what a person did could pass for what Headgate did.
func TestNoUserIsCalledAsTheHistoryCallsHeadgate(t *testing.T) {
	for _, name := range []string{model.SystemActor, "names"} {
		if got := brokenFields(t, (&model.User{Name: name, Role: model.RoleMember}).Validate()); len(got) != 1 {
			t.Errorf("%s: broken fields %v, want name", name, got)
		}
	}
}

func TestPasswordIs12To128Characters(t *testing.T) {
	for password, good := range map[string]bool{
		strings.Repeat("é", 12): true, strings.Repeat("é", 128): true, strings.Repeat("x", 11): false, strings.Repeat("x", 129): false, "": false, strings.Repeat("\xff", 12): false,
	} {
		if err := model.ValidatePassword(password); (err == nil) != good {
			t.Errorf("password of %d bytes: %v", len(password), err)
		}
	}
}
