package seed

import (
	"maps"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

func (w *world) user(i int) model.User {
	return model.User{
		Name: UserName(i), DisplayName: givens[i%len(givens)] + " " + families[i/len(givens)%len(families)], Role: model.RoleMember,
		PasswordHash: w.PasswordHash,
	}
}

// writePeople writes the users, the apps and who is what in them.
func (w *world) writePeople(in *inserter) {
	made := w.Until.Add(-span).UTC()
	users := in.table("users", "id, name, display_name, role, disabled, password_hash, revision, created_by, created_at, updated_by, updated_at")
	for i := range w.Users {
		u := w.user(i)
		hash := u.PasswordHash
		if hash == "" {
			hash = "none"
		}
		users.add(w.first.user+int64(i), u.Name, u.DisplayName, u.Role, false, hash, 1, model.SystemActor, made, model.SystemActor, made)
	}
	users.flush()
	apps := in.table("apps", "id, name, description, deleted, revision, created_revision, created_by, created_at, updated_by, updated_at")
	members := in.table("members", "app_id, user_id, role")
	for i := range w.apps {
		a, id := &w.apps[i], w.first.app+int64(i)
		apps.add(id, a.Name, a.Description, false, 1, 1, model.SystemActor, made, model.SystemActor, made)
		for _, user := range slices.Sorted(maps.Keys(a.roles)) {
			members.add(id, w.first.user+int64(user), a.roles[user])
		}
	}
	apps.flush()
	members.flush()
}

const bucketColumns = "id, name, description, all_apps, algorithm, max_permits, rate, period_ms, partition_by, shards, mode, max_wait_ms, on_redis_failure, " +
	"after_loss, deleted, revision, created_revision, installed_revision, installed_at, mark, created_by, created_at, updated_by, updated_at"

// writeBuckets writes the buckets as the history left them.
func (w *world) writeBuckets(in *inserter) {
	rows := in.table("buckets", bucketColumns)
	apps := in.table("bucket_apps", "bucket_id, app_id")
	owners := in.table("bucket_owners", "bucket_id, user_id")
	labels := in.table("bucket_labels", "bucket_id, name, value")
	for i := range w.buckets {
		b, id := &w.buckets[i], w.first.bucket+int64(i)
		d := &b.d
		rows.add(id, b.name, d.Description, len(b.apps) == 0, d.Algorithm, d.MaxPermits, d.Rate, d.Period.Milliseconds(), d.Partition, d.Shards, d.Mode,
			d.MaxWait.Milliseconds(), d.OnRedisFailure, d.AfterLoss, false, b.revision, 1, b.revision, b.updated, b.revision, b.creator, b.created, b.updater, b.updated)
		for _, app := range b.apps {
			apps.add(id, w.first.app+int64(app))
		}
		for _, owner := range b.owners {
			owners.add(id, w.first.user+int64(owner))
		}
		for _, name := range slices.Sorted(maps.Keys(d.Labels)) {
			labels.add(id, name, d.Labels[name])
		}
	}
	for _, t := range []*table{rows, apps, owners, labels} {
		t.flush()
	}
}
