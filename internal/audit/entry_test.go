package audit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// pieces are texts whose concatenations coincide often, and which look like the encoding's own parts.
var pieces = []string{"", "a", "aa", "b", "\x00", "\x00\x00\x00\x01a", "headgate-change:1", "\xff\xff\xff\xff", "é"}

func randomChange(r *rand.Rand) (audit.Hash, model.Change) {
	text := func() string { return pieces[r.IntN(len(pieces))] + pieces[r.IntN(3)] }
	raw := func() json.RawMessage {
		if r.IntN(3) == 0 {
			return nil
		}
		return json.RawMessage(text())
	}
	at := func() time.Time {
		if r.IntN(3) == 0 {
			return time.Time{}
		}
		return time.UnixMicro(int64(r.IntN(3)) - 1).UTC()
	}
	return audit.Hash{byte(r.IntN(2))}, model.Change{
		ID: int64(r.IntN(3)), At: at(), Actor: text(), Action: model.Action(text()), TargetKind: model.TargetKind(text()), Target: text(),
		Revision: int64(r.IntN(3)) - 1, Before: raw(), After: raw(), Reason: text(), Address: text(), RequestID: text(), Token: text(),
		Count: int64(r.IntN(2)), Until: at(),
	}
}

// Two rows have the same encoding only if they are equal in every field. Half of the pairs differ in one field or in
// where one text ends and the next begins, which is what a careless encoding would miss.
func TestNoTwoRowsHaveTheSameEncoding(t *testing.T) {
	r := random(1)
	kept := map[string]model.Change{}
	prevs := map[string]audit.Hash{}
	add := func(prev audit.Hash, c model.Change) {
		key := string(audit.Encode(nil, prev, &c))
		if other, known := kept[key]; known && (!reflect.DeepEqual(other, c) || prevs[key] != prev) {
			t.Fatalf("the same encoding for\n%#v and\n%#v", other, c)
		}
		kept[key], prevs[key] = c, prev
	}
	for range 20_000 {
		prev, c := randomChange(r)
		add(prev, c)
		shifted := c
		shifted.Actor, shifted.Action = c.Actor+string(c.Action), ""
		add(prev, shifted)
		shifted = c
		shifted.Reason, shifted.Address = "", c.Reason+c.Address
		add(prev, shifted)
		shifted = c
		shifted.Before, shifted.After = c.After, c.Before
		add(prev, shifted)
	}
}

// The encoding and its hash stay what docs/audit.md says, whatever happens to the code: other programs compute them.
func TestEncodingIsTheDocumentedOne(t *testing.T) {
	c := model.Change{
		ID: 2, At: time.UnixMicro(1).UTC(), Actor: "al", Action: "login", TargetKind: "user", Target: "al", Revision: -1,
		After: json.RawMessage("{}"), Count: 1,
	}
	want := "00000011" + hex.EncodeToString([]byte("headgate-change:1")) +
		"00000020" + "00000000000000000000000000000000000000000000000000000000000000ff" +
		"000000080000000000000002" + "000000080000000000000001" + "00000002616c" + "000000056c6f67696e" + "0000000475736572" +
		"00000002616c" + "00000008ffffffffffffffff" + "ffffffff" + "000000027b7d" + "00000000" + "00000000" + "00000000" + "00000000" +
		"000000080000000000000001" + "ffffffff"
	prev := audit.Hash{31: 0xff}
	if got := hex.EncodeToString(audit.Encode(nil, prev, &c)); got != want {
		t.Errorf("encoded as\n%s, want\n%s", got, want)
	}
	if sum := audit.Sum(prev, &c).String(); sum != "32f5bf2f0d4a1de2ea04ca2bf22b3e81d959334936ad424402b7131d319ae4dd" {
		t.Errorf("hash %s", sum)
	}
}

func TestHashTextIsReadStrictly(t *testing.T) {
	h := audit.Sum(audit.Hash{}, &model.Change{})
	if back, err := audit.ParseHash(h.String()); err != nil || back != h {
		t.Errorf("%v, %v", back, err)
	}
	for _, text := range []string{"", h.String()[1:], h.String() + "00", string(bytes.ToUpper([]byte(h.String()))), "zz" + h.String()[2:]} {
		if _, err := audit.ParseHash(text); err == nil {
			t.Errorf("%q was read as a hash", text)
		}
	}
}
