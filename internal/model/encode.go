package model

import (
	"encoding/json"
	"time"
)

// DefinitionFields is a Definition in the shape that the API and the history show: snake_case, times in ms.
type DefinitionFields struct {
	Description    string            `json:"description"`
	Labels         map[string]string `json:"labels"`
	Apps           []string          `json:"apps"`
	Owners         []string          `json:"owners"`
	Algorithm      Algorithm         `json:"algorithm"`
	MaxPermits     int64             `json:"max_permits"`
	Rate           int64             `json:"rate"`
	PeriodMS       int64             `json:"period_ms"`
	Partition      Partition         `json:"partition"`
	Shards         int               `json:"shards"`
	Mode           Mode              `json:"mode"`
	MaxWaitMS      int64             `json:"max_wait_ms"`
	OnRedisFailure FailurePolicy     `json:"on_redis_failure"`
	AfterLoss      LossPolicy        `json:"after_loss"`
}

// Fields returns the definition in the API's shape, lists sorted and never nil.
func (d *Definition) Fields() DefinitionFields {
	labels := d.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return DefinitionFields{
		Description: d.Description, Labels: labels, Apps: canonical(d.Apps), Owners: canonical(d.Owners),
		Algorithm: d.Algorithm, MaxPermits: d.MaxPermits, Rate: d.Rate, PeriodMS: d.Period.Milliseconds(),
		Partition: d.Partition, Shards: d.Shards, Mode: d.Mode, MaxWaitMS: d.MaxWait.Milliseconds(),
		OnRedisFailure: d.OnRedisFailure, AfterLoss: d.AfterLoss,
	}
}

// Definition is the way back from Fields. It checks nothing: Validate does. A number of ms beyond what a
// time.Duration holds becomes the longest one, which Validate refuses, so that it cannot wrap into a good value.
func (f *DefinitionFields) Definition() Definition {
	return Definition{
		Description: f.Description, Labels: f.Labels, Apps: f.Apps, Owners: f.Owners,
		Algorithm: f.Algorithm, MaxPermits: f.MaxPermits, Rate: f.Rate, Period: Millis(f.PeriodMS),
		Partition: f.Partition, Shards: f.Shards, Mode: f.Mode, MaxWait: Millis(f.MaxWaitMS),
		OnRedisFailure: f.OnRedisFailure, AfterLoss: f.AfterLoss,
	}
}

// Millis turns ms into a Duration; what does not fit becomes the longest or the shortest one in whole ms.
func Millis(ms int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// DefinitionJSON encodes a definition for the before and after of a change row.
func DefinitionJSON(d *Definition) json.RawMessage { return encode(d.Fields()) }

// memberFields is a membership as the API shows it.
type memberFields struct {
	User string  `json:"user"`
	Role AppRole `json:"role"`
}

// AppJSON encodes an app for a change row: its description and its members.
func AppJSON(a *App) json.RawMessage {
	members := make([]memberFields, len(a.Members))
	for i, m := range a.Members {
		members[i] = memberFields{m.User, m.Role}
	}
	return encode(struct {
		Description string         `json:"description"`
		Members     []memberFields `json:"members"`
	}{a.Description, members})
}

// MemberJSON encodes one membership for a change row.
func MemberJSON(m Member) json.RawMessage { return encode(memberFields{m.User, m.Role}) }

// UserJSON encodes a user for a change row; the password hash is not in it.
func UserJSON(u *User) json.RawMessage {
	return encode(struct {
		Name        string `json:"name"`
		DisplayName string `json:"display_name"`
		Role        Role   `json:"role"`
		Disabled    bool   `json:"disabled"`
		Service     bool   `json:"service,omitempty"`
	}{u.Name, u.DisplayName, u.Role, u.Disabled, u.Service})
}

// encode cannot fail: it is only given plain structs of strings, numbers and maps with string keys.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("model: a plain struct did not encode: " + err.Error())
	}
	return raw
}
