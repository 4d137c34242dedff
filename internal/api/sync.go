package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Syncer tells how far Redis and the applications have followed the database. Its errors are *model.Error, and what they
// say is fit for users.
type Syncer interface {
	// BucketSync compares one bucket with Redis and the applications that beat there. CodeUnavailable when Redis does not
	// answer.
	BucketSync(ctx context.Context, name string) (BucketSync, error)
	// SystemSync tells of all buckets, by the last passes of this server.
	SystemSync(ctx context.Context) (SystemSync, error)
	// Instances lists the live SDK instances, whatever they use. CodeUnavailable when Redis does not answer.
	Instances(ctx context.Context) ([]SystemInstance, error)
	// Reconcile makes a full pass now. CodeForeignRedis, CodeUnavailable.
	Reconcile(ctx context.Context) error
}

// BucketSync proves where a bucket's last edit has arrived.
type BucketSync struct {
	Revision          int64          `json:"revision" doc:"in the database"`
	InstalledRevision int64          `json:"installed_revision" doc:"the newest that Redis is known to have had; 0 = none"`
	RedisRevision     int64          `json:"redis_revision" doc:"that Redis has now; 0 = none"`
	Drift             []string       `json:"drift" doc:"fields in which Redis differs though nothing is waiting to bring them, or missing, revision, deleted, shards, damaged; the next repair puts them right"`
	Pending           bool           `json:"pending" doc:"the present revision is waiting to be brought to Redis"`
	Message           string         `json:"message" doc:"what holds it up, in a sentence; empty when nothing does"`
	Instances         []SyncInstance `json:"instances" doc:"live SDK instances that use the bucket; they tell so every 5 s"`
	Converged         bool           `json:"converged" doc:"Redis equals the database, and every instance listed decides by this revision"`
	TookMS            *int64         `json:"took_ms" doc:"from the commit of the last edit until Redis was known to have it; null while it has not, or when it was not measured"`
}

// SyncInstance is a live SDK instance that uses a bucket.
type SyncInstance struct {
	ID       string    `json:"id"`
	App      string    `json:"app"`
	Host     string    `json:"host"`
	Version  string    `json:"version" doc:"of the SDK"`
	Revision int64     `json:"revision" doc:"that it decides by; 0 while it has learned none"`
	LastSeen time.Time `json:"last_seen" doc:"its last heartbeat, by Redis's clock"`
}

// SystemSync is how Redis stands to the database as a whole.
type SystemSync struct {
	State       string     `json:"state" enum:"starting,ok,redis_down,database_down,foreign" doc:"of this server's last pass"`
	Since       time.Time  `json:"since" doc:"when that state began"`
	Pending     int64      `json:"pending" doc:"buckets that wait to be brought to Redis"`
	Drifted     int64      `json:"drifted" doc:"buckets that the last full comparison found to differ, and put right"`
	Orphans     int        `json:"orphans" doc:"definitions that only Redis has; they are left alone"`
	OrphanNames []string   `json:"orphan_names" doc:"the first 100 of them, sorted"`
	LastPass    *time.Time `json:"last_pass" doc:"end of the last pass that went through; null before the first"`
	LastRepair  *time.Time `json:"last_repair" doc:"end of the last full comparison; null before the first"`
	LastLoss    *time.Time `json:"last_loss" doc:"when a loss of state in Redis was last found; null when none was"`
	Message     string     `json:"message" doc:"what is wrong, in a sentence; empty when nothing is"`

	LastDrift      *time.Time      `json:"last_drift" doc:"end of the last full comparison that found something to differ; null when none did since this server's start"`
	Drift          []Drifted       `json:"drift" doc:"what that one found, at most 100; empty for API tokens that may not see buckets"`
	PendingBuckets []PendingBucket `json:"pending_buckets" doc:"the first 100 buckets that wait, those changed longest ago first; empty for API tokens that may not see buckets"`
}

// Drifted is a bucket that differed in Redis though nothing was waiting to bring it.
type Drifted struct {
	Bucket string   `json:"bucket"`
	Fields []string `json:"fields" doc:"in which Redis differed; revision, deleted, missing, head or damaged stand for the whole"`
}

