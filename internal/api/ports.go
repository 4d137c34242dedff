package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// Store is what the API needs of the database. Errors are *model.Error with the codes named here, beside CodeInternal
// and CodeUnavailable; CodeNotFound, and CodeInvalid for a broken field, go without saying. Every write leaves its
// change row in the same transaction; the Origin says on whose behalf.
type Store interface {
	BucketStore
	AppStore
	UserStore
	TokenStore
	ChangeStore
	HistoryStore
	UsageStore
	WebhookStore
	OverlayStore
	AlertStore
}

// BucketStore keeps buckets.
type BucketStore interface {
	// BucketFor returns a bucket and what the user is to it, who may be nothing to it.
	BucketFor(ctx context.Context, user, name string) (model.Bucket, model.Relation, error)
	Buckets(ctx context.Context, q model.BucketQuery) (model.Page[model.Bucket], error)
	// CreateBucket: CodeTaken.
	CreateBucket(ctx context.Context, name string, d model.Definition, o model.Origin) (model.Bucket, error)
	// UpdateBucket: CodeStale when the revision is not base.
	UpdateBucket(ctx context.Context, name string, base int64, d model.Definition, o model.Origin) (model.Bucket, error)
	// DeleteBucket returns the revision of the tombstone. CodeStale.
	DeleteBucket(ctx context.Context, name string, base int64, o model.Origin) (int64, error)
	// BucketsNamed reads those of some buckets that are there and that the viewer may see; "" sees all.
	BucketsNamed(ctx context.Context, viewer string, names []string) ([]model.Bucket, error)
	// UpdateBuckets makes one change to each of many buckets or, on any error, to none; a dry run only tells. CodeStale
	// when one is not at its revision.
	UpdateBuckets(ctx context.Context, targets []model.BulkTarget, c model.BulkChange, o model.Origin, dryRun bool) (model.BulkResult, error)
	// BucketLabels counts the labels of the buckets that the viewer may see; "" sees all.
	BucketLabels(ctx context.Context, q model.LabelQuery) ([]model.LabelCount, error)
	// SyncHeadsOf says how far Redis has followed some names; those that never existed are left out.
	SyncHeadsOf(ctx context.Context, names []string) (map[string]model.SyncHead, error)
	// SyncRow says how far Redis has followed a name, deleted or not.
	SyncRow(ctx context.Context, name string) (model.SyncRow, error)
}

// AppStore keeps apps and their members.
type AppStore interface {
	// AppFor returns an app and what the user is to it, who may be nothing to it.
	AppFor(ctx context.Context, user, name string) (model.App, model.Relation, error)
	Apps(ctx context.Context, q model.AppQuery) (model.Page[model.App], error)
	// CreateApp: CodeTaken.
	CreateApp(ctx context.Context, a model.App, o model.Origin) (model.App, error)
	// UpdateApp: CodeStale.
	UpdateApp(ctx context.Context, name string, base int64, description string, o model.Origin) (model.App, error)
	// DeleteApp: CodeStale; CodeInUse when a bucket lists it.
	DeleteApp(ctx context.Context, name string, base int64, o model.Origin) error
	SetMember(ctx context.Context, app string, m model.Member, o model.Origin) error
	RemoveMember(ctx context.Context, app, user string, o model.Origin) error
	// AppRoles returns the user's role in each of these apps of which it is a member; nil names: in every app.
	AppRoles(ctx context.Context, user string, names []string) (map[string]model.AppRole, error)
}

// UserStore keeps users.
type UserStore interface {
	User(ctx context.Context, name string) (model.User, error)
	Users(ctx context.Context, q model.UserQuery) (model.Page[model.User], error)
	// UserNames returns the names of enabled users that contain the text.
	UserNames(ctx context.Context, search string, limit int) ([]string, error)
	// CreateUser: CodeTaken.
	CreateUser(ctx context.Context, u model.User, o model.Origin) (model.User, error)
	// UpdateUser: CodeStale, CodeTaken, CodeLastAdmin. Disabling ends the user's sessions.
	UpdateUser(ctx context.Context, name string, base int64, p model.UserPatch, o model.Origin) (model.User, error)
	// SetPassword ends the user's sessions.
	SetPassword(ctx context.Context, id int64, hash string, o model.Origin) error
	// SessionsOf lists a user's living sessions.
	SessionsOf(ctx context.Context, userID int64) ([]model.Session, error)
	// EndSession ends the session of a user that has a public id.
	EndSession(ctx context.Context, userID int64, publicID string, o model.Origin) error
	// EndSessions ends a user's sessions but the one with the id keep, and tells how many.
	EndSessions(ctx context.Context, userID int64, keep string, o model.Origin) (int64, error)
}

