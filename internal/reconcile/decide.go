package reconcile

import (
	"slices"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/model"
)

// action is what a push has to do, given what Redis has and the row that was read after it.
type action int

const (
	actKeep    action = iota // Redis equals the row
	actWrite                 // Redis is older, or has lost it: install, or leave a tombstone
	actRaise                 // Redis is ahead, or equal with other content: the database was restored, or somebody wrote by hand
	actForeign               // the definition in Redis is another deployment's
	actUnknown               // it has a format of a newer version
	actAlien                 // it is no definition
)

// decide compares a row with what Redis had before the row was read.
func decide(row model.SyncRow, found reading, deployment string) action {
	switch {
	case found.UnknownFormat:
		return actUnknown
	case found.alien:
		return actAlien
	case found.Unreadable && found.Deployment != "" && found.Deployment != deployment:
		return actForeign
	case found.Unreadable && row.InstalledRevision < row.Revision && found.Revision < row.Revision:
		return actWrite // as far as can be told, this revision was never there
	case found.Unreadable:
		return actRaise
	case !found.Present:
		if row.Deleted && row.InstalledRevision >= row.Revision {
			return actKeep // removed before; the tombstone has ended since
		}
		return actWrite
	case found.Deployment != deployment && !found.Tombstone:
		return actForeign
	case found.Revision < row.Revision:
		return actWrite
	case found.Revision > row.Revision || len(drift(row, found)) > 0:
		return actRaise
	case found.Missing > 0:
		return actWrite
	default:
		return actKeep
	}
}

// drift names the fields in which Redis differs from the row, whatever the revisions.
func drift(row model.SyncRow, found reading) []string {
	switch {
	case found.Unreadable:
		return []string{"damaged"}
	case row.Deleted && found.Tombstone && found.Damaged:
		return []string{"head"}
	case row.Deleted && found.Tombstone:
		return nil
	case row.Deleted != found.Tombstone:
		return []string{"deleted"}
	}
	want, have := definitionOf(row.Bucket), found.Definition
	var fields []string
	differ := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	differ("head", !found.Damaged)
	differ("apps", slices.Equal(sorted(want.Apps), sorted(have.Apps)))
	differ("algorithm", want.Algorithm == have.Algorithm)
	differ("max_permits", want.MaxPermits == have.MaxPermits)
	differ("rate", want.Rate == have.Rate)
	differ("period", want.Period == have.Period)
	differ("partition", want.Partition == have.Partition)
	differ("shards", want.Shards == have.Shards)
	differ("mode", want.Mode == have.Mode)
	differ("max_wait", want.MaxWait == have.MaxWait)
	differ("on_redis_failure", want.OnFailure == have.OnFailure)
	differ("after_loss", want.AfterLoss == have.AfterLoss)
	return fields
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// definitionOf is a bucket as the engine knows it: without what only people need.
func definitionOf(b *model.Bucket) bucket.Definition {
	return bucket.Definition{
		Name: b.Name, Revision: b.Revision, Apps: b.Apps, Algorithm: string(b.Algorithm), MaxPermits: b.MaxPermits,
		Rate: engineRate(b), Period: b.Period, Partition: string(b.Partition), Shards: b.Shards, Mode: string(b.Mode),
		MaxWait: b.MaxWait, OnFailure: string(b.OnRedisFailure), AfterLoss: string(b.AfterLoss),
	}
}

// engineRate gives the algorithms without a rate of their own the one that the engine describes them by: a window grants
// its whole limit a period, and a slot is good for one lease.
func engineRate(b *model.Bucket) int64 {
	switch {
	case b.Algorithm.HasRate():
		return b.Rate
	case b.Algorithm == model.Concurrency:
		return 1
	default:
		return b.MaxPermits
	}
}
