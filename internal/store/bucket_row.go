package store

import (
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// bucketRow is one bucket name, living or deleted. The apps, owners and labels have rows of their own.
type bucketRow struct {
	ID                int64 `gorm:"primaryKey"`
	Name              string
	Description       string
	AllApps           bool // the definition lists model.AllApps
	Algorithm         string
	MaxPermits        int64
	Rate              int64
	PeriodMS          int64 `gorm:"column:period_ms"`
	PartitionBy       string
	Shards            int
	Mode              string
	MaxWaitMS         int64 `gorm:"column:max_wait_ms"`
	OnRedisFailure    string
	AfterLoss         string
	Deleted           bool
	Revision          int64
	CreatedRevision   int64
	InstalledRevision int64
	InstalledAt       *time.Time // when Redis was known to have that revision
	Mark              int64
	CreatedBy         string
	CreatedAt         time.Time `gorm:"autoCreateTime:false"`
	UpdatedBy         string
	UpdatedAt         time.Time `gorm:"autoUpdateTime:false"`
}

func (bucketRow) TableName() string { return "buckets" }

// set takes over the part of a definition that stands in the bucket's own row.
func (r *bucketRow) set(d *model.Definition) {
	r.Description, r.Algorithm, r.MaxPermits, r.Rate = d.Description, string(d.Algorithm), d.MaxPermits, d.Rate
	r.AllApps = len(d.Apps) == 1 && d.Apps[0] == model.AllApps
	r.PeriodMS, r.PartitionBy, r.Shards = d.Period.Milliseconds(), string(d.Partition), d.Shards
	r.Mode, r.MaxWaitMS = string(d.Mode), d.MaxWait.Milliseconds()
	r.OnRedisFailure, r.AfterLoss = string(d.OnRedisFailure), string(d.AfterLoss)
}

func (r *bucketRow) bucket(lists *bucketLists) model.Bucket {
	d := model.Definition{
		Description: r.Description, Labels: lists.labels[r.ID], Apps: lists.apps[r.ID], Owners: lists.owners[r.ID],
		Algorithm: model.Algorithm(r.Algorithm), MaxPermits: r.MaxPermits, Rate: r.Rate, Period: model.Millis(r.PeriodMS),
		Partition: model.Partition(r.PartitionBy), Shards: r.Shards, Mode: model.Mode(r.Mode), MaxWait: model.Millis(r.MaxWaitMS),
		OnRedisFailure: model.FailurePolicy(r.OnRedisFailure), AfterLoss: model.LossPolicy(r.AfterLoss),
	}
	if r.AllApps {
		d.Apps = []string{model.AllApps}
	}
	d.SetDefaults() // no field is left to default here, but lists that are empty must not be nil
	waiting, pending := lists.outbox[r.ID]
	return model.Bucket{
		Name: r.Name, Definition: d, Revision: r.Revision, CreatedRevision: r.CreatedRevision,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt.UTC(),
		Sync: model.SyncState{
			InstalledRevision: r.InstalledRevision, Pending: pending || r.InstalledRevision < r.Revision, LastError: waiting.LastError,
		},
	}
}

type bucketApp struct{ BucketID, AppID int64 }

func (bucketApp) TableName() string { return "bucket_apps" }

type bucketOwner struct{ BucketID, UserID int64 }

func (bucketOwner) TableName() string { return "bucket_owners" }

type bucketLabel struct {
	BucketID int64
	Name     string
	Value    string
}

func (bucketLabel) TableName() string { return "bucket_labels" }

// bucketLists holds what stands outside the buckets' own rows, by bucket id.
type bucketLists struct {
	apps   map[int64][]string
	owners map[int64][]string
	labels map[int64]map[string]string
	outbox map[int64]outboxRow
}

func loadLists(db *gorm.DB, ids []int64) (*bucketLists, error) {
	l := &bucketLists{labels: map[int64]map[string]string{}, outbox: map[int64]outboxRow{}}
	var err error
	if l.apps, err = loadNames(db, "bucket_apps", "apps", "app_id", ids); err != nil {
		return nil, err
	}
	if l.owners, err = loadNames(db, "bucket_owners", "users", "user_id", ids); err != nil {
		return nil, err
	}
	var labels []bucketLabel
	if err := db.Where("bucket_id IN ?", ids).Find(&labels).Error; err != nil {
		return nil, err
	}
	for _, label := range labels {
		if l.labels[label.BucketID] == nil {
			l.labels[label.BucketID] = map[string]string{}
		}
		l.labels[label.BucketID][label.Name] = label.Value
	}
	var waiting []outboxRow
	if err := db.Where("bucket_id IN ?", ids).Find(&waiting).Error; err != nil {
		return nil, err
	}
	for _, row := range waiting {
		l.outbox[row.BucketID] = row
	}
	return l, nil
}

// loadNames reads the names that a link table gives to each bucket, sorted. It asks for the links and for the names that they
// lead to, and joins them here: asked for both at once, MariaDB may go through all links of every name, as its statistics stand.
func loadNames(db *gorm.DB, link, target, column string, ids []int64) (map[int64][]string, error) {
	links, err := linksOf(db, link, column, ids)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	targets := map[int64]string{}
	for _, l := range links {
		targets[l.target] = ""
	}
	for page := range slices.Chunk(slices.Collect(maps.Keys(targets)), syncBound) {
		var found []struct {
			ID   int64
			Name string
		}
		if err := db.Table(target).Select("id", "name").Where("id IN ?", page).Scan(&found).Error; err != nil {
			return nil, err
		}
		for _, f := range found {
			targets[f.ID] = f.Name
		}
	}
	names := make(map[int64][]string, len(ids))
	for _, l := range links {
		if name := targets[l.target]; name != "" { // else it went between the two readings
			names[l.bucket] = append(names[l.bucket], name)
		}
	}
	for _, list := range names {
		slices.Sort(list)
	}
	return names, nil
}

// bucketLink is one row of a table that links buckets to something else, by their ids.
type bucketLink struct{ bucket, target int64 }

func linksOf(db *gorm.DB, table, column string, ids []int64) ([]bucketLink, error) {
	rows, err := db.Table(table).Select("bucket_id", column).Where("bucket_id IN ?", ids).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var links []bucketLink
	for rows.Next() {
		var l bucketLink
		if err := rows.Scan(&l.bucket, &l.target); err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, rows.Err()
}

// loadBuckets completes rows to buckets, in their order.
func loadBuckets(db *gorm.DB, rows []bucketRow) ([]model.Bucket, error) {
	buckets := make([]model.Bucket, len(rows))
	if len(rows) == 0 {
		return buckets, nil
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	lists, err := loadLists(db, ids)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		buckets[i] = rows[i].bucket(lists)
	}
	return buckets, nil
}

func loadBucket(db *gorm.DB, row *bucketRow) (model.Bucket, error) {
	buckets, err := loadBuckets(db, []bucketRow{*row})
	if err != nil {
		return model.Bucket{}, err
	}
	return buckets[0], nil
}