// ChangeStore keeps the history.
type ChangeStore interface {
	// Changes lists history rows, newest first.
	Changes(ctx context.Context, q model.ChangeQuery) (model.Page[model.Change], error)
	// AppendChange adds a row about something that changed nothing, such as a refused attempt.
	AppendChange(ctx context.Context, c model.Change) error
	// AuditHead is where the history's chain stands.
	AuditHead(ctx context.Context) (audit.Head, error)
	// AuditEntries reads up to limit rows behind number after, oldest first, with their hashes.
	AuditEntries(ctx context.Context, q model.ChangeQuery, after int64, limit int) ([]audit.Entry, error)
	// Checkpoints reads up to limit checkpoints of rows behind number after, oldest first.
	Checkpoints(ctx context.Context, after int64, limit int) ([]audit.Checkpoint, error)
	// LastCheckpoint is the newest one; false where there is none.
	LastCheckpoint(ctx context.Context) (audit.Checkpoint, bool, error)
	// DeploymentID is what checkpoints name this history by.
	DeploymentID(ctx context.Context) (string, error)
}

// HistoryStore tells what buckets were, from their change rows, and brings it back.
type HistoryStore interface {
	// BucketPast tells where a bucket name stands, living or deleted, and what the user is to it; to a deleted one only its
	// owners are anything.
	BucketPast(ctx context.Context, user, name string) (model.BucketPast, model.Relation, error)
	BucketRevision(ctx context.Context, name string, revision int64) (model.Revision, error)
	// LastRevision is the one under which a deleted bucket lived last.
	LastRevision(ctx context.Context, name string) (model.Revision, error)
	// RollBackBucket makes an earlier definition, of the revision from, the next one. CodeStale.
	RollBackBucket(ctx context.Context, name string, base int64, d model.Definition, from int64, o model.Origin) (model.Bucket, error)
	// RestoreBucket makes a deleted bucket live again. CodeTaken when one of the name lives.
	RestoreBucket(ctx context.Context, name string, d model.Definition, from int64, o model.Origin) (model.Bucket, error)
	DeletedBuckets(ctx context.Context, q model.DeletedQuery) (model.Page[model.DeletedBucket], error)
	BucketAsOf(ctx context.Context, name string, at time.Time) (model.AsOf, error)
	// BucketsAsOf lists what was in force at an instant.
	BucketsAsOf(ctx context.Context, at time.Time, cursor string, limit int) (model.Page[model.AsOf], error)
	// PeopleAsOf lists the users of an instant; known is false when the rows that would tell have been pruned.
	PeopleAsOf(ctx context.Context, at time.Time) (people []model.PersonAsOf, known bool, err error)
	// KeptSince is the time of the oldest row that is kept, and whether older ones were pruned.
	KeptSince(ctx context.Context) (since time.Time, pruned bool, err error)
	// MembersAsOf tells the members that apps had; "*" stands for every app.
	MembersAsOf(ctx context.Context, apps []string, at time.Time) (map[string][]model.Member, error)
	// OverlaysAsOf lists what break-glass covered; known is false when rows were pruned that would tell of more.
	OverlaysAsOf(ctx context.Context, at time.Time) (all []model.Overlay, known bool, err error)
}

// Recorder keeps change rows of what anybody can cause as often as it likes, so that a flood of refused attempts makes
// few rows: repetitions may be counted and written later.
type Recorder interface {
	Record(ctx context.Context, c model.Change) error
}

// plainRecorder writes each event as it comes.
type plainRecorder struct{ store ChangeStore }

func (r plainRecorder) Record(ctx context.Context, c model.Change) error {
	return r.store.AppendChange(ctx, c)
}

// WebhookStore keeps the endpoints that changes are told to.
type WebhookStore interface {
	Webhook(ctx context.Context, name string) (model.Webhook, error)
	Webhooks(ctx context.Context) ([]model.Webhook, error)
	// CreateWebhook: CodeTaken; CodeInUse when there are too many.
	CreateWebhook(ctx context.Context, w model.Webhook, o model.Origin) (model.Webhook, error)
	// UpdateWebhook: CodeStale.
	UpdateWebhook(ctx context.Context, base int64, w model.Webhook, o model.Origin) (model.Webhook, error)
	// DeleteWebhook: CodeStale.
	DeleteWebhook(ctx context.Context, name string, base int64, o model.Origin) error
	SetWebhookSecret(ctx context.Context, name, secret string, o model.Origin) error
	// RedeliverWebhook makes the change from the next one that is told.
	RedeliverWebhook(ctx context.Context, name string, from int64, o model.Origin) error
	// ResumeWebhook lets an endpoint that failed be tried again at once.
	ResumeWebhook(ctx context.Context, name string) error
	NoteWebhookAttempt(ctx context.Context, name string, a model.WebhookAttempt) error
	WebhookAttempts(ctx context.Context, name string) ([]model.WebhookAttempt, error)
}

