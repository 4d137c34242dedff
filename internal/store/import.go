package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// importTimeout bounds an import or an export of everything: minutes for 100,000 buckets.
const importTimeout = 10 * time.Minute

// errDryRun ends the transaction of an import that shall only be looked at.
var errDryRun = errors.New("store: dry run")

// Definitions reads all apps and all buckets, sorted by name, as they stood at one moment.
func (s *Store) Definitions(ctx context.Context) (apps []model.App, buckets []model.Bucket, err error) {
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	err = s.reader.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		apps, buckets = nil, nil
		err := inParts(db, func(rows []appRow) (string, error) {
			some, err := loadApps(db, rows)
			apps = append(apps, some...)
			return rows[len(rows)-1].Name, err
		})
		if err != nil {
			return err
		}
		return inParts(db, func(rows []bucketRow) (string, error) {
			some, err := loadBuckets(db, rows)
			buckets = append(buckets, some...)
			return rows[len(rows)-1].Name, err
		})
	}, s.readTx)
	return apps, buckets, translate(err)
}

// inParts reads the living rows of a table in the order of their names, some at a time; part returns the last name.
func inParts[R any](db *gorm.DB, part func([]R) (string, error)) error {
	const some = 500
	for last := ""; ; {
		var rows []R
		if err := db.Where("deleted = ? AND name > ?", false, last).Order("name").Limit(some).Find(&rows).Error; err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		var err error
		if last, err = part(rows); err != nil {
			return err
		}
	}
}

// Import brings apps and buckets to what is wanted, all of it or, on any error, nothing, and tells what it changed; what
// is as wanted already is not touched. Each step leaves the same rows in the history as the same edit by hand. A dry
// run finds all the same faults and steps, and changes nothing. CodeInvalid names each fault by its place: "apps[0].name",
// "buckets[7].owners[1]".
func (s *Store) Import(ctx context.Context, w model.Wanted, o model.Origin, dryRun bool) ([]model.ImportStep, error) {
	var steps []model.ImportStep
	err := s.writeWithin(ctx, importTimeout, func(t *tx) error {
		in := importer{tx: t, origin: o}
		if err := in.run(&w); err != nil {
			return err
		}
		if len(in.faults) > 0 {
			return &model.Error{Code: model.CodeInvalid, Message: "nothing was imported", Fields: in.faults}
		}
		steps = in.steps
		if dryRun {
			return errDryRun
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return nil, err
	}
	return steps, nil
}

// importer is one import in its transaction.
type importer struct {
	*tx
	origin model.Origin
	steps  []model.ImportStep
	faults []model.FieldError
}

// run takes apps before the buckets that list them, and deletes them after those.
func (in *importer) run(w *model.Wanted) error {
	for _, i := range byName(w.Apps, func(a model.WantedApp) string { return a.Name }) {
		if err := in.fault(fmt.Sprintf("apps[%d]", i), in.app(&w.Apps[i])); err != nil {
			return err
		}
	}
	for _, i := range byName(w.Buckets, func(b model.WantedBucket) string { return b.Name }) {
		if err := in.fault(fmt.Sprintf("buckets[%d]", i), in.bucket(&w.Buckets[i])); err != nil {
			return err
		}
	}
	if !w.Prune {
		return nil
	}
	if err := in.pruneBuckets(w); err != nil {
		return err
	}
	return in.pruneApps(w)
}

// byName returns the places of a list in the order of the names, so that two imports lock rows in the same order.
func byName[E any](list []E, name func(E) string) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if name(list[a]) < name(list[b]) {
			return -1
		}
		return 1
	})
	return order
}

// fault keeps what is wrong with one entry, so that all faults are told at once; errors of another kind come back.
func (in *importer) fault(place string, err error) error {
	var e *model.Error
	if err == nil || !errors.As(err, &e) || e.Code == model.CodeInternal || e.Code == model.CodeUnavailable {
		return err
	}
	for _, f := range e.Fields {
		in.faults = append(in.faults, f.At(place+"."+f.Field))
	}
	if len(e.Fields) == 0 {
		in.faults = append(in.faults, model.FieldError{Field: place, Message: e.Message, Code: e.Rule, Params: e.Params})
	}
	return nil
}

func (in *importer) note(kind model.TargetKind, name string, action model.Action, revision int64, before, after []byte) {
	in.steps = append(in.steps, model.ImportStep{Kind: kind, Name: name, Action: action, Revision: revision, Before: before, After: after})
}

func (in *importer) app(wanted *model.WantedApp) error {
	app := model.App{Name: wanted.Name, Description: wanted.Description, Members: wanted.Members}
	if err := app.Validate(); err != nil {
		return err
	}
	if kept, err := in.keepApp(wanted); kept || err != nil {
		return err
	}
	row, err := appByName(forUpdate(in.DB), wanted.Name)
	switch {
	case model.CodeOf(err) == model.CodeNotFound:
		row = &appRow{Name: wanted.Name, Deleted: true}
	case err != nil:
		return err
	}
	if row.Deleted {
		made, err := in.createApp(row, app, in.origin)
		if err == nil {
			in.note(model.TargetApp, wanted.Name, model.ActionAppCreate, made.Revision, nil, model.AppJSON(&made))
		}
		return err
	}
	before, err := loadApp(in.DB, row)
	if err != nil {
		return err
	}
	if before.Description != wanted.Description {
		if _, err := in.describeApp(row, before, wanted.Description, in.origin); err != nil {
			return err
		}
	}
	if err := in.members(row, &before, wanted); err != nil || row.Revision == before.Revision {
		return err
	}
	after, err := loadApp(in.DB, row)
	in.note(model.TargetApp, wanted.Name, model.ActionAppUpdate, row.Revision, model.AppJSON(&before), model.AppJSON(&after))
	return err
}

