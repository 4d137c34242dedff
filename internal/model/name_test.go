package model_test

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// named says the rule of names in another way than the code does: byte by byte.
func named(s, first, rest string, most int) bool {
	if len(s) < 1 || len(s) > most || strings.IndexByte(first, s[0]) < 0 {
		return false
	}
	for i := range len(s) {
		if strings.IndexByte(rest, s[i]) < 0 {
			return false
		}
	}
	return true
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"a", "0", "A.b_c-9", "", "-a", ".", "_x", "a b", "a\n", "a\x00", "é", "a/b", "a{b}", "*", "a:b", "'; --", "<b>", "\xff",
		strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 128), strings.Repeat("a", 129), "alice@example.org", "Alice", "K", "ſ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := model.ValidName(s), named(s, letters+digits, letters+digits+"._-", 128); got != want {
			t.Errorf("ValidName(%q) = %v, want %v", s, got, want)
		}
		if got, want := model.ValidUserName(s), named(s, lower+digits, lower+digits+"._-@", 64); got != want {
			t.Errorf("ValidUserName(%q) = %v, want %v", s, got, want)
		}
		if err := model.ValidateBucketName(s); (err == nil) != model.ValidName(s) {
			t.Errorf("ValidateBucketName(%q) = %v", s, err)
		}
	})
}
