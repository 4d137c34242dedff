package model

import (
	"encoding/json"
	"time"
)

// SigningKey signs and proves the tokens of sessions.
type SigningKey struct {
	Secret    []byte // at least 32 bytes
	CreatedAt time.Time
	SignsFrom time.Time // from when on it signs, so that every server can know it by then; it proves at once
}

// KeyRotation says how the signing key is to be replaced.
type KeyRotation struct {
	Secret    []byte        // of the new key
	Lead      time.Duration // how long after now it begins to sign
	OlderThan time.Duration // only if the newest key is older than this; 0 = in any case
	// Now drops all older keys, and ends all sessions: everybody logs in again. Lead is 0 then.
	Now bool
}

// KeysRotatedJSON encodes a new key for a change row, without the key.
func KeysRotatedJSON(signsFrom time.Time, now bool) json.RawMessage {
	return encode(struct {
		SignsFrom time.Time `json:"signs_from"`
		Now       bool      `json:"now"`
	}{signsFrom.UTC(), now})
}

// KeysDroppedJSON encodes for a change row how many keys were dropped.
func KeysDroppedJSON(count int64) json.RawMessage {
	return encode(struct {
		Dropped int64 `json:"dropped"`
	}{count})
}
