package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Revision is a bucket name as one of its revisions left it.
type Revision struct {
	Revision   int64                   `json:"revision"`
	At         time.Time               `json:"at" doc:"from when it was in force"`
	Actor      string                  `json:"actor"`
	Action     model.Action            `json:"action"`
	Reason     string                  `json:"reason"`
	Definition *model.DefinitionFields `json:"definition" doc:"null when this revision deleted the bucket"`
}

// Comparison is what two revisions of a bucket differ in.
type Comparison struct {
	From   Revision    `json:"from"`
	To     Revision    `json:"to"`
	Fields []FieldDiff `json:"fields" doc:"empty when the definitions are equal"`
}

// FieldDiff is one field in which two definitions differ.
type FieldDiff struct {
	Field   string          `json:"field"`
	Before  json.RawMessage `json:"before" doc:"null where the bucket was deleted"`
	After   json.RawMessage `json:"after" doc:"null where the bucket was deleted"`
	Added   []string        `json:"added" doc:"of apps, owners and labels (as key=value): the entries that came"`
	Removed []string        `json:"removed" doc:"of apps, owners and labels: the entries that went"`
}

// TakeOver says which revision's definition to take over as the next revision.
type TakeOver struct {
	Revision int64    `json:"revision"`
	Apps     []string `json:"apps,omitempty" nullable:"true" doc:"instead of that revision's apps, e.g. when one is not registered any more"`
	Owners   []string `json:"owners,omitempty" nullable:"true" doc:"instead of that revision's owners, e.g. when one is disabled now"`
	Reason   string   `json:"reason" doc:"why, for the history"`
}

// BucketRestore brings a deleted bucket back.
type BucketRestore struct {
	Revision int64    `json:"revision,omitempty" doc:"whose definition to take over; default the last one before the deletion"`
	Apps     []string `json:"apps,omitempty" nullable:"true" doc:"instead of that revision's apps, e.g. when one is not registered any more"`
	Owners   []string `json:"owners,omitempty" nullable:"true" doc:"instead of that revision's owners, e.g. when one is disabled now"`
	Reason   string   `json:"reason" doc:"why, for the history"`
}

// DeletedBucket is a bucket that may be restored.
type DeletedBucket struct {
	Name       string                  `json:"name"`
	Revision   int64                   `json:"revision" doc:"of the deletion"`
	DeletedBy  string                  `json:"deleted_by"`
	DeletedAt  time.Time               `json:"deleted_at"`
	Reason     string                  `json:"reason"`
	Definition *model.DefinitionFields `json:"definition" doc:"the last one in force; null when the kept history does not reach back to the deletion"`
	MayRestore bool                    `json:"may_restore"`
}

func (s *server) getRevision(ctx context.Context, in *struct {
	Named
	Revision int64 `path:"revision"`
}) (*struct{ Body Revision }, error) {
	past, err := s.pastFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	revision, err := s.revisionOf(ctx, past, in.Revision)
	if err != nil {
		return nil, err
	}
	return &struct{ Body Revision }{showRevision(revision)}, nil
}

func (s *server) compareRevisions(ctx context.Context, in *struct {
	Named
	From int64 `path:"revision" doc:"the earlier one, or any"`
	To   int64 `path:"to"`
}) (*struct{ Body Comparison }, error) {
	past, err := s.pastFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	from, err := s.revisionOf(ctx, past, in.From)
	if err != nil {
		return nil, err
	}
	to, err := s.revisionOf(ctx, past, in.To)
	if err != nil {
		return nil, err
	}
	body := Comparison{From: showRevision(from), To: showRevision(to), Fields: []FieldDiff{}}
	for _, d := range model.Diff(from.Definition, to.Definition) {
		body.Fields = append(body.Fields, FieldDiff(d))
	}
	return &struct{ Body Comparison }{body}, nil
}

