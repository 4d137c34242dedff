package model

import (
	"strings"
	"time"
)

// Bounds of a page, in items.
const (
	PageMax     = 200
	PageDefault = 50
	SearchBound = 200 // characters of a search text
)

// Page is one part of a list. Next is the cursor of the following part, "" at the end.
type Page[T any] struct {
	Items []T
	Next  string
}

// The sort orders of lists; "-" before one turns it round.
const (
	SortName    = "name"
	SortUpdated = "updated_at"
)

// The values of BucketQuery.Sync.
const (
	SyncSynced  = "synced"
	SyncPending = "pending"
)

// BucketQuery says which buckets to list. Zero fields filter nothing.
type BucketQuery struct {
	Viewer string // user name: only buckets that this user owns or whose apps it is a member of; "" = sees all
	Search string // part of the name or the description, 0..200 characters
	App    string // listed under this app by name (a "*" bucket matches App "*" only)
	Owner  string // owned by this user
	Label  string // "key=value", or "key" for any value
	Mode   Mode
	Sync   string // SyncSynced or SyncPending
	Sort   string // SortName (default), SortUpdated; "-" before it turns it round
	Cursor string // Page.Next of the part before, under the same filters and order
	Limit  int    // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *BucketQuery) Validate() error {
	var v invalid
	checkText(&v, "search", q.Search, 0, SearchBound)
	checkText(&v, "label", q.Label, 0, 2*LabelLengthBound+1)
	if q.App != "" && q.App != AllApps && !ValidName(q.App) {
		v.add("app", "%s", nameRule)
	}
	checkOptional(&v, "owner", q.Owner, ValidUserName, userNameRule)
	checkOptionalChoice(&v, "mode", q.Mode, ModeEnforce, ModeShadow, ModeOff)
	checkOptionalChoice(&v, "sync", q.Sync, SyncSynced, SyncPending)
	checkPage(&v, q.Sort, q.Limit)
	return v.err("the query")
}

// LabelsMost bounds the labels of one answer.
const LabelsMost = 500

// LabelQuery says which labels to count. Zero fields filter nothing.
type LabelQuery struct {
	Viewer string // as in BucketQuery
	Search string // part of the key or the value, 0..200 characters
	Limit  int    // 1..LabelsMost; 0 = LabelsMost
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *LabelQuery) Validate() error {
	var v invalid
	checkText(&v, "search", q.Search, 0, SearchBound)
	if q.Limit < 0 || q.Limit > LabelsMost {
		v.add("limit", "must be 1..%d, not %s", LabelsMost, thousands(int64(q.Limit)))
	}
	return v.err("the query")
}

// LabelCount is a label with the number of living buckets that have it.
type LabelCount struct {
	Key     string
	Value   string
	Buckets int64
}

// AppQuery says which apps to list. Zero fields filter nothing.
type AppQuery struct {
	Viewer string // user name: only apps that this user is a member of; "" = sees all
	Search string // part of the name or the description, 0..200 characters
	Sort   string // SortName (default), SortUpdated; "-" before it turns it round
	Cursor string
	Limit  int // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *AppQuery) Validate() error {
	var v invalid
	checkText(&v, "search", q.Search, 0, SearchBound)
	checkPage(&v, q.Sort, q.Limit)
	return v.err("the query")
}

// UserQuery says which users to list. Zero fields filter nothing.
type UserQuery struct {
	Search   string // part of the name or the display name, 0..200 characters
	Role     Role
	Disabled *bool  // nil = both
	Service  *bool  // service accounts, or people; nil = both
	Sort     string // SortName (default), SortUpdated; "-" before it turns it round
	Cursor   string
	Limit    int // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *UserQuery) Validate() error {
	var v invalid
	checkText(&v, "search", q.Search, 0, SearchBound)
	checkOptionalChoice(&v, "role", q.Role, RoleAdmin, RoleAuditor, RoleMember)
	checkPage(&v, q.Sort, q.Limit)
	return v.err("the query")
}

