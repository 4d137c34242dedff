package model

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds of a webhook.
const (
	WebhooksBound       = 50  // endpoints of one deployment
	WebhookURLBound     = 500 // characters
	WebhookActionsBound = 20  // filters of one endpoint
)

// Webhook is an endpoint of an operator that changes are told to.
type Webhook struct {
	Name        string // unique, immutable, as a bucket's
	URL         string
	Description string
	Actions     []string   // of these actions only: each is an action or what stands before one of its dots; none = all
	TargetKind  TargetKind // "" = all
	Target      string     // of this target only; "" = all; needs TargetKind
	Checkpoints bool       // also the signed checkpoints of the change log
	Enabled     bool
	Secret      string // signs what is delivered; leaves the server once, when it is made

	Revision  int64
	CreatedBy string
	CreatedAt time.Time
	UpdatedBy string
	UpdatedAt time.Time

	State WebhookState
}

// WebhookState is how far an endpoint has been told and how that goes.
type WebhookState struct {
	Cursor     int64     // the newest change that was delivered or does not concern it
	Checkpoint int64     // likewise, the newest checkpoint
	Failures   int       // attempts in a row that failed; 0 = the last one went well
	FailedAt   time.Time // when the first of these failed; zero without failures
	NextAt     time.Time // not before then is the next attempt
	Failing    bool      // given up after three days; an edit, a good test or a redelivery starts it again
	LastError  string    // why the last attempt failed; "" when it went well
	Waiting    int64     // changes after Cursor, whether they concern the endpoint or not
}

// WebhookAttempt is one attempt to tell an endpoint something.
type WebhookAttempt struct {
	Event  string // the id that the receiver gets
	Change int64  // the first one that it tells of; 0 = a test or a checkpoint
	At     time.Time
	Took   time.Duration
	Status int    // of the answer; 0 = there was none
	Error  string // "" when it went well
}

// Validate checks an endpoint's fields; the error is CodeInvalid and names each broken one. Whether the address may be
// called at all is package webhook's to say.
func (w *Webhook) Validate() error {
	var v invalid
	if !ValidName(w.Name) {
		v.add("name", "%s", nameRule)
	}
	checkText(&v, "url", w.URL, 1, WebhookURLBound)
	checkURL(&v, w.URL)
	checkText(&v, "description", w.Description, 0, DescriptionBound)
	if len(w.Actions) > WebhookActionsBound {
		v.add("actions", "must be at most %d", WebhookActionsBound)
	}
	for i, action := range w.Actions {
		if !validActionFilter(action) {
			v.add(fmt.Sprintf("actions[%d]", i), "must be an action such as bucket.update, or the part before a dot, such as bucket")
		}
	}
	checkOptionalChoice(&v, "target_kind", w.TargetKind, TargetBucket, TargetApp, TargetUser, TargetSystem, TargetWebhook)
	checkText(&v, "target", w.Target, 0, TargetBound)
	if w.Target != "" && w.TargetKind == "" {
		v.add("target_kind", "must be given beside target")
	}
	return v.err("the webhook")
}

func checkURL(v *invalid, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		v.add("url", "must be a URL such as https://example.com/headgate")
	case u.User != nil:
		v.add("url", "must hold no user name or password; the signature proves who sends")
	case u.Fragment != "":
		v.add("url", "must hold no fragment (#…)")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		v.add("url", "must hold no spaces or control characters")
	case u.Port() != "" && !validPort(u.Port()):
		v.add("url", "must have a port of 1..65535")
	}
}

func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// validActionFilter tells whether a text can be an action or the beginning of one: lower-case words with dots between.
func validActionFilter(s string) bool {
	if s == "" || len(s) > ActionBound || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != '.' && r != '_' {
			return false
		}
	}
	return true
}

// NewWebhookSecret makes the secret of an endpoint: hgw_ and 256 random bits in hex.
func NewWebhookSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // documented never to fail
	return "hgw_" + hex.EncodeToString(raw)
}

// WebhookJSON encodes an endpoint for a change row; its secret is not in it.
func WebhookJSON(w *Webhook) json.RawMessage {
	return encode(struct {
		URL         string     `json:"url"`
		Description string     `json:"description"`
		Actions     []string   `json:"actions"`
		TargetKind  TargetKind `json:"target_kind"`
		Target      string     `json:"target"`
		Checkpoints bool       `json:"checkpoints"`
		Enabled     bool       `json:"enabled"`
	}{w.URL, w.Description, canonical(w.Actions), w.TargetKind, w.Target, w.Checkpoints, w.Enabled})
}