func (s *server) rollBackBucket(ctx context.Context, in *struct {
	Named
	Based
	Body TakeOver
}) (*versioned[Bucket], error) {
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
	past := model.BucketPast{Name: present.Name, Revision: present.Revision, CreatedRevision: present.CreatedRevision}
	old, err := s.revisionOf(ctx, past, in.Body.Revision)
	switch {
	case model.CodeOf(err) == model.CodeNotFound:
		return nil, invalidField("revision", "is not one that the history keeps of this bucket")
	case err != nil:
		return nil, err
	case old.Definition == nil:
		return nil, invalidField("revision", "is that of a deletion; it has no definition")
	case in.Body.Revision == present.Revision:
		return nil, invalidField("revision", "is the present one")
	}
	d := taken(&old, in.Body.Apps, in.Body.Owners)
	if err := together("the bucket", d.Validate(), model.ValidateReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	if err := s.mayList(ctx, d.Apps, present.Apps); err != nil {
		return nil, err
	}
	b, err := s.Store.RollBackBucket(ctx, in.Name, base, d, old.Revision, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, s.staleBucket(ctx, in.Name, err)
	}
	b.Sync = s.push(ctx, b.Name, b.Revision)
	return answerBucket(ctx, b), nil
}

func (s *server) restoreBucket(ctx context.Context, in *struct {
	Named
	Body BucketRestore
}) (*versioned[Bucket], error) {
	past, err := s.pastFor(ctx, in.Name, auth.BucketEdit)
	if err != nil {
		return nil, err
	}
	if !past.Deleted {
		return nil, model.Errorf(model.CodeTaken, "the bucket %s is there; only a deleted one can be restored", in.Name)
	}
	last, err := s.Store.LastRevision(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	old := last
	if in.Body.Revision != 0 {
		if old, err = s.revisionOf(ctx, past, in.Body.Revision); model.CodeOf(err) == model.CodeNotFound {
			return nil, invalidField("revision", "is not one that the history keeps of this bucket")
		} else if err != nil {
			return nil, err
		}
	}
	if old.Definition == nil {
		return nil, invalidField("revision", "is that of a deletion; it has no definition")
	}
	d := taken(&old, in.Body.Apps, in.Body.Owners)
	if err := together("the bucket", d.Validate(), model.ValidateReason(in.Body.Reason)); err != nil {
		return nil, err
	}
	var before []string
	if last.Definition != nil {
		before = last.Definition.Apps
	}
	if err := s.mayList(ctx, d.Apps, before); err != nil {
		return nil, err
	}
	b, err := s.Store.RestoreBucket(ctx, in.Name, d, old.Revision, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, err
	}
	b.Sync = s.push(ctx, b.Name, b.Revision)
	return answerBucket(ctx, b), nil
}

func (s *server) listDeleted(ctx context.Context, in *struct {
	Paged
	Search string `query:"search" doc:"part of the name or the description"`
}) (*listed[DeletedBucket], error) {
	page, err := s.Store.DeletedBuckets(ctx, model.DeletedQuery{
		Viewer: viewer(principalOf(ctx), auth.BucketSee), Search: in.Search, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	return listOf(page, func(b model.DeletedBucket) DeletedBucket { return showDeleted(ctx, b) }), nil
}

// getDeleted finds a deleted bucket that listDeleted would list.
func (s *server) getDeleted(ctx context.Context, in *Named) (*struct{ Body DeletedBucket }, error) {
	page, err := s.Store.DeletedBuckets(ctx, model.DeletedQuery{Viewer: viewer(principalOf(ctx), auth.BucketSee), Name: in.Name})
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, noBucket(in.Name)
	}
	return &struct{ Body DeletedBucket }{showDeleted(ctx, page.Items[0])}, nil
}

func showDeleted(ctx context.Context, b model.DeletedBucket) DeletedBucket {
	p := principalOf(ctx)
	// Who does not see all sees its own, and as their owner may restore them.
	may := p.May(auth.BucketEdit, model.Relation{BucketOwner: !p.Everywhere(auth.BucketSee)})
	return DeletedBucket{
		Name: b.Name, Revision: b.Revision, DeletedBy: b.DeletedBy, DeletedAt: utc(b.DeletedAt), Reason: b.Reason,
		Definition: showDefinition(b.Definition), MayRestore: may && b.Definition != nil,
	}
}

// pastFor finds out where a bucket name stands, for someone who needs a permission on it, living or deleted. What may not
// be seen is not found.
func (s *server) pastFor(ctx context.Context, name string, needs auth.Permission) (model.BucketPast, error) {
	p := principalOf(ctx)
	past, relation, err := s.Store.BucketPast(ctx, p.Name, name)
	if err == nil && !p.May(auth.BucketSee, relation) {
		err = noBucket(name)
	}
	if model.CodeOf(err) == model.CodeNotFound {
		return past, noBucket(name)
	}
	if err == nil && !p.May(needs, relation) {
		err = auth.Missing(needs)
	}
	return past, err
}

// revisionOf reads a revision. Those of an earlier bucket of the name are hidden from those who may not read the whole log.
func (s *server) revisionOf(ctx context.Context, past model.BucketPast, revision int64) (model.Revision, error) {
	if revision < past.CreatedRevision && !principalOf(ctx).Everywhere(auth.AuditRead) {
		revision = 0 // which none has, so that the answer is the same as for one that never was
	}
	found, err := s.Store.BucketRevision(ctx, past.Name, revision)
	if model.CodeOf(err) == model.CodeNotFound {
		return found, model.Errorf(model.CodeNotFound, "the history that is kept has no such revision of this bucket")
	}
	return found, err
}

// taken is an earlier definition with its owners under their present names, and with other apps and owners where those
// are given.
func taken(old *model.Revision, apps, owners []string) model.Definition {
	d := *old.Definition
	d.Owners = old.OwnersNow
	if apps != nil {
		d.Apps = apps
	}
	if owners != nil {
		d.Owners = owners
	}
	return d
}

func showRevision(r model.Revision) Revision {
	return Revision{
		Revision: r.Revision, At: utc(r.At), Actor: r.Actor, Action: r.Action, Reason: r.Reason, Definition: showDefinition(r.Definition),
	}
}

func showDefinition(d *model.Definition) *model.DefinitionFields {
	if d == nil {
		return nil
	}
	fields := d.Fields()
	return &fields
}
