package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// The names of events beside those of changes, which are called as their action.
const (
	EventAlerts     = "alerts" // several that came one after the other
	EventCheckpoint = "audit.checkpoint"
	EventTest       = "webhook.test"
)

// The headers of a delivery.
const (
	HeaderEvent     = "Headgate-Event"
	HeaderEventID   = "Headgate-Event-Id"
	HeaderSignature = "Headgate-Signature"
)

// Change is a change with its hash in the log's chain.
type Change struct {
	model.Change
	Hash string // hex; "" for a row from before the chain
}

// Checkpoint is a signed statement of where the change log stood, in its text form.
type Checkpoint struct {
	Seq  int64
	At   time.Time
	Text string
}

// Event is what one delivery tells.
type Event struct {
	ID     string // never of two different events; the same at every repetition, but for alerts that are told in other company
	Name   string
	Change int64 // the first one that it tells of; 0 for what is no change
	Body   []byte
}

// body is the JSON that an endpoint gets.
type body struct {
	ID         string      `json:"id"`
	Event      string      `json:"event"`
	At         time.Time   `json:"at"`
	Change     *changeBody `json:"change,omitempty"`
	Events     []body      `json:"events,omitempty"`
	Checkpoint string      `json:"checkpoint,omitempty"`
	Message    string      `json:"message,omitempty"`
}

// changeBody is a change as the API shows it, with its hash.
type changeBody struct {
	ID         int64            `json:"id"`
	At         time.Time        `json:"at"`
	Actor      string           `json:"actor"`
	Action     model.Action     `json:"action"`
	TargetKind model.TargetKind `json:"target_kind"`
	Target     string           `json:"target"`
	Revision   int64            `json:"revision"`
	Before     json.RawMessage  `json:"before"`
	After      json.RawMessage  `json:"after"`
	Reason     string           `json:"reason"`
	Address    string           `json:"address"`
	RequestID  string           `json:"request_id"`
	Token      string           `json:"token"`
	Count      int64            `json:"count"`
	Hash       string           `json:"hash"`
}

// idHash is how much of a change's hash stands in its event's id, in hex digits. A database that was set back to a backup
// gives the same numbers to other changes; their hashes differ.
const idHash = 16

// ofChange is the event of a change.
func ofChange(c *Change) (Event, error) { return encode(changeOf(c), c.ID) }

func changeID(c *Change) string {
	id := "change-" + strconv.FormatInt(c.ID, 10)
	if len(c.Hash) >= idHash {
		id += "-" + c.Hash[:idHash]
	}
	return id
}

func changeOf(c *Change) body {
	return body{
		ID: changeID(c), Event: string(c.Action), At: c.At.UTC(),
		Change: &changeBody{
			ID: c.ID, At: c.At.UTC(), Actor: c.Actor, Action: c.Action, TargetKind: c.TargetKind, Target: c.Target, Revision: c.Revision,
			Before: orNull(c.Before), After: orNull(c.After), Reason: c.Reason, Address: c.Address, RequestID: c.RequestID,
			Token: c.Token, Count: c.Count, Hash: c.Hash,
		},
	}
}

// ofCheckpoint is the event of a checkpoint. The text ends with the signature, so its hash is the checkpoint's own.
func ofCheckpoint(c *Checkpoint) (Event, error) {
	sum := sha256.Sum256([]byte(c.Text))
	id := "checkpoint-" + strconv.FormatInt(c.Seq, 10) + "-" + hex.EncodeToString(sum[:])[:idHash]
	return encode(body{ID: id, Event: EventCheckpoint, At: c.At.UTC(), Checkpoint: c.Text}, 0)
}

// ofTest is the event of a test.
func ofTest(at time.Time) (Event, error) {
	return encode(body{
		ID: "test-" + strings.ToLower(rand.Text()), Event: EventTest, At: at.UTC(), Message: "This is a test of the webhook; nothing changed.",
	}, 0)
}

func encode(b body, change int64) (Event, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // before and after stay as they are in the log
	err := encoder.Encode(b)
	return Event{ID: b.ID, Name: b.Event, Change: change, Body: bytes.TrimRight(text.Bytes(), "\n")}, err
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return json.RawMessage("null")
	}
	return raw
}

// Sign is the signature of a body at an instant: t=UNIX-SECONDS,v1=HEX, the HMAC-SHA256 of "UNIX-SECONDS.BODY" under the
// secret. The time is signed with it, so that an old delivery can't be played again later.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// concerns tells whether an endpoint wants to be told of a change.
func concerns(w *model.Webhook, c *model.Change) bool {
	if w.TargetKind != "" && w.TargetKind != c.TargetKind || w.Target != "" && w.Target != c.Target {
		return false
	}
	if len(w.Actions) == 0 {
		return true
	}
	for _, filter := range w.Actions {
		if string(c.Action) == filter || strings.HasPrefix(string(c.Action), filter+".") {
			return true
		}
	}
	return false
}
