package api

import (
	"context"
	"slices"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// otherApps stands in figures for all the apps whose names the reader may not learn, together. No app has this name.
const otherApps = model.AllApps

// appNames are the apps whose names the principal may learn from a bucket's figures. A bucket of all apps is shown to the
// members of each of them, who see nothing of the others.
type appNames struct {
	all   bool
	known map[string]bool
}

// appNamesOf are the apps that a bucket lists by name, and those that the principal may see.
func (s *server) appNamesOf(ctx context.Context, b *model.Bucket) (appNames, error) {
	p := principalOf(ctx)
	if p.Everywhere(auth.AppSee) {
		return appNames{all: true}, nil
	}
	roles, err := s.Store.AppRoles(ctx, p.Name, nil)
	known := make(map[string]bool, len(roles))
	for app := range roles {
		known[app] = true
	}
	for _, app := range b.Apps {
		known[app] = true
	}
	return appNames{known: known}, err
}

// appNamesIn are those of each of some buckets that the principal may see.
func (s *server) appNamesIn(ctx context.Context, buckets []string) (map[string]appNames, error) {
	of := make(map[string]appNames, len(buckets))
	if p := principalOf(ctx); !p.Everywhere(auth.AppSee) {
		for _, name := range buckets {
			b, _, err := s.Store.BucketFor(ctx, p.Name, name)
			if err != nil && model.CodeOf(err) != model.CodeNotFound {
				return nil, err
			}
			if of[name], err = s.appNamesOf(ctx, &b); err != nil {
				return nil, err
			}
		}
		return of, nil
	}
	for _, name := range buckets {
		of[name] = appNames{all: true}
	}
	return of, nil
}

// name is the app's name, or otherApps.
func (n appNames) name(app string) string {
	if n.all || n.known[app] {
		return app
	}
	return otherApps
}

// place is the app and the host of an instance; the host of an app that is not to be named is left out.
func (n appNames) place(app, host string) (name, at string) {
	if name = n.name(app); name == otherApps {
		return name, ""
	}
	return name, host
}

// usage folds the rows of apps that are not to be named into one a minute. It may change rows.
func (n appNames) usage(rows []UsageRow) []UsageRow {
	if n.all {
		return rows
	}
	others := map[int64]int{} // by minute
	shown := rows[:0]
	for _, r := range rows {
		r.App = n.name(r.App)
		at, again := others[r.Minute]
		switch {
		case r.App != otherApps:
		case again:
			sum := &shown[at]
			sum.Granted, sum.Limited, sum.ShadowLimited = sum.Granted+r.Granted, sum.Limited+r.Limited, sum.ShadowLimited+r.ShadowLimited
			continue
		default:
			others[r.Minute] = len(shown)
		}
		shown = append(shown, r)
	}
	return shown
}

// rates folds what apps used a second. It leaves its argument as it is: that is shared by all who watch.
func (n appNames) rates(apps []StreamApp) []StreamApp {
	if n.all {
		return apps
	}
	shown := make([]StreamApp, 0, len(apps))
	for _, a := range apps {
		a.App = n.name(a.App)
		at := -1
		if a.App == otherApps {
			at = slices.IndexFunc(shown, func(one StreamApp) bool { return one.App == otherApps })
		}
		if at < 0 {
			shown = append(shown, a)
			continue
		}
		sum := &shown[at]
		sum.Granted, sum.Limited, sum.ShadowLimited = sum.Granted+a.Granted, sum.Limited+a.Limited, sum.ShadowLimited+a.ShadowLimited
	}
	return shown
}
