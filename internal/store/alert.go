package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// alertSet says which revision a bucket's rules are at.
type alertSet struct {
	BucketID  int64 `gorm:"primaryKey;autoIncrement:false"`
	Revision  int64
	UpdatedBy string
	UpdatedAt time.Time `gorm:"autoUpdateTime:false"`
}

func (alertSet) TableName() string { return "alert_sets" }

// alertRuleRow is one rule and where it stands.
type alertRuleRow struct {
	ID            int64 `gorm:"primaryKey"`
	BucketID      int64
	Kind          string
	Percent       int
	Minutes       int
	Enabled       bool
	LastMinute    int64
	OverRun       int
	UnderRun      int
	SinceMinute   int64
	StartedMinute int64
	Share         float64
}

func (alertRuleRow) TableName() string { return "alert_rules" }

func (r *alertRuleRow) rule() model.AlertRule {
	return model.AlertRule{ID: r.ID, Kind: model.AlertKind(r.Kind), Percent: r.Percent, Minutes: r.Minutes, Enabled: r.Enabled}
}

// state leaves Open out.
func (r *alertRuleRow) state() model.AlertState {
	return model.AlertState{
		Minute: r.LastMinute, Over: r.OverRun, Under: r.UnderRun, Since: r.SinceMinute, Started: r.StartedMinute, Value: r.Share,
	}
}

func (r *alertRuleRow) stand(s *model.AlertState) {
	r.LastMinute, r.OverRun, r.UnderRun = s.Minute, s.Over, s.Under
	r.SinceMinute, r.StartedMinute, r.Share = s.Since, s.Started, s.Value
}

// alertRow is one alert, open while OpenRule is set.
type alertRow struct {
	ID        int64 `gorm:"primaryKey"`
	OpenRule  *int64
	RuleID    int64
	BucketID  int64
	Kind      string
	Percent   int
	Minutes   int
	Since     time.Time
	StartedAt time.Time
	EndedAt   *time.Time
	Cause     string
	Share     float64
	Peak      float64
}

func (alertRow) TableName() string { return "alerts" }

func (r *alertRow) alert(bucket string) model.Alert {
	a := model.Alert{
		ID: r.ID, Bucket: bucket, Since: r.Since.UTC(), StartedAt: r.StartedAt.UTC(), Cause: model.AlertCause(r.Cause), Value: r.Share, Peak: r.Peak,
		Rule: model.AlertRule{ID: r.RuleID, Kind: model.AlertKind(r.Kind), Percent: r.Percent, Minutes: r.Minutes, Enabled: true},
	}
	if r.EndedAt != nil {
		a.EndedAt = r.EndedAt.UTC()
	}
	return a
}

// AlertRules reads the rules of a bucket and their open alerts. CodeNotFound.
func (s *Store) AlertRules(ctx context.Context, bucket string) (model.AlertBook, error) {
	var book model.AlertBook
	err := s.read(ctx, func(db *gorm.DB) error {
		row, err := livingBucket(db, bucket)
		if err == nil {
			book, err = alertBook(db, row)
		}
		return err
	})
	return book, err
}

func alertBook(db *gorm.DB, bucket *bucketRow) (model.AlertBook, error) {
	book := model.AlertBook{Revision: 1, Rules: []model.AlertRule{}, Open: map[int64]model.Alert{}}
	var sets []alertSet
	if err := db.Find(&sets, "bucket_id = ?", bucket.ID).Error; err != nil {
		return book, err
	}
	if len(sets) > 0 {
		book.Revision, book.UpdatedBy, book.UpdatedAt = sets[0].Revision, sets[0].UpdatedBy, sets[0].UpdatedAt.UTC()
	}
	var rules []alertRuleRow
	if err := db.Order("id").Find(&rules, "bucket_id = ?", bucket.ID).Error; err != nil {
		return book, err
	}
	for i := range rules {
		book.Rules = append(book.Rules, rules[i].rule())
	}
	var open []alertRow
	err := db.Find(&open, "bucket_id = ? AND open_rule IS NOT NULL", bucket.ID).Error
	for i := range open {
		book.Open[open[i].RuleID] = open[i].alert(bucket.Name)
	}
	return book, err
}

// alertPlace is the place of an alert in the list.
type alertPlace struct {
	Ended bool  `json:"e"`
	ID    int64 `json:"i"`
}

// listedAlert is an alert with what the list says of its bucket.
type listedAlert struct {
	Alert   alertRow `gorm:"embedded"`
	Name    string
	Deleted bool
	Mine    bool
}

func (r *listedAlert) alert() model.Alert {
	a := r.Alert.alert(r.Name)
	a.Deleted, a.Mine = r.Deleted, r.Mine
	return a
}

const ownsBucket = "EXISTS (SELECT 1 FROM bucket_owners WHERE bucket_owners.bucket_id = buckets.id AND bucket_owners.user_id = ?)"

// Alerts lists alerts: the open ones, then the ended ones, each the newest first. CodeInvalid naming the field of the query.
func (s *Store) Alerts(ctx context.Context, q model.AlertQuery) (model.Page[model.Alert], error) {
	var page model.Page[model.Alert]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("alerts", q)
	var place alertPlace
	if cursor != "" {
		if err := decodeCursor(scope, cursor, &place); err != nil {
			return page, err
		}
	}
	var rows []listedAlert
	err := s.read(ctx, func(db *gorm.DB) error {
		user, err := viewerID(db, q.User)
		if err != nil {
			return err
		}
		query, err := alertFilters(db, &q, user, micros(s.now()))
		if err != nil {
			return err
		}
		return place.after(query).Select("alerts.*, buckets.name AS name, buckets.deleted AS deleted, "+ownsBucket+" AS mine", user).
			Order("alerts.open_rule IS NULL, alerts.id DESC").Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return page, err
	}
	rows, page.Next = cut(rows, limit, scope, func(r listedAlert) any { return alertPlace{r.Alert.OpenRule == nil, r.Alert.ID} })
	page.Items = make([]model.Alert, len(rows))
	for i := range rows {
		page.Items[i] = rows[i].alert()
	}
	return page, nil
}

// after limits a query to the rows behind the place; the zero place is before all.
func (p alertPlace) after(query *gorm.DB) *gorm.DB {
	switch {
	case p.ID == 0:
		return query
	case p.Ended:
		return query.Where("alerts.open_rule IS NULL AND alerts.id < ?", p.ID)
	}
	return query.Where("(alerts.open_rule IS NULL OR alerts.id < ?)", p.ID)
}

func alertFilters(db *gorm.DB, q *model.AlertQuery, user int64, now time.Time) (*gorm.DB, error) {
	query := db.Table("alerts").Joins("JOIN buckets ON buckets.id = alerts.bucket_id").
		Where("(alerts.ended_at IS NULL OR alerts.ended_at > ?)", now.Add(-model.AlertsKept))
	if q.Viewer != "" {
		id, err := viewerID(db, q.Viewer)
		if err != nil {
			return nil, err
		}
		query = seenBuckets(query, id).Where("buckets.deleted = ?", false)
	}
	if q.Mine {
		query = query.Where(ownsBucket, user)
	}
	if q.Open {
		query = query.Where("alerts.open_rule IS NOT NULL")
	}
	if q.Bucket != "" {
		query = query.Where("buckets.name = ?", q.Bucket)
	}
	return query, nil
}
