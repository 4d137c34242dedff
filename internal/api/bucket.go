package api

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Bucket is a bucket as the API shows it.
type Bucket struct {
	Name string `json:"name"`
	model.DefinitionFields
	Revision  int64     `json:"revision"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedBy string    `json:"updated_by"`
	UpdatedAt time.Time `json:"updated_at"`
	Sync      Sync      `json:"sync"`
	May       May       `json:"may"`
}

// Sync says whether Redis has the present revision of a bucket.
type Sync struct {
	State             string `json:"state" doc:"synced when Redis has the present revision"`
	InstalledRevision int64  `json:"installed_revision" doc:"the newest revision that Redis is known to have; 0 = none"`
	Message           string `json:"message" doc:"why it is pending, in a sentence; empty when it is synced"`
}

// May says what the caller may do with a resource.
type May struct {
	Edit   bool `json:"edit"`
	Delete bool `json:"delete"`
}

// DefinitionInput are the fields of a definition as a client sends them; those left out get their defaults.
type DefinitionInput struct {
	Description    string              `json:"description,omitempty"`
	Labels         map[string]string   `json:"labels,omitempty" doc:"for filtering; keys and values of up to 63 characters"`
	Apps           []string            `json:"apps,omitempty" doc:"names of registered apps, or * for all of them"`
	Owners         []string            `json:"owners,omitempty" doc:"users who may edit and delete the bucket; at creation the default is oneself"`
	Algorithm      model.Algorithm     `json:"algorithm,omitempty" doc:"default token_bucket; another one starts the state anew, as after a data loss"`
	MaxPermits     int64               `json:"max_permits" doc:"token_bucket: the capacity, which is the largest burst; windows and sliding_log: the limit of a period; concurrency: the slots; sliding_log and concurrency take at most 100000"`
	Rate           *int64              `json:"rate,omitempty" nullable:"true" doc:"token_bucket: permits added per period, at least 1; for the others left out, null or 0"`
	PeriodMS       *int64              `json:"period_ms,omitempty" doc:"default 1000; concurrency: the lease time, at least 1000, default 30000"`
	Partition      model.Partition     `json:"partition,omitempty" doc:"default shared; another one starts the state anew"`
	Shards         *int                `json:"shards,omitempty" doc:"slots over which keys are spread on Redis Cluster; default 1; more only with the key partitions; another number starts the state anew"`
	Mode           model.Mode          `json:"mode,omitempty" doc:"default enforce"`
	MaxWaitMS      *int64              `json:"max_wait_ms,omitempty" doc:"default 10000; 0 = no waiting"`
	OnRedisFailure model.FailurePolicy `json:"on_redis_failure,omitempty" doc:"default open"`
	AfterLoss      model.LossPolicy    `json:"after_loss,omitempty" doc:"default full for the key partitions, refill for the others"`
}

// BucketCreate makes a bucket.
type BucketCreate struct {
	Name string `json:"name" doc:"1..128 of A-Z a-z 0-9 . _ - starting with a letter or digit; it can't be changed later"`
	DefinitionInput
	Reason string `json:"reason" doc:"why, for the history"`
}

// BucketUpdate replaces a bucket's definition.
type BucketUpdate struct {
	DefinitionInput
	Reason string `json:"reason" doc:"why, for the history"`
}

// definition fills in the defaults and checks every field. An explicit 0 is no default: it is checked.
func (in *DefinitionInput) definition() (model.Definition, error) {
	fields := model.DefinitionFields{
		Description: in.Description, Labels: in.Labels, Apps: in.Apps, Owners: in.Owners, Algorithm: in.Algorithm,
		MaxPermits: in.MaxPermits, Rate: valueOr(in.Rate, 0), Partition: in.Partition, Mode: in.Mode,
		OnRedisFailure: in.OnRedisFailure, AfterLoss: in.AfterLoss,
		PeriodMS:  valueOr(in.PeriodMS, in.Algorithm.DefaultPeriod().Milliseconds()),
		Shards:    valueOr(in.Shards, 1),
		MaxWaitMS: valueOr(in.MaxWaitMS, model.DefaultMaxWait.Milliseconds()),
	}
	checked := fields.Definition()
	setDefaults(&checked)
	err := checked.Validate() // before sorting, so that apps[3] is the client's fourth
	d := fields.Definition()
	d.SetDefaults()
	return d, err
}

// setDefaults fills in the defaults but leaves the order of the lists and an explicit 0 as they are.
func setDefaults(d *model.Definition) {
	apps, owners, period, shards := d.Apps, d.Owners, d.Period, d.Shards
	d.SetDefaults()
	d.Apps, d.Owners, d.Period, d.Shards = apps, owners, period, shards
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func (s *server) listBuckets(ctx context.Context, in *struct {
	Paged
	Search string     `query:"search" doc:"part of the name or the description, in upper or lower case"`
	App    string     `query:"app"`
	Owner  string     `query:"owner"`
	Label  string     `query:"label" doc:"key=value, or a key for any value"`
	Mode   model.Mode `query:"mode"`
	Sync   string     `query:"sync" doc:"synced or pending"`
	Sort   string     `query:"sort" doc:"name (default) or updated_at; a leading - turns it round"`
}) (*listed[Bucket], error) {
	q := model.BucketQuery{
		Viewer: viewer(principalOf(ctx), auth.BucketSee), Search: in.Search, App: in.App, Owner: in.Owner, Label: in.Label,
		Mode: in.Mode, Sync: in.Sync, Sort: in.Sort, Cursor: in.Cursor, Limit: in.Limit,
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	page, err := s.Store.Buckets(ctx, q)
	if err != nil {
		return nil, err
	}
	return listOf(page, func(b model.Bucket) Bucket { return showBucket(ctx, b) }), nil
}

func (s *server) getBucket(ctx context.Context, in *Named) (*versioned[Bucket], error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	return answerBucket(ctx, b), nil
}

func (s *server) createBucket(ctx context.Context, in *struct{ Body BucketCreate }) (*versioned[Bucket], error) {
	body := &in.Body
	if len(body.Owners) == 0 {
		body.Owners = []string{principalOf(ctx).Name}
	}
	d, invalid := body.definition()
	if err := together("the bucket", model.ValidateBucketName(body.Name), invalid, model.ValidateReason(body.Reason)); err != nil {
		return nil, err
	}
	if err := s.mayCreate(ctx, d.Apps); err != nil {
		return nil, err
	}
	if err := s.mayList(ctx, body.Apps, nil); err != nil {
		return nil, err
	}
	b, err := s.Store.CreateBucket(ctx, body.Name, d, originOf(ctx, body.Reason))
	if err != nil {
		return nil, err
	}
	b.Sync = s.push(ctx, b.Name, b.Revision)
	return answerBucket(ctx, b), nil
}

func (s *server) updateBucket(ctx context.Context, in *struct {
	Named
	Based
	Body BucketUpdate
}) (*versioned[Bucket], error) {
	present, err := s.bucketFor(ctx, in.Name, auth.BucketEdit)
	if err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	if base != present.Revision { // the rights were read at the present revision, and hold for no other
		return nil, stale(present.Revision, showBucket(ctx, present))
	}
	d, invalid := in.Body.definition()
	if err := together("the bucket", invalid, model.ValidateReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	if err := s.mayList(ctx, in.Body.Apps, present.Apps); err != nil {
		return nil, err
	}
	b, err := s.Store.UpdateBucket(ctx, in.Name, base, d, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, s.staleBucket(ctx, in.Name, err)
	}
	b.Sync = s.push(ctx, b.Name, b.Revision)
	return answerBucket(ctx, b), nil
}

// BucketDeleted answers a deletion.
type BucketDeleted struct {
	Revision int64 `json:"revision" doc:"of the deletion; a bucket made again under this name counts on from it"`
	Sync     Sync  `json:"sync"`
}

func (s *server) deleteBucket(ctx context.Context, in *struct {
	Named
	Based
	Reason string `query:"reason" doc:"why, for the history; 1..500 characters"`
}) (*struct{ Body BucketDeleted }, error) {
	present, err := s.bucketFor(ctx, in.Name, auth.BucketEdit)
	if err != nil {
		return nil, err
	}
	base, err := in.revision()
	if err != nil {
		return nil, err
	}
	if base != present.Revision {
		return nil, stale(present.Revision, showBucket(ctx, present))
	}
	if err := model.ValidateReason(in.Reason); err != nil {
		return nil, err
	}
	revision, err := s.Store.DeleteBucket(ctx, in.Name, base, originOf(ctx, in.Reason))
	if err != nil {
		return nil, s.staleBucket(ctx, in.Name, err)
	}
	return &struct{ Body BucketDeleted }{BucketDeleted{
		Revision: revision, Sync: showSync(revision, s.push(ctx, in.Name, revision)),
	}}, nil
}

// staleBucket adds the present bucket to a refusal that is due to it.
func (s *server) staleBucket(ctx context.Context, name string, err error) error {
	if model.CodeOf(err) != model.CodeStale {
		return err
	}
	b, err := s.bucketFor(ctx, name, auth.BucketSee)
	if err != nil {
		return err
	}
	return stale(b.Revision, showBucket(ctx, b))
}

// push brings a saved revision to Redis and says whether it is there. The save stands whatever happens here, even when
// the client has left: the outbox brings it later.
func (s *server) push(ctx context.Context, name string, revision int64) model.SyncState {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterAnswer)
	defer cancel()
	if err := s.Pusher.Push(ctx, name); err != nil {
		s.log.WarnContext(ctx, "bucket not pushed yet", "bucket", name, "revision", revision, "request_id", callOf(ctx).requestID, "cause", err)
	}
	// Another context: reading what Redis has must not fail because the push used up the time.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), afterAnswer)
	defer cancel()
	row, err := s.Store.SyncRow(ctx, name)
	if err != nil {
		s.log.WarnContext(ctx, "sync state not read", "bucket", name, "request_id", callOf(ctx).requestID, "cause", err)
		return model.SyncState{Pending: true}
	}
	return model.SyncState{InstalledRevision: row.InstalledRevision, Pending: row.InstalledRevision < revision, LastError: row.LastError}
}

func answerBucket(ctx context.Context, b model.Bucket) *versioned[Bucket] {
	return &versioned[Bucket]{ETag: etag(b.Revision), Body: showBucket(ctx, b)}
}

func showBucket(ctx context.Context, b model.Bucket) Bucket {
	p := principalOf(ctx)
	edit := p.May(auth.BucketEdit, model.Relation{BucketOwner: slices.Contains(b.Owners, p.Name)})
	return Bucket{
		Name: b.Name, DefinitionFields: b.Fields(), Revision: b.Revision,
		CreatedBy: b.CreatedBy, CreatedAt: utc(b.CreatedAt), UpdatedBy: b.UpdatedBy, UpdatedAt: utc(b.UpdatedAt),
		Sync: showSync(b.Revision, b.Sync), May: May{Edit: edit, Delete: edit},
	}
}

func showSync(revision int64, state model.SyncState) Sync {
	if state.Pending || state.InstalledRevision < revision {
		message := "saved; Redis does not have this revision yet and will get it by itself"
		if state.LastError != "" { // fit for people, see reconcile
			message = "saved; Redis does not have this revision yet: " + state.LastError
		}
		return Sync{State: model.SyncPending, InstalledRevision: state.InstalledRevision, Message: message}
	}
	return Sync{State: model.SyncSynced, InstalledRevision: state.InstalledRevision}
}