// PendingBucket is a bucket that waits to be brought to Redis.
type PendingBucket struct {
	Bucket            string           `json:"bucket"`
	Deleted           bool             `json:"deleted" doc:"its delete is what waits"`
	Revision          int64            `json:"revision" doc:"in the database"`
	InstalledRevision int64            `json:"installed_revision" doc:"the newest that Redis is known to have had; 0 = none"`
	ChangedAt         time.Time        `json:"changed_at"`
	Reason            model.SyncReason `json:"reason" enum:",redis_down,refused,foreign,unknown_format,invalid,alien,busy,other" doc:"what holds it up; empty when nothing is known to"`
	Message           string           `json:"message" doc:"the reason in a sentence"`
	Attempts          int              `json:"attempts" doc:"tries that failed"`
	NextAt            time.Time        `json:"next_at" doc:"of the next try"`
}

// ReconcileNow asks for a full pass.
type ReconcileNow struct {
	Reason string `json:"reason" doc:"why, for the history"`
}

func (s *server) bucketSync(ctx context.Context, in *Named) (*struct{ Body BucketSync }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	sync, err := s.Sync.BucketSync(ctx, b.Name)
	if err != nil {
		return nil, err
	}
	sync.Drift, sync.Instances = append([]string{}, sync.Drift...), append([]SyncInstance{}, sync.Instances...)
	names, err := s.appNamesOf(ctx, &b)
	if err != nil {
		return nil, err
	}
	sync.Converged = !sync.Pending && len(sync.Drift) == 0 && sync.RedisRevision == sync.Revision
	for i := range sync.Instances {
		one := &sync.Instances[i]
		one.LastSeen = utc(one.LastSeen)
		one.App, one.Host = names.place(one.App, one.Host)
		sync.Converged = sync.Converged && one.Revision == sync.Revision
	}
	return &struct{ Body BucketSync }{sync}, nil
}

func (s *server) systemSync(ctx context.Context, _ *struct{}) (*struct{ Body SystemSync }, error) {
	sync, err := s.Sync.SystemSync(ctx)
	if err != nil {
		return nil, err
	}
	sync.OrphanNames = append([]string{}, sync.OrphanNames...)
	if !principalOf(ctx).Everywhere(auth.BucketSee) {
		sync.Drift, sync.PendingBuckets = nil, nil
	}
	sync.Drift, sync.PendingBuckets = append([]Drifted{}, sync.Drift...), append([]PendingBucket{}, sync.PendingBuckets...)
	return &struct{ Body SystemSync }{sync}, nil
}

// reconcileNow records who asked before it does it: a pass that fails was asked for all the same.
func (s *server) reconcileNow(ctx context.Context, in *struct{ Body ReconcileNow }) (*struct{ Body SystemSync }, error) {
	if err := together("the request", model.ValidateReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	o := originOf(ctx, in.Body.Reason)
	err := s.Store.AppendChange(ctx, model.Change{
		At: s.Now().UTC(), Actor: o.Actor, Action: model.ActionReconcile, TargetKind: model.TargetSystem, Target: model.SyncTarget,
		Reason: o.Reason, Address: o.Address, RequestID: o.RequestID, Token: o.Token,
	})
	if err != nil {
		return nil, err
	}
	if err := s.Sync.Reconcile(ctx); err != nil {
		return nil, err
	}
	return s.systemSync(ctx, nil)
}

// noSyncer stands in where the server was made without one.
type noSyncer struct{}

func (noSyncer) BucketSync(context.Context, string) (BucketSync, error) {
	return BucketSync{}, errNoSyncer
}
func (noSyncer) SystemSync(context.Context) (SystemSync, error)      { return SystemSync{}, errNoSyncer }
func (noSyncer) Instances(context.Context) ([]SystemInstance, error) { return nil, errNoSyncer }
func (noSyncer) Reconcile(context.Context) error                     { return errNoSyncer }

var errNoSyncer = model.Errorf(model.CodeUnavailable, "this server does not tell of Redis")
