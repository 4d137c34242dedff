package api

import (
	"context"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// BucketAsOf is a bucket at an instant, read from the history.
type BucketAsOf struct {
	Name       string                  `json:"name"`
	At         time.Time               `json:"at"`
	State      model.AsOfState         `json:"state" doc:"absent: not made yet; before_kept_history: the rows that would tell have been pruned"`
	Revision   int64                   `json:"revision" doc:"the newest at that instant; 0 = none, or not kept"`
	Since      *time.Time              `json:"since" doc:"when that revision was made; null when it is not kept"`
	By         string                  `json:"by" doc:"who made it"`
	Reason     string                  `json:"reason"`
	Definition *model.DefinitionFields `json:"definition" doc:"null unless it was in force"`
}

// BucketAsOfPeople is a bucket at an instant with those who could change and see it, and the break-glass that covered it.
type BucketAsOfPeople struct {
	BucketAsOf
	CouldChange []PersonAsOf     `json:"could_change" nullable:"true" doc:"its owners and the admins at that instant; null for those who may not read the whole log, and when it is not kept"`
	CouldSee    []PersonAsOf     `json:"could_see" nullable:"true" doc:"the members of its apps and the auditors at that instant; null as could_change"`
	BreakGlass  []BreakGlassAsOf `json:"break_glass" nullable:"true" doc:"what put all or some of its calls into shadow at that instant; null as could_change"`
}

// BreakGlassAsOf is a break-glass that was in force at an instant.
type BreakGlassAsOf struct {
	Scope  model.OverlayScope `json:"scope" doc:"all, or app: the calls of one app"`
	App    string             `json:"app" doc:"of scope app, else empty"`
	Since  *time.Time         `json:"since" doc:"null when its start was pruned, as by and reason are empty then"`
	By     string             `json:"by"`
	Reason string             `json:"reason"`
}

// PersonAsOf is somebody with rights at an instant.
type PersonAsOf struct {
	User     string `json:"user"`
	As       string `json:"as" doc:"owner (of the bucket), admin, auditor, app_owner or app_viewer"`
	App      string `json:"app,omitempty" doc:"of which it was a member"`
	Disabled bool   `json:"disabled" doc:"it could not log in, and so not use the right"`
}

// BucketsAsOf is one page of all that was in force at an instant.
type BucketsAsOf struct {
	At     time.Time    `json:"at"`
	Kept   *time.Time   `json:"kept_since" doc:"what happened before was pruned; null when nothing was"`
	Items  []BucketAsOf `json:"items" doc:"by name; what was not in force is left out, so a page may be short though more follow"`
	Next   string       `json:"next" doc:"cursor of the next page; empty on the last"`
	Admins []PersonAsOf `json:"admins" nullable:"true" doc:"who could change every bucket, beside the owners in its definition; null when it is not kept"`
	Owners []PersonAsOf `json:"owners" nullable:"true" doc:"the owners of these buckets, and whether they could log in"`

	BreakGlass []BreakGlassAsOf `json:"break_glass" nullable:"true" doc:"what put calls into shadow at that instant, whatever the definitions said; null when it is not kept"`
}

func (s *server) bucketAsOf(ctx context.Context, in *struct {
	Named
	At time.Time `query:"at" required:"true" doc:"an instant, as 2006-01-02T15:04:05Z"`
}) (*struct{ Body BucketAsOfPeople }, error) {
	past, err := s.pastFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	if err := s.notLater(in.At); err != nil {
		return nil, err
	}
	found, err := s.Store.BucketAsOf(ctx, in.Name, in.At)
	if err != nil {
		return nil, err
	}
	whole := principalOf(ctx).Everywhere(auth.AuditRead)
	if !whole && found.Revision < past.CreatedRevision && found.State != model.AsOfUnknown {
		found = model.AsOf{Name: found.Name, State: model.AsOfAbsent} // an earlier one of the name is none of its business
	}
	body := BucketAsOfPeople{BucketAsOf: showAsOf(found, in.At)}
	if whole && found.Definition != nil {
		if err := s.peopleAsOf(ctx, in.At, found.Definition, &body); err != nil {
			return nil, err
		}
		body.BreakGlass, err = s.breakGlassAsOf(ctx, in.At, func(o *model.Overlay) bool {
			return o.Scope == model.OverlayAll || slices.Contains(found.Definition.Apps, o.App) || slices.Contains(found.Definition.Apps, model.AllApps)
		})
	}
	return &struct{ Body BucketAsOfPeople }{body}, err
}

func (s *server) bucketsAsOf(ctx context.Context, in *struct {
	Paged
	At time.Time `query:"at" required:"true" doc:"an instant, as 2006-01-02T15:04:05Z"`
}) (*struct{ Body BucketsAsOf }, error) {
	if err := s.notLater(in.At); err != nil {
		return nil, err
	}
	page, err := s.Store.BucketsAsOf(ctx, in.At, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	body := BucketsAsOf{At: utc(in.At), Items: []BucketAsOf{}, Next: page.Next}
	var owners []string
	for _, one := range page.Items {
		body.Items = append(body.Items, showAsOf(one, in.At))
		if one.Definition != nil {
			owners = append(owners, one.Definition.Owners...)
		}
	}
	since, pruned, err := s.Store.KeptSince(ctx)
	if err != nil {
		return nil, err
	}
	if pruned {
		body.Kept = &since
	}
	people, known, err := s.Store.PeopleAsOf(ctx, in.At)
	if err == nil && known {
		slices.Sort(owners)
		body.Owners = ownersAsOf(slices.Compact(owners), people)
		body.Admins = roleAsOf(people, model.RoleAdmin)
	}
	if err != nil {
		return nil, err
	}
	body.BreakGlass, err = s.breakGlassAsOf(ctx, in.At, func(*model.Overlay) bool { return true })
	return &struct{ Body BucketsAsOf }{body}, err
}

// breakGlassAsOf is nil where it is not known.
func (s *server) breakGlassAsOf(ctx context.Context, at time.Time, concerns func(*model.Overlay) bool) ([]BreakGlassAsOf, error) {
	all, known, err := s.Store.OverlaysAsOf(ctx, at)
	if err != nil || !known {
		return nil, err
	}
	list := []BreakGlassAsOf{}
	for i := range all {
		o := &all[i]
		if !concerns(o) {
			continue
		}
		shown := BreakGlassAsOf{Scope: o.Scope, App: o.App, By: o.StartedBy, Reason: o.Reason}
		if !o.StartedAt.IsZero() {
			since := utc(o.StartedAt)
			shown.Since = &since
		}
		list = append(list, shown)
	}
	return list, nil
}

func (s *server) notLater(at time.Time) error {
	if at.After(s.Now()) {
		return invalidField("at", "must not lie in the future")
	}
	return nil
}

func (s *server) peopleAsOf(ctx context.Context, at time.Time, d *model.Definition, body *BucketAsOfPeople) error {
	people, known, err := s.Store.PeopleAsOf(ctx, at)
	if err != nil || !known {
		return err
	}
	body.CouldChange = append(ownersAsOf(d.Owners, people), roleAsOf(people, model.RoleAdmin)...)
	body.CouldSee = []PersonAsOf{}
	members, err := s.Store.MembersAsOf(ctx, d.Apps, at)
	if err != nil {
		return err
	}
	disabled := disabledAsOf(people)
	apps := make([]string, 0, len(members))
	for app := range members {
		apps = append(apps, app)
	}
	slices.Sort(apps)
	for _, app := range apps {
		for _, m := range members[app] {
			body.CouldSee = append(body.CouldSee, PersonAsOf{User: m.User, As: "app_" + string(m.Role), App: app, Disabled: disabled[m.User]})
		}
	}
	body.CouldSee = append(body.CouldSee, roleAsOf(people, model.RoleAuditor)...)
	return nil
}

func ownersAsOf(names []string, people []model.PersonAsOf) []PersonAsOf {
	disabled := disabledAsOf(people)
	owners := []PersonAsOf{}
	for _, name := range names {
		owners = append(owners, PersonAsOf{User: name, As: "owner", Disabled: disabled[name]})
	}
	return owners
}

func roleAsOf(people []model.PersonAsOf, role model.Role) []PersonAsOf {
	list := []PersonAsOf{}
	for _, p := range people {
		if p.Role == role {
			list = append(list, PersonAsOf{User: p.Name, As: string(role), Disabled: p.Disabled})
		}
	}
	return list
}

func disabledAsOf(people []model.PersonAsOf) map[string]bool {
	disabled := map[string]bool{}
	for _, p := range people {
		disabled[p.Name] = p.Disabled
	}
	return disabled
}

func showAsOf(a model.AsOf, at time.Time) BucketAsOf {
	shown := BucketAsOf{
		Name: a.Name, At: utc(at), State: a.State, Revision: a.Revision, By: a.By, Reason: a.Reason, Definition: showDefinition(a.Definition),
	}
	if !a.Since.IsZero() {
		since := utc(a.Since)
		shown.Since = &since
	}
	return shown
}
