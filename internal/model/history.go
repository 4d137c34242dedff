package model

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// RevisionActions are the changes that make a new revision of a bucket: after such a row the definition in its After is in
// force, or none when that is null. An action that gives a bucket a new revision must stand here.
var RevisionActions = []Action{
	ActionBucketCreate, ActionBucketUpdate, ActionBucketDelete, ActionBucketRaise, ActionBucketRollback, ActionBucketRestore,
}

// Revision is one revision of a bucket name, as its change row tells it.
type Revision struct {
	Revision   int64
	At         time.Time // from when it was in force
	Actor      string
	Action     Action
	Reason     string
	Definition *Definition // nil: the bucket was deleted by this revision
	OwnersNow  []string    // its owners, under the names that they have now
}

// BucketPast is where a bucket name stands, living or deleted.
type BucketPast struct {
	Name            string
	Deleted         bool
	Revision        int64 // the newest one, of the deletion when Deleted
	CreatedRevision int64 // at which the present bucket, or the last one, began
}

// DeletedBucket is a bucket that may be restored.
type DeletedBucket struct {
	Name       string
	Revision   int64 // of the deletion
	DeletedBy  string
	DeletedAt  time.Time
	Reason     string
	Definition *Definition // the last one in force; nil when the kept history does not reach back to the deletion
}

// DeletedQuery says which deleted buckets to list, by name. Zero fields filter nothing.
type DeletedQuery struct {
	Viewer string // user name: only those that this user owned when they were deleted; "" = sees all
	Name   string // only the one of this name
	Search string // part of the name or the description, 0..200 characters
	Cursor string
	Limit  int // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *DeletedQuery) Validate() error {
	var v invalid
	checkText(&v, "search", q.Search, 0, SearchBound)
	checkPage(&v, "", q.Limit)
	return v.err("the query")
}

// AsOfState says what is known about a bucket at an instant.
type AsOfState string

// The states of a bucket at an instant.
const (
	AsOfInForce AsOfState = "in_force"
	AsOfDeleted AsOfState = "deleted"             // it had been deleted and not been made again
	AsOfAbsent  AsOfState = "absent"              // it had not been made yet
	AsOfUnknown AsOfState = "before_kept_history" // the rows that would tell have been pruned
)

// AsOf is a bucket at an instant, derived from the change rows.
type AsOf struct {
	Name       string
	State      AsOfState
	Revision   int64 // that was the newest; 0 = none, or not in the kept history
	Since      time.Time
	By         string // who made that revision; Since, By and Reason are zero when its row was pruned
	Reason     string
	Definition *Definition // with AsOfInForce only
}

// PersonAsOf is a user at an instant.
type PersonAsOf struct {
	Name     string
	Role     Role
	Disabled bool
}

// fromRevision is what the After of a roll back or a restoration holds beside the definition.
type fromRevision struct {
	DefinitionFields
	From int64 `json:"from_revision"`
}

// DefinitionFromJSON encodes a definition that was taken over from an earlier revision, which it names in from_revision.
func DefinitionFromJSON(d *Definition, revision int64) json.RawMessage {
	return encode(fromRevision{d.Fields(), revision})
}

// DecodeDefinition reads the definition out of a change row's before or after; nil for null. Fields that a later version
// added are left at their defaults.
func DecodeDefinition(raw json.RawMessage) (*Definition, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var fields DefinitionFields
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, &Error{Code: CodeInternal, Message: "a change row holds no definition", Cause: err}
	}
	d := fields.Definition()
	d.SetDefaults()
	return &d, nil
}

// FieldDiff is one field in which two definitions differ. Before and After are the field's JSON, null on the side that has
// no definition; Added and Removed name the entries of a list (labels as key=value), sorted and never nil.
type FieldDiff struct {
	Field   string
	Before  json.RawMessage
	After   json.RawMessage
	Added   []string
	Removed []string
}

// Diff compares two definitions field by field, in the order of DefinitionFields; nil stands for no bucket. Equal
// definitions differ in nothing.
func Diff(before, after *Definition) []FieldDiff {
	was, is := diffValues(before), diffValues(after)
	kind := reflect.TypeFor[DefinitionFields]()
	diffs := []FieldDiff{}
	for i := range kind.NumField() {
		old, now := json.RawMessage("null"), json.RawMessage("null")
		var oldList, newList []string
		if before != nil {
			old, oldList = encode(was.Field(i).Interface()), entries(was.Field(i))
		}
		if after != nil {
			now, newList = encode(is.Field(i).Interface()), entries(is.Field(i))
		}
		if string(old) == string(now) {
			continue
		}
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		diffs = append(diffs, FieldDiff{
			Field: name, Before: old, After: now, Added: without(newList, oldList), Removed: without(oldList, newList),
		})
	}
	return diffs
}

func diffValues(d *Definition) reflect.Value {
	if d == nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(d.Fields())
}

// entries lists what a list or a map of labels holds; nil for any other field.
func entries(v reflect.Value) []string {
	switch v := v.Interface().(type) {
	case []string:
		return v
	case map[string]string:
		var list []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, key+"="+v[key])
		}
		return list
	}
	return nil
}

// without returns the names of list that are not in other, sorted.
func without(list, other []string) []string {
	rest := []string{}
	for _, name := range list {
		if !slices.Contains(other, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return rest
}