// ChangeQuery says which changes to list, newest first. Zero fields filter nothing.
type ChangeQuery struct {
	Viewer      string // user name: only changes of buckets and apps that this user may see now; "" = sees all
	TargetKind  TargetKind
	Target      string
	Actor       string
	Action      Action
	From        time.Time // inclusive
	To          time.Time // exclusive
	MinRevision int64     // only changes at this revision of their target or a later one
	Cursor      string
	Limit       int // 1..200; 0 = 50
}

// Validate checks the bounds; the error is CodeInvalid and names each broken field.
func (q *ChangeQuery) Validate() error {
	var v invalid
	checkOptionalChoice(&v, "target_kind", q.TargetKind, TargetBucket, TargetApp, TargetUser, TargetSystem, TargetWebhook)
	checkText(&v, "target", q.Target, 0, TargetBound)
	checkText(&v, "actor", q.Actor, 0, TargetBound)
	checkText(&v, "action", string(q.Action), 0, ActionBound)
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		v.add("to", "must not be before from")
	}
	checkPage(&v, "", q.Limit)
	return v.err("the query")
}

// Bounds of the texts in a change row, in characters; the store cuts longer ones.
const (
	TargetBound     = 128 // actor, target and token
	ActionBound     = 32
	TargetKindBound = 16
	AddressBound    = 64 // address and request id
)

// Relation is what a user is to a bucket or an app.
type Relation struct {
	BucketOwner bool // owns the bucket; false for an app
	AppOwner    bool // owner of the app, or of one of the bucket's apps (for "*": of any app)
	AppViewer   bool // viewer of the app, or of one of the bucket's apps (for "*": of any app)
}

// Any tells whether the user may see the bucket or the app by its relation alone.
func (r Relation) Any() bool { return r.BucketOwner || r.AppOwner || r.AppViewer }

// UserPatch changes some fields of a user; nil fields stay as they are.
type UserPatch struct {
	Name        *string // the name that one logs in with; the history keeps the one before
	DisplayName *string
	Role        *Role
	Disabled    *bool
}

// Dirty names a bucket that is to be pushed to Redis.
type Dirty struct {
	Name     string
	Mark     int64 // increases at each marking of this name; handed back to say which marking was worked off
	Attempts int   // failed pushes since the marking
}

// SyncRow is what reconcile compares with Redis: one name, living or deleted.
type SyncRow struct {
	SyncHead
	InstalledAt time.Time // when Redis was found to have the installed revision; zero when not known
	UpdatedAt   time.Time // when the present revision was made
	LastError   string    // why the last push of the mark failed; "" when it did not
	Bucket      *Bucket   // nil when deleted
}

// RotateResult is the outcome of exchanging a session's refresh token.
type RotateResult string

// The outcomes of a rotation.
const (
	// Rotated: the new token is in force.
	Rotated RotateResult = "rotated"
	// RotateConcurrent: the token was exchanged by another tab a moment ago (within the grace); nothing changed, and
	// the new token handed in is not good.
	RotateConcurrent RotateResult = "concurrent"
	// RotateReused: the token is not the session's newest: an old one came back. Nothing changed; the caller ends the
	// session.
	RotateReused RotateResult = "reused"
)

func checkPage(v *invalid, sort string, limit int) {
	checkOptionalChoice(v, "sort", strings.TrimPrefix(sort, "-"), SortName, SortUpdated)
	if sort == "-" {
		v.add("sort", "must be one of %s, %s, with or without a leading -", SortName, SortUpdated)
	}
	if limit != 0 {
		checkRange(v, "limit", int64(limit), 1, PageMax, "")
	}
}

func checkOptional(v *invalid, field, s string, ok func(string) bool, rule string) {
	if s != "" && !ok(s) {
		v.add(field, "%s", rule)
	}
}

func checkOptionalChoice[T ~string](v *invalid, field string, value T, choices ...T) {
	if value != "" {
		checkChoice(v, field, value, choices...)
	}
}
