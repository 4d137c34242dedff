package bucket_test

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/bucket"
)

// FuzzStateKeys: whatever bytes callers' keys have, a state key lies in its bucket's slot, differs from all other keys of
// the bucket, and no two callers who must not share do share.
func FuzzStateKeys(f *testing.F) {
	f.Add("k", "k:a=x", uint8(0), uint8(1))
	f.Add("{other}", "}", uint8(2), uint8(3))
	f.Add("", "\x00\n*", uint8(3), uint8(3))
	f.Add("a:k=b", "b", uint8(3), uint8(3))
	f.Add("0k", "k", uint8(0), uint8(3))
	e := bucket.New(nil, "")
	apps := []string{"a", "a.k", "A-k_b", "a0"}
	f.Fuzz(func(t *testing.T, one, two string, first, second uint8) {
		const name = "b.c-d_e"
		appOne, appTwo := apps[first%4], apps[second%4]
		for _, partition := range partitions {
			a, b := e.StateKey(name, partition, appOne, one), e.StateKey(name, partition, appTwo, two)
			if slot(a) != slot(name) {
				t.Fatalf("%q is in another slot than %q", a, name)
			}
			same := (partition == bucket.PartitionShared || partition == bucket.PartitionKey || appOne == appTwo) &&
				(!bucket.Keyed(partition) || one == two)
			if (a == b) != same {
				t.Fatalf("partition %s: (%q, %q) has %q and (%q, %q) has %q", partition, appOne, one, a, appTwo, two, b)
			}
			if !strings.HasPrefix(a, e.DefinitionKey(name)+":s") || strings.HasPrefix(a, e.DefinitionKey(name)+":u") {
				t.Fatalf("%q could be taken for another kind of key", a)
			}
		}
	})
}

// TestAPrefixWithBracesIsRefused: it would move every key to another slot.
func TestAPrefixWithBracesIsRefused(t *testing.T) {
	for _, prefix := range []string{"{", "}", "a{b}", strings.Repeat("x", 129)} {
		expectInvalid(t, bucket.CheckPrefix(prefix), "prefix")
		_, err := bucket.New(nil, prefix).Read(t.Context(), "b")
		expectInvalid(t, err, "prefix")
	}
	for _, prefix := range []string{"", "headgate", "team:a"} {
		check(t, bucket.CheckPrefix(prefix))
	}
}

// TestEnginesOfDifferentPrefixesDoNotMeet on one Redis.
func TestEnginesOfDifferentPrefixesDoNotMeet(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		d := definition(10, 1, 1_000_000_000)
		e.install(t, d)
		other := bucket.New(e.rdb, strings.TrimSuffix(e.IndexKey(), ":index")+":other")
		found, err := other.Read(t.Context(), d.Name)
		check(t, err)
		expect(t, "present", found[0].Present, false)
	})
}
