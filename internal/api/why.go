package api

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Action is a row of the permission table.
type Action struct {
	Action auth.Permission `json:"action"`
	Of     auth.Target     `json:"of" enum:"bucket,app,all" doc:"what it is asked for: one bucket, one app, or neither"`
	Held   []auth.Ground   `json:"held" doc:"roles and relations that give it: admin, auditor, bucket owner, app owner, app viewer"`
}

// Why is the answer to: may this user do this there, and why.
type Why struct {
	User     string          `json:"user"`
	Role     model.Role      `json:"role"`
	Disabled bool            `json:"disabled" doc:"a disabled user may nothing, whatever else it has"`
	Service  bool            `json:"service" doc:"a service account: its API tokens may at most what this says"`
	Action   auth.Permission `json:"action"`
	Of       auth.Target     `json:"of" enum:"bucket,app,all"`
	Bucket   string          `json:"bucket" doc:"empty unless the action is of a bucket"`
	App      string          `json:"app" doc:"empty unless the action is of an app"`
	Allowed  bool            `json:"allowed"`
	Through  []WhyGround     `json:"through" doc:"all that the user has of what gives the action; each alone would do"`
	Missing  []WhyGround     `json:"missing" doc:"what would give it; empty when allowed"`
}

// WhyGround is a role, a membership or an ownership that gives an action.
type WhyGround struct {
	Ground auth.Ground `json:"ground" doc:"admin, auditor, bucket owner, app owner or app viewer"`
	Apps   []string    `json:"apps" doc:"of a membership: the user's apps that count, or, when missing, those that would; * is any app; the first 20"`
	By     []string    `json:"by" doc:"who, beside the admins, could grant what is missing: user names, the first 20"`
}

// whyNames bounds the names with one ground.
const whyNames = 20

func (s *server) listActions(context.Context, *struct{}) (*listed[Action], error) {
	items := auth.Table()
	return listOf(model.Page[auth.Permission]{Items: items}, func(needs auth.Permission) Action {
		nobody := auth.Principal{Name: "anybody", Role: model.RoleMember}
		return Action{Action: needs, Of: auth.TargetOf(needs), Held: nobody.Why(needs, model.Relation{}).Would}
	}), nil
}

func (s *server) why(ctx context.Context, in *struct {
	Named
	Action auth.Permission `query:"action" required:"true" doc:"one of /permissions"`
	Bucket string          `query:"bucket" doc:"for an action of a bucket"`
	App    string          `query:"app" doc:"for an action of an app; for bucket.create one that the bucket is to list"`
}) (*struct{ Body Why }, error) {
	if err := validateWhy(in.Action, in.Bucket, in.App); err != nil {
		return nil, err
	}
	u, err := s.Store.User(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	of, err := s.thingOf(ctx, u.Name, in.Bucket, in.App)
	if err != nil {
		return nil, err
	}
	p := auth.Principal{UserID: u.ID, Name: u.Name, Role: u.Role}
	verdict := p.Why(in.Action, of.relation)
	answer := Why{
		User: u.Name, Role: u.Role, Disabled: u.Disabled, Service: u.Service, Action: in.Action, Of: auth.TargetOf(in.Action),
		Bucket: in.Bucket, App: in.App, Allowed: verdict.Allowed && !u.Disabled, Through: []WhyGround{}, Missing: []WhyGround{},
	}
	for _, ground := range verdict.Through {
		answer.Through = append(answer.Through, of.held(ground))
	}
	if !verdict.Allowed {
		for _, ground := range verdict.Would {
			answer.Missing = append(answer.Missing, of.missing(ground))
		}
	}
	return &struct{ Body Why }{answer}, nil
}

// validateWhy wants exactly the object that the action is of.
func validateWhy(action auth.Permission, bucket, app string) error {
	bad := &model.Error{Code: model.CodeInvalid, Message: "the question has invalid fields"}
	add := func(field, message string) {
		bad.Fields = append(bad.Fields, model.FieldError{Field: field, Message: message})
	}
	of := auth.TargetOf(action)
	switch {
	case !slices.Contains(auth.Table(), action):
		add("action", "is no action of the permission table")
		return bad
	case of == auth.OfBucket && bucket == "":
		add("bucket", "must be given: the action is of one bucket")
	case of == auth.OfApp && app == "":
		add("app", "must be given: the action is of one app")
	}
	if of != auth.OfBucket && bucket != "" {
		add("bucket", "must be left out: the action is of no bucket")
	}
	if of != auth.OfApp && app != "" {
		add("app", "must be left out: the action is of no app")
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// thing is what is asked about, and what the user in question is to it.
type thing struct {
	relation model.Relation
	owners   []string                 // of the bucket
	apps     []string                 // by which memberships count: the bucket's, or the app itself; "*" for any
	roles    map[string]model.AppRole // of the user, in those apps
	members  []model.Member           // of the one app
}

// thingOf reads it as the asker may see it, and the relation as the user's own requests would find it.
func (s *server) thingOf(ctx context.Context, user, bucket, app string) (of thing, err error) {
	var counted []string // nil: every app
	switch {
	case bucket != "":
		b, err := s.bucketFor(ctx, bucket, auth.BucketSee)
		if err != nil {
			return of, err
		}
		if _, of.relation, err = s.Store.BucketFor(ctx, user, b.Name); err != nil {
			return of, err
		}
		of.owners, of.apps = b.Owners, b.Apps
		if !slices.Contains(b.Apps, model.AllApps) {
			counted = append([]string{}, b.Apps...)
		}
	case app != "":
		a, err := s.appFor(ctx, app, auth.AppSee)
		if err != nil {
			return of, err
		}
		if _, of.relation, err = s.Store.AppFor(ctx, user, a.Name); err != nil {
			return of, err
		}
		of.apps, of.members, counted = []string{a.Name}, a.Members, []string{a.Name}
	default:
		if of.relation, err = s.standing(ctx, user); err != nil {
			return of, err
		}
		of.apps = []string{model.AllApps}
	}
	of.roles, err = s.Store.AppRoles(ctx, user, counted)
	return of, err
}

// held is a ground that the user has, with the apps through which it has it.
func (of *thing) held(ground auth.Ground) WhyGround {
	g := WhyGround{Ground: ground, Apps: []string{}, By: []string{}}
	role, member := membership[ground]
	for app, has := range of.roles {
		if member && has == role {
			g.Apps = append(g.Apps, app)
		}
	}
	slices.Sort(g.Apps)
	g.Apps = g.Apps[:min(whyNames, len(g.Apps))]
	return g
}

// missing is a ground that would do, with who beside the admins could give it.
func (of *thing) missing(ground auth.Ground) WhyGround {
	g := WhyGround{Ground: ground, Apps: []string{}, By: []string{}}
	if _, member := membership[ground]; member {
		g.Apps = append(g.Apps, of.apps[:min(whyNames, len(of.apps))]...)
		for _, m := range of.members {
			if m.Role == model.AppOwner {
				g.By = append(g.By, m.User)
			}
		}
	} else if ground == auth.GroundBucketOwner {
		g.By = append(g.By, of.owners...)
	}
	g.By = g.By[:min(whyNames, len(g.By))]
	return g
}

// membership is the role in an app that a ground stands for.
var membership = map[auth.Ground]model.AppRole{
	auth.GroundAppOwner:  model.AppOwner,
	auth.GroundAppViewer: model.AppViewer,
}