// keepApp tells whether an app is as wanted already, and then only keeps others from changing it: an import may take
// minutes, and whoever saves a bucket of the app meanwhile waits for a lock that is stronger.
func (in *importer) keepApp(wanted *model.WantedApp) (bool, error) {
	kept, err := appIsAs(in.DB, in.DB, wanted)
	if err != nil || !kept {
		return false, err
	}
	kept, err = appIsAs(in.DB, forShare(in.DB), wanted)
	if err == nil && !kept {
		err = errAgain // somebody changed it in between: a stronger lock on top of this one could lock two imports for ever
	}
	return kept, err
}

// appIsAs reads an app, its row by way of lock, and compares.
func appIsAs(db, lock *gorm.DB, wanted *model.WantedApp) (bool, error) {
	row, err := livingApp(lock, wanted.Name)
	if model.CodeOf(err) == model.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	app, err := loadApp(db, row)
	if err != nil || app.Description != wanted.Description {
		return false, err
	}
	given := slices.DeleteFunc(slices.Clone(app.Members), func(m model.Member) bool {
		return m.Mapped && !slices.ContainsFunc(wanted.Members, func(w model.Member) bool { return w.User == m.User })
	})
	same := len(given) == len(wanted.Members) && !slices.ContainsFunc(wanted.Members, func(w model.Member) bool {
		return !slices.ContainsFunc(given, func(m model.Member) bool { return m.User == w.User && m.Role == w.Role })
	})
	return same, nil
}

// members adds, changes and removes members that people give.
func (in *importer) members(row *appRow, before *model.App, wanted *model.WantedApp) error {
	has := map[string]model.Member{}
	for _, m := range before.Members {
		has[m.User] = m
	}
	for i, m := range wanted.Members {
		now, is := has[m.User]
		delete(has, m.User)
		if is && now.Role == m.Role {
			continue
		}
		err := in.changeMember(row, m.User, in.origin, model.ActionMemberSet, func(t *tx, row *appRow) error {
			return t.putMember(row.ID, m, fmt.Sprintf("members[%d].user", i))
		})
		if err != nil {
			return err
		}
	}
	for _, m := range before.Members {
		if _, left := has[m.User]; !left || m.Mapped {
			continue
		}
		err := in.changeMember(row, m.User, in.origin, model.ActionMemberRemove, func(t *tx, row *appRow) error {
			return t.dropMember(row.ID, m.User)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *importer) bucket(wanted *model.WantedBucket) error {
	d := wanted.Definition
	if err := model.ValidateBucketName(wanted.Name); err != nil {
		return err
	}
	if err := prepare(&d); err != nil {
		return err
	}
	row, err := bucketByName(forUpdate(in.DB), wanted.Name)
	switch {
	case model.CodeOf(err) == model.CodeNotFound:
		row = &bucketRow{Name: wanted.Name, Deleted: true}
	case err != nil:
		return err
	}
	if row.Deleted {
		made, err := in.createBucket(row, &d, in.origin)
		if err == nil {
			in.note(model.TargetBucket, wanted.Name, model.ActionBucketCreate, made.Revision, nil, model.DefinitionJSON(&d))
		}
		return err
	}
	before, err := loadBucket(in.DB, row)
	if err != nil {
		return err
	}
	was, becomes := model.DefinitionJSON(&before.Definition), model.DefinitionJSON(&d)
	if string(was) == string(becomes) {
		return nil
	}
	made, err := in.saveBucket(row, &d, in.origin, model.Change{Action: model.ActionBucketUpdate, Before: was})
	if err == nil {
		in.note(model.TargetBucket, wanted.Name, model.ActionBucketUpdate, made.Revision, was, becomes)
	}
	return err
}

func (in *importer) pruneBuckets(w *model.Wanted) error {
	kept := map[string]bool{}
	for i := range w.Buckets {
		kept[w.Buckets[i].Name] = true
	}
	var names []string
	if err := in.Model(&bucketRow{}).Where("deleted = ?", false).Order("name").Pluck("name", &names).Error; err != nil {
		return err
	}
	for _, name := range names {
		if kept[name] {
			continue
		}
		row, err := livingBucket(forUpdate(in.DB), name)
		if model.CodeOf(err) == model.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		before, err := loadBucket(in.DB, row)
		if err != nil {
			return err
		}
		if err := in.deleteBucket(row, &before.Definition, in.origin); err != nil {
			return err
		}
		in.note(model.TargetBucket, name, model.ActionBucketDelete, row.Revision, model.DefinitionJSON(&before.Definition), nil)
	}
	return nil
}

func (in *importer) pruneApps(w *model.Wanted) error {
	kept := map[string]bool{}
	for i := range w.Apps {
		kept[w.Apps[i].Name] = true
	}
	var names []string
	if err := in.Model(&appRow{}).Where("deleted = ?", false).Order("name").Pluck("name", &names).Error; err != nil {
		return err
	}
	for _, name := range names {
		if kept[name] {
			continue
		}
		row, err := livingApp(forUpdate(in.DB), name)
		if model.CodeOf(err) == model.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		before, err := loadApp(in.DB, row)
		if err != nil {
			return err
		}
		err = in.deleteApp(row, before, in.origin)
		if err == nil {
			in.note(model.TargetApp, name, model.ActionAppDelete, row.Revision, model.AppJSON(&before), nil)
		} else if err = in.fault("app "+name, err); err != nil {
			return err
		}
	}
	return nil
}
