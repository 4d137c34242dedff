package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Comparison is how Redis stands to one bucket of the database.
type Comparison struct {
	Row           model.SyncRow
	Present       bool     // Redis has a definition, or its tombstone for a deleted bucket
	RedisRevision int64    // of what Redis has; 0 = nothing, or nothing that can be read
	Drift         []string // the fields in which Redis differs though no push is waiting to bring them; "missing", "revision", "deleted", "shards" and "damaged" stand for the whole
	Message       string   // why it is held up, fit for people; "" when nothing is known
}

// Pending tells whether Redis is not known to have the present revision.
func (c *Comparison) Pending() bool {
	return c.Row.Mark != 0 || c.Row.InstalledRevision < c.Row.Revision
}

// Took is how long the present revision took to reach Redis, from its commit; ok is false while it has not, and where
// the time was not noted.
func (c *Comparison) Took() (d time.Duration, ok bool) {
	if c.Pending() || c.Row.InstalledAt.IsZero() || c.Row.InstalledRevision != c.Row.Revision {
		return 0, false
	}
	return max(0, c.Row.InstalledAt.Sub(c.Row.UpdatedAt)), true
}

// Compare reads what Redis has of one bucket and then its row, and writes nothing. CodeNotFound, CodeUnavailable.
func (r *Reconciler) Compare(ctx context.Context, name string) (Comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	deployment, err := r.store.DeploymentID(ctx)
	if err != nil {
		return Comparison{}, err
	}
	found, err := r.read(ctx, name)
	if err != nil {
		return Comparison{}, err
	}
	row, err := r.store.SyncRow(ctx, name)
	if err != nil {
		return Comparison{}, err
	}
	return compare(row, found[0], deployment), nil
}

// compare tells how a row, read after what Redis had, stands to it.
func compare(row model.SyncRow, found reading, deployment string) Comparison {
	c := Comparison{Row: row, Present: found.Present, RedisRevision: found.Revision, Message: row.LastError}
	switch decide(row, found, deployment) {
	case actKeep:
		return c
	case actForeign:
		c.Message = messageForeign
	case actUnknown:
		c.Message = messageFormat
	case actAlien:
		c.Message = messageAlien
	}
	if c.Pending() && found.Revision < row.Revision {
		return c // what is waiting brings the rest
	}
	switch {
	case !found.Present:
		c.Drift = []string{"missing"}
	case found.Unreadable || found.alien || found.UnknownFormat:
		c.Drift = []string{"damaged"}
	case found.Revision != row.Revision:
		c.Drift = append([]string{"revision"}, drift(row, found)...)
	default:
		c.Drift = drift(row, found)
	}
	if found.Missing > 0 {
		c.Drift = append(c.Drift, "shards")
	}
	return c
}

// Differences compares everything and writes nothing. It hands on each bucket that differs, in the order of the names, also
// those whose push is waiting, and returns the definitions that only Redis has.
func (r *Reconciler) Differences(ctx context.Context, differs func(Comparison)) (orphans []string, err error) {
	deployment, err := r.store.DeploymentID(ctx)
	if err != nil {
		return nil, err
	}
	indexed, err := r.indexed(ctx)
	if err != nil {
		return nil, err
	}
	for after := ""; ; {
		rows, err := r.store.SyncRows(ctx, after, rowPage)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			delete(indexed, row.Name)
		}
		after = rows[len(rows)-1].Name
		found, err := r.read(ctx, namesOf(rows)...)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			c := compare(row, found[i], deployment)
			if len(c.Drift) > 0 && found[i].Present { // or was edited between the two readings
				if c, err = r.Compare(ctx, row.Name); err != nil {
					return nil, err
				}
			}
			if c.Pending() || len(c.Drift) > 0 {
				differs(c)
			}
		}
	}
	return r.orphansOf(ctx, slices.Sorted(maps.Keys(indexed)))
}
