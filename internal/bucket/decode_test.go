package bucket_test

import (
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

// FuzzDecoders: no answer, however odd, panics or is taken for a decision with impossible figures.
func FuzzDecoders(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1}, int64(1), int64(1<<62), "shared", 1)
	f.Add([]byte("0001221222200000"), int64(5), int64(7), "key", 1)
	f.Add([]byte{}, int64(-1), int64(0), "", 0)
	d := definition(10, 1, time.Second)
	target, err := bucket.New(nil, "").Target(d.Name, "checkout", d.Facts())
	check(f, err)
	f.Fuzz(func(t *testing.T, shape []byte, small, large int64, text string, entries int) {
		reply := make([]any, len(shape))
		for i, kind := range shape {
			switch kind % 8 {
			case 0:
				reply[i] = small
			case 1:
				reply[i] = large
			case 2:
				reply[i] = text
			case 3:
				reply[i] = nil
			case 4:
				reply[i] = []any{small}
			default:
				reply[i] = int64(kind%8) - 4
			}
		}
		entries = max(0, min(entries, 10))
		c := bucket.Call{Target: target, Entries: make([]bucket.Entry, entries)}
		for i := range c.Entries {
			c.Entries[i] = bucket.Entry{Permits: 1, Count: int64(i)}
		}
		if r, err := bucket.DecodeReply(reply, &c); err == nil {
			checkDecoded(t, r, entries)
		}
		_, _ = bucket.DecodeInstall(reply)
		_, _ = bucket.DecodeReply(text, &c)
		_ = bucket.DecodeInstalled("b", map[string]string{"fmt": "2", "rev": text, "max": text, "head": text, "app:" + text: "1"})
		if f, err := bucket.ParseHead(text); err == nil && (f.MaxPermits < 1 || f.Rate < 1 || f.Period < 1) {
			t.Fatalf("took %q for a head", text)
		}
	})
}

func checkDecoded(t *testing.T, r bucket.Reply, entries int) {
	t.Helper()
	switch r.Verdict {
	case bucket.VerdictDecided:
		expect(t, "results", len(r.Results), entries)
	case bucket.VerdictStale, bucket.VerdictUnknownFormat, bucket.VerdictAbsent, bucket.VerdictRemoved, bucket.VerdictNotListed:
		expect(t, "results", len(r.Results), 0)
	default:
		t.Fatalf("verdict %d", r.Verdict)
	}
	for _, result := range r.Results {
		if result.Granted < 0 || result.Remaining < 0 || result.RetryAfter < 0 || result.ResetAfter < 0 {
			t.Fatalf("negative figures: %+v", result)
		}
	}
}

// TestAnAnswerOfAnotherLengthIsAnError: never half a decision.
func TestAnAnswerOfAnotherLengthIsAnError(t *testing.T) {
	d := definition(10, 1, time.Second)
	target, err := bucket.New(nil, "").Target(d.Name, "checkout", d.Facts())
	check(t, err)
	c := bucket.Call{Target: target, Entries: []bucket.Entry{{Permits: 1, Count: 1}}}
	good := []any{int64(1), int64(5), int64(3), int64(7), "2 3 token_bucket.shared.1 enforce open 0 7 0 7 1 1 1000 10 10000 0 0",
		int64(1), int64(9), int64(0), int64(1000)}
	r, err := bucket.DecodeReply(good, &c)
	check(t, err)
	expect(t, "revision of the facts", r.Facts.Revision, 3)
	expect(t, "reset", r.Results[0].ResetAfter, time.Millisecond)
	for n := range good {
		if _, err := bucket.DecodeReply(good[:n], &c); err == nil {
			t.Fatalf("took the first %d items for an answer", n)
		}
	}
	marked, err := bucket.DecodeReply(append(good, int64(7)), &c)
	check(t, err)
	expect(t, "mark", marked.Results[0].Mark, 7*time.Microsecond)
	if _, err := bucket.DecodeReply(append(good, int64(7), int64(7)), &c); err == nil {
		t.Fatal("took an answer with an item too many")
	}
	good[4] = "" // the caller's facts hold, but they are of another revision
	if _, err := bucket.DecodeReply(good, &c); err == nil {
		t.Fatal("took facts of another revision for the present ones")
	}
	c.Entries = append(c.Entries, c.Entries[0])
	good[2] = int64(1)
	if _, err := bucket.DecodeReply(good, &c); err == nil {
		t.Fatal("took one result for two")
	}
}
