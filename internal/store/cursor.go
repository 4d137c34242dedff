package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"
)

// A cursor is the place of the last row of a page: its sort values, with a checksum over them and over the query they
// belong to (order and filters). The checksum finds a cursor that was damaged, typed by hand or used with another
// query. It guards no secret: a cursor names a place, and what may be seen from there is decided by the query's viewer.
const (
	cursorSum   = 8    // bytes of checksum
	cursorBound = 1024 // characters of a cursor; the longest name with a time is far below
)

// cursorScope is the kind of list and the query without its place.
func cursorScope(kind string, query any) string {
	raw, err := json.Marshal(query)
	if err != nil {
		panic("store: a query did not encode: " + err.Error())
	}
	return kind + "\x00" + string(raw)
}

func encodeCursor(scope string, place any) string {
	raw, err := json.Marshal(place)
	if err != nil {
		panic("store: a cursor did not encode: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(append(checksum(scope, raw), raw...))
}

// decodeCursor fills place from a cursor made under the same scope. CodeInvalid with field "cursor".
func decodeCursor(scope, cursor string, place any) error {
	bad := invalidField("the query", "cursor", "is not one that this list gave out")
	if len(cursor) > cursorBound {
		return bad
	}
	// Strict refuses other spellings of the same bytes.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorSum || !bytes.Equal(raw[:cursorSum], checksum(scope, raw[cursorSum:])) {
		return bad
	}
	if json.Unmarshal(raw[cursorSum:], place) != nil {
		return bad
	}
	return nil
}

func checksum(scope string, place []byte) []byte {
	h := sha256.New()
	h.Write([]byte(scope))
	h.Write([]byte{0})
	h.Write(place)
	return h.Sum(nil)[:cursorSum]
}

// namePlace is the place in a list of named things: the name, and the time when the list is sorted by it.
type namePlace struct {
	Name    string    `json:"n"`
	Updated time.Time `json:"u,omitzero"`
}
