package auth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

func TestGuessablePasswordsAreRefusedWithTheRule(t *testing.T) {
	for password, rule := range map[string]string{
		"elevenchars":                  "12..128 characters",
		strings.Repeat("ab-cd ef", 17): "12..128 characters",
		"with a \x00 nul inside":       "control characters",
		"aaaaaaaaaaaaaaaa":             "5 different",
		"121212121212":                 "5 different",
		"abcdeabcdeabcde":              "repeated",
		"Tr0ub4dor&3Tr0ub4dor&3":       "repeated",
		"abcdefghijklmnop":             "sequence",
		"9876543210987":                "sequence",
		"qwertyuiopasd":                "sequence",
		"ann.smith-2024":               "user's name",
		"AnnSmith-AnnSmith-1":          "user's name",
		"password1234":                 "most common",
		"P@ssw0rd2024!!":               "most common",
		"headgate-demo":                "most common",
		"Administrator1!":              "most common",
		"1qaz2wsx3edc":                 "sequence",
		"correct horse battery staple": "most common",
		"iloveyou!!!!2024":             "most common",
		"finalfantasy":                 "most common",
		"Leavemealone1":                "most common",
	} {
		err := auth.CheckPassword(password, "ann.smith", "Annsmith")
		var e *model.Error
		if !errors.As(err, &e) || e.Code != model.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Field != "password" {
			t.Errorf("%q: %v", password, err)
			continue
		}
		if !strings.Contains(e.Fields[0].Message, rule) {
			t.Errorf("%q: %q, want the rule %q", password, e.Fields[0].Message, rule)
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("%q is in the error", password)
		}
	}
}

func TestGoodPasswordsPass(t *testing.T) {
	for _, password := range []string{
		password, "another password", "a new secret phrase", "an-admin-password", "4Qb7ZP2LNMC6WJ4VNMEKG5SMQY", "8301-9372-5520-tiger",
		"Ich mag grünen Tee", "密码一定要足够长才行啊呀", "gT7#pQ2!vX9z", "annoyed smithies sing", strings.Repeat("purple monkey dish ", 6),
	} {
		if err := auth.CheckPassword(password, "ann.smith", "Ann Smith", ""); err != nil {
			t.Errorf("%q: %v", password, err)
		}
	}
}
