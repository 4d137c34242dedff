package model

import (
	"encoding/json"
	"strings"
	"time"
)

// OverlayScope is what an overlay covers.
type OverlayScope string

// The scopes.
const (
	OverlayAll OverlayScope = "all" // all calls of all apps
	OverlayApp OverlayScope = "app" // the calls of one app, in whatever bucket
)

// OverlaysBound is how many overlays may be in force at a time.
const OverlaysBound = 100

// Overlay is one break-glass: while it is in force, mode enforce acts as shadow for the calls that it covers. It changes no
// definition, so what is edited meanwhile applies when it ends.
type Overlay struct {
	ID        int64
	Scope     OverlayScope
	App       string // of scope app, else ""
	Reason    string
	StartedBy string
	StartedAt time.Time
}

// Validate returns a CodeInvalid that names every field at fault: scope, app, reason.
func (o *Overlay) Validate() error {
	var v invalid
	checkChoice(&v, "scope", o.Scope, OverlayAll, OverlayApp)
	switch {
	case o.Scope == OverlayApp && o.App == "":
		v.add("app", "must name the app whose calls are covered")
	case o.Scope == OverlayAll && o.App != "":
		v.add("app", "must be left out where everything is covered")
	}
	checkText(&v, "reason", strings.TrimSpace(o.Reason), 1, ReasonBound)
	return v.err("break-glass")
}

// Covers names what is covered, as change rows do: all, or app:NAME.
func (o *Overlay) Covers() string {
	if o.Scope == OverlayApp {
		return string(OverlayApp) + ":" + o.App
	}
	return string(OverlayAll)
}

// OverlayJSON encodes an overlay for a change row.
func OverlayJSON(o *Overlay) json.RawMessage {
	return encode(struct {
		ID    int64        `json:"id"`
		Scope OverlayScope `json:"scope"`
		App   string       `json:"app"`
	}{o.ID, o.Scope, o.App})
}