// Pusher makes Redis follow the database for one bucket. The API calls it after the commit with a short deadline; its
// failure is no failure of the request, for the outbox brings the bucket to Redis later.
type Pusher interface {
	Push(ctx context.Context, name string) error
	// PushAll does it for many, in about the time of one.
	PushAll(ctx context.Context, names []string) error
}

// Live reads from Redis. Its errors reach the user as CodeUnavailable without their text.
type Live interface {
	// State reads a bucket's definition and, where all callers share one state, the permits left in it.
	State(ctx context.Context, b model.Bucket) (State, error)
	// Usage reads what the SDKs reported in so many minutes up to LastMinute, that one included, with Redis's time.
	Usage(ctx context.Context, bucket string, minutes int, until int64) (Usage, error)
}

// State is what Redis has of one bucket.
type State struct {
	Present  bool      // a definition is installed
	Revision int64     // of that definition; 0 when absent
	Permits  *int64    // permits that could be acquired now, or free slots; nil for partitions with more than one state
	Held     *int64    // slots that are held now; nil as Permits, and for all algorithms but concurrency
	Now      time.Time // Redis's clock at the reading
}

// Usage is what was granted and refused, per app and minute, with the Redis time of the reading.
type Usage struct {
	Rows []UsageRow
	Now  time.Time
}

// UsageRow counts one app's permits in one minute.
type UsageRow struct {
	Minute        int64  `json:"minute" doc:"unix minute of Redis's clock"`
	App           string `json:"app"`
	Granted       int64  `json:"granted"`
	Limited       int64  `json:"limited"`
	ShadowLimited int64  `json:"shadow_limited" doc:"granted only because of shadow mode"`
}

// Health reads the state of the parts that the server leans on.
type Health interface {
	// Ready is nil when requests can be served: the database answers.
	Ready(ctx context.Context) error
	// System reads everything that the System page shows. Parts that do not answer are reported as such.
	System(ctx context.Context) System
}

// System is the state of the installation. Texts are for people and hold no addresses, passwords or SQL.
type System struct {
	Version  string     `json:"version"`
	Now      time.Time  `json:"now" doc:"by the clock of the server that answers"`
	Embedded bool       `json:"embedded" doc:"for evaluation: SQLite and Redis in process"`
	Database Part       `json:"database"`
	Redis    Part       `json:"redis"`
	Owner    RedisOwner `json:"owner"`
	Pending  int64      `json:"pending" doc:"buckets whose present revision Redis is not known to have"`

	Servers      []AdminServer `json:"servers" doc:"those that run, and those that fell silent within the last day; the longest running first"`
	ServersKnown bool          `json:"servers_known" doc:"the database told them"`
}

// AdminServer is a server of Headgate, as it tells of itself in the database every 5 s.
type AdminServer struct {
	ID        string            `json:"id" doc:"made at its start"`
	Host      string            `json:"host"`
	Version   string            `json:"version"`
	State     model.ServerState `json:"state" enum:"running,draining,silent" doc:"draining: it was told to stop and answers what it has in hand; silent: no word for 20 s"`
	SyncState string            `json:"sync_state" doc:"of its last reconcile pass, as in /system/sync"`
	This      bool              `json:"this" doc:"it is the one that answers"`
	StartedAt time.Time         `json:"started_at"`
	SeenAt    time.Time         `json:"seen_at" doc:"its last word, by its own clock"`
}

// Part is one thing that the server leans on.
type Part struct {
	Kind     string   `json:"kind" doc:"what it is, e.g. mariadb, sqlite, redis"`
	Version  string   `json:"version" doc:"empty when it does not answer"`
	OK       bool     `json:"ok" doc:"it answers"`
	TookUS   *int64   `json:"took_us" doc:"µs that it took to answer; null when it did not"`
	Message  string   `json:"message" doc:"what is wrong, in a sentence; empty when nothing is"`
	Warnings []string `json:"warnings" doc:"settings that are not safe, e.g. a maxmemory-policy that evicts"`
}

// RedisOwner says whose Redis it is.
type RedisOwner struct {
	Deployment string `json:"deployment" doc:"this deployment's id"`
	Redis      string `json:"redis" doc:"the id that Redis carries; empty when not known"`
	Ours       bool   `json:"ours" doc:"the two are the same"`
}
