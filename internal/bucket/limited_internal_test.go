package bucket

import (
	"maps"
	"testing"
)

// FuzzLimitedKeysAreReadAsTheyWereWritten: any text is either refused or means keys that are written as the same text
// again; and reading never panics.
func FuzzLimitedKeysAreReadAsTheyWereWritten(f *testing.F) {
	f.Add("31:0:4:u:4211:2:4:u:77")
	f.Add("1:0:99:short")
	f.Add("::")
	f.Fuzz(func(t *testing.T, text string) {
		sums := map[string]LimitedKey{}
		if addLimited(sums, text) != nil {
			return
		}
		written, err := writeLimited(mostLimited(sums))
		if err != nil {
			t.Fatalf("%q was read, but %v", text, err)
		}
		again := map[string]LimitedKey{}
		if err := addLimited(again, written); err != nil {
			t.Fatal(err)
		}
		if len(sums) <= LimitedKeysBound && !maps.Equal(sums, again) {
			t.Fatalf("%q became %q", text, written)
		}
	})
}
