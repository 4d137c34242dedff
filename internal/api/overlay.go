package api

import (
	"context"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// OverlayStore keeps what break-glass covers.
type OverlayStore interface {
	// Overlays lists those in force, the oldest first.
	Overlays(ctx context.Context) ([]model.Overlay, error)
	// StartOverlay: CodeTaken when the same is covered already; CodeInUse when there are too many.
	StartOverlay(ctx context.Context, overlay model.Overlay, o model.Origin) (model.Overlay, error)
	// EndOverlay: CodeNotFound when it is not in force.
	EndOverlay(ctx context.Context, id int64, o model.Origin) error
}

// OverlayPusher makes Redis follow the database for break-glass, as Pusher does for a bucket: its failure is no failure of
// the request.
type OverlayPusher interface {
	PushOverlay(ctx context.Context) error
}

// breakGlassWord is what has to be typed.
const breakGlassWord = "SHADOW"

// BreakGlass is a break-glass in force.
type BreakGlass struct {
	ID        int64              `json:"id"`
	Scope     model.OverlayScope `json:"scope" doc:"all, or app: the calls of one app in whatever bucket"`
	App       string             `json:"app" doc:"of scope app, else empty"`
	Reason    string             `json:"reason"`
	StartedBy string             `json:"started_by"`
	StartedAt time.Time          `json:"started_at"`
}

// BreakGlassStart puts everything, or one app's calls, into shadow.
type BreakGlassStart struct {
	Scope   model.OverlayScope `json:"scope" doc:"all or app"`
	App     string             `json:"app,omitempty" doc:"of scope app: whose calls"`
	Reason  string             `json:"reason" doc:"why; everybody sees it until it ends"`
	Confirm string             `json:"confirm" doc:"the word SHADOW"`
}

// BreakGlassSync tells how far Redis has followed.
type BreakGlassSync struct {
	Sync string `json:"sync" doc:"synced: Redis says so, and clients follow within two seconds; pending: it will as soon as it answers"`
}

// BreakGlassStarted is a break-glass that has just begun.
type BreakGlassStarted struct {
	BreakGlass
	BreakGlassSync
}

// listBreakGlass tells everybody of what covers everything, and of an app's calls those who may see the app, or a bucket
// that lists it by name: the limits of that bucket do not hold then.
func (s *server) listBreakGlass(ctx context.Context, _ *struct{}) (*listed[BreakGlass], error) {
	all, err := s.Store.Overlays(ctx)
	if err != nil {
		return nil, err
	}
	names, err := s.appNamesOf(ctx, &model.Bucket{})
	if err != nil {
		return nil, err
	}
	seen := all[:0]
	for _, o := range all {
		told := o.Scope == model.OverlayAll || names.name(o.App) != otherApps
		if !told {
			if told, err = s.seesBucketOf(ctx, o.App); err != nil {
				return nil, err
			}
		}
		if told {
			seen = append(seen, o)
		}
	}
	return listOf(model.Page[model.Overlay]{Items: seen}, showBreakGlass), nil
}

// seesBucketOf tells whether the principal may see a bucket that lists the app by name.
func (s *server) seesBucketOf(ctx context.Context, app string) (bool, error) {
	eyes := viewer(principalOf(ctx), auth.BucketSee)
	page, err := s.Store.Buckets(ctx, model.BucketQuery{Viewer: eyes, App: app, Limit: 1})
	return len(page.Items) > 0, err
}

func (s *server) startBreakGlass(ctx context.Context, in *struct{ Body BreakGlassStart }) (*struct{ Body BreakGlassStarted }, error) {
	overlay := model.Overlay{Scope: in.Body.Scope, App: in.Body.App, Reason: in.Body.Reason}
	var confirmed error
	if in.Body.Confirm != breakGlassWord {
		confirmed = invalidField("confirm", "must be the word %s", breakGlassWord)
	}
	if err := together("break-glass", overlay.Validate(), confirmed); err != nil {
		return nil, err
	}
	overlay, err := s.Store.StartOverlay(ctx, overlay, originOf(ctx, in.Body.Reason))
	if err != nil {
		return nil, err
	}
	return &struct{ Body BreakGlassStarted }{BreakGlassStarted{showBreakGlass(overlay), s.pushOverlay(ctx)}}, nil
}

func (s *server) endBreakGlass(ctx context.Context, in *struct {
	ID int64 `path:"id"`
	Reasoned
}) (*struct{ Body BreakGlassSync }, error) {
	if err := model.ValidateOptionalReason(in.Reason); err != nil {
		return nil, err
	}
	if err := s.Store.EndOverlay(ctx, in.ID, originOf(ctx, in.Reason)); err != nil {
		return nil, err
	}
	return &struct{ Body BreakGlassSync }{s.pushOverlay(ctx)}, nil
}

// pushOverlay makes Redis follow what was just committed. Where that fails each tick of every server tries again.
func (s *server) pushOverlay(ctx context.Context) BreakGlassSync {
	if err := s.Overlay.PushOverlay(ctx); err != nil {
		s.log.WarnContext(ctx, "Redis does not know of break-glass yet", "request_id", callOf(ctx).requestID, "cause", err)
		return BreakGlassSync{"pending"}
	}
	return BreakGlassSync{"synced"}
}

func showBreakGlass(o model.Overlay) BreakGlass {
	return BreakGlass{ID: o.ID, Scope: o.Scope, App: o.App, Reason: o.Reason, StartedBy: o.StartedBy, StartedAt: o.StartedAt.UTC()}
}
