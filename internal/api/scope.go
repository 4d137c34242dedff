package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// viewer is whose eyes a list is seen with: "" for those who see everything.
func viewer(p auth.Principal, needs auth.Permission) string {
	if p.Everywhere(needs) {
		return ""
	}
	return p.Name
}

// bucketFor reads a bucket for someone who needs a permission on it: what may not be seen is not found, what may be
// seen but not done is forbidden.
func (s *server) bucketFor(ctx context.Context, name string, needs auth.Permission) (model.Bucket, error) {
	p := principalOf(ctx)
	b, relation, err := s.Store.BucketFor(ctx, p.Name, name)
	if err == nil && !p.May(auth.BucketSee, relation) {
		err = noBucket(name)
	}
	if model.CodeOf(err) == model.CodeNotFound {
		return model.Bucket{}, noBucket(name)
	}
	if err != nil {
		return model.Bucket{}, err
	}
	if !p.May(needs, relation) {
		return model.Bucket{}, auth.Missing(needs)
	}
	return b, nil
}

// appFor reads an app for someone who needs a permission on it, as bucketFor does.
func (s *server) appFor(ctx context.Context, name string, needs auth.Permission) (model.App, error) {
	p := principalOf(ctx)
	a, relation, err := s.Store.AppFor(ctx, p.Name, name)
	if err == nil && !p.May(auth.AppSee, relation) {
		err = noApp(name)
	}
	if model.CodeOf(err) == model.CodeNotFound {
		return model.App{}, noApp(name)
	}
	if err != nil {
		return model.App{}, err
	}
	if !p.May(needs, relation) {
		return model.App{}, auth.Missing(needs)
	}
	return a, nil
}

// One wording for what is not there and for what may not be seen, so that the answer does not tell which it is.
func noBucket(name string) error {
	return model.Errorf(model.CodeNotFound, "there is no bucket %q that you may see", clip(name))
}

func noApp(name string) error {
	return model.Errorf(model.CodeNotFound, "there is no app %q that you may see", clip(name))
}

// mayList refuses apps that the principal may not put into a bucket: "*" takes a permission of its own, and others
// must be visible. before are the apps that the bucket lists already; they may stay whoever sees them.
func (s *server) mayList(ctx context.Context, apps, before []string) error {
	p := principalOf(ctx)
	if slices.Contains(apps, model.AllApps) && !slices.Contains(before, model.AllApps) && !p.Everywhere(auth.BucketAllApps) {
		return auth.Missing(auth.BucketAllApps)
	}
	if p.Everywhere(auth.AppSee) {
		return nil
	}
	roles, err := s.Store.AppRoles(ctx, p.Name, apps)
	if err != nil {
		return err
	}
	unseen := &model.Error{Code: model.CodeInvalid, Message: "the bucket has invalid fields"}
	for i, app := range apps {
		if app != model.AllApps && roles[app] == "" && !slices.Contains(before, app) {
			unseen.Fields = append(unseen.Fields, model.Broken(fmt.Sprintf("apps[%d]", i), "is not an app that you may see"))
		}
	}
	if len(unseen.Fields) > 0 {
		return unseen
	}
	return nil
}

// mayCreate refuses a bucket to those who own none of its apps.
func (s *server) mayCreate(ctx context.Context, apps []string) error {
	p := principalOf(ctx)
	if p.Everywhere(auth.BucketCreate) {
		return nil
	}
	roles, err := s.Store.AppRoles(ctx, p.Name, append([]string{}, apps...))
	if err != nil {
		return err
	}
	relation := model.Relation{}
	for _, role := range roles {
		relation.AppOwner = relation.AppOwner || role == model.AppOwner
	}
	if !p.May(auth.BucketCreate, relation) {
		missing := auth.Missing(auth.BucketCreate)
		missing.Message += "; a bucket must list at least one app that you own"
		missing.Fields = []model.FieldError{model.Broken("apps", "must list at least one app that you own")}
		return missing
	}
	return nil
}

// standing is the sum of a user's relations to all buckets and apps.
func (s *server) standing(ctx context.Context, user string) (model.Relation, error) {
	var sum model.Relation
	roles, err := s.Store.AppRoles(ctx, user, nil)
	if err != nil {
		return sum, err
	}
	for _, role := range roles {
		sum.AppOwner = sum.AppOwner || role == model.AppOwner
		sum.AppViewer = sum.AppViewer || role == model.AppViewer
	}
	owned, err := s.Store.Buckets(ctx, model.BucketQuery{Viewer: user, Owner: user, Limit: 1})
	sum.BucketOwner = len(owned.Items) > 0
	return sum, err
}
