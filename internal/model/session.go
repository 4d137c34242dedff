package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// PublicID names the session to people. The id itself is secret: who knew it could end the session with a made-up token.
func (s *Session) PublicID() string {
	sum := sha256.Sum256([]byte("headgate session\x00" + s.ID))
	return hex.EncodeToString(sum[:8])
}

// SessionsEndedJSON encodes for a change row which sessions were ended: one by its public id, or how many.
func SessionsEndedJSON(publicID string, count int64) json.RawMessage {
	return encode(struct {
		Session string `json:"session,omitempty"`
		Ended   int64  `json:"ended"`
	}{publicID, count})
}
