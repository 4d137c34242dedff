package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// HashBytes is the length of a hash.
const HashBytes = sha256.Size

// Hash is the SHA-256 of a row's canonical encoding. The zero Hash stands before the first row of a chain.
type Hash [HashBytes]byte

// String is the hash in lower-case hex, as exports and checkpoints have it.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String wrote.
func ParseHash(text string) (Hash, error) {
	var h Hash
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != HashBytes || hex.EncodeToString(raw) != text {
		return h, errors.New("a hash must be 64 lower-case hex digits")
	}
	return Hash(raw), nil
}

// Entry is a change row with its place in the chain. Its ID is its sequence number.
type Entry struct {
	model.Change
	Chained bool // false for a row that was written before the chain began; then both hashes are zero
	Prev    Hash // of the row before it
	Hash    Hash
}

// Head is the end of the chain, kept beside the rows.
type Head struct {
	Seq   int64 // of the last row; First-1 while there is none
	Hash  Hash  // of the last row
	First int64 // of the row with which the chain began
}

// Link makes the entry of the next row: its number, the hash before it and its own. The head moves on to it.
func (h *Head) Link(c model.Change) Entry {
	c.ID = h.Seq + 1
	e := Entry{Change: c, Chained: true, Prev: h.Hash, Hash: Sum(h.Hash, &c)}
	h.Seq, h.Hash = c.ID, e.Hash
	return e
}

// encodingName begins the encoding of every row, so that a later encoding can never be taken for this one.
const encodingName = "headgate-change:1"

// null is the length that stands for "no value", which differs from an empty text.
const null = 0xFFFFFFFF

// Encode appends the canonical encoding of a row after the hash prev to b: each field with its length in front as four
// bytes, big-endian; whole numbers as eight bytes, big-endian two's complement; times as microseconds since 1970 UTC.
// No two different rows have the same encoding.
func Encode(b []byte, prev Hash, c *model.Change) []byte {
	b = appendText(b, encodingName)
	b = appendBytes(b, prev[:])
	b = appendInt(b, c.ID)
	b = appendTime(b, c.At)
	b = appendText(b, c.Actor)
	b = appendText(b, string(c.Action))
	b = appendText(b, string(c.TargetKind))
	b = appendText(b, c.Target)
	b = appendInt(b, c.Revision)
	b = appendBytes(b, c.Before)
	b = appendBytes(b, c.After)
	b = appendText(b, c.Reason)
	b = appendText(b, c.Address)
	b = appendText(b, c.RequestID)
	b = appendText(b, c.Token)
	b = appendInt(b, c.Count)
	return appendTime(b, c.Until)
}

// Sum is the hash of a row whose predecessor has the hash prev.
func Sum(prev Hash, c *model.Change) Hash {
	var space [1024]byte
	return sha256.Sum256(Encode(space[:0], prev, c))
}

func appendText(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

// appendBytes tells nil, a column without a value, from an empty one.
func appendBytes(b, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(b, null)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

func appendInt(b []byte, n int64) []byte {
	b = binary.BigEndian.AppendUint32(b, 8)
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// appendTime writes the zero time as "no value".
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.BigEndian.AppendUint32(b, null)
	}
	return appendInt(b, t.UnixMicro())
}
