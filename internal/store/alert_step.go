package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

// alertBatch is how many rules one transaction moves on.
const alertBatch = 200

// bySystem is the origin of what no person did.
var bySystem = model.Origin{Actor: model.SystemActor}

// AlertWatches lists the enabled rules of living buckets with where they stand, in the order of their ids.
func (s *Store) AlertWatches(ctx context.Context) ([]model.AlertWatch, error) {
	var watches []model.AlertWatch
	err := s.read(ctx, func(db *gorm.DB) error {
		watches = nil
		var rules []alertRuleRow
		if err := db.Order("id").Find(&rules, "enabled = ?", true).Error; err != nil || len(rules) == 0 {
			return err
		}
		var rows []bucketRow
		const having = "deleted = ? AND id IN (SELECT bucket_id FROM alert_rules WHERE enabled = ?)"
		if err := db.Find(&rows, having, false, true).Error; err != nil {
			return err
		}
		buckets := make(map[int64]model.Bucket, len(rows))
		for i := range rows {
			buckets[rows[i].ID] = rows[i].bucket(&bucketLists{})
		}
		var alerts []alertRow
		if err := db.Find(&alerts, "open_rule IS NOT NULL").Error; err != nil {
			return err
		}
		open := make(map[int64]int64, len(alerts))
		for i := range alerts {
			open[alerts[i].RuleID] = alerts[i].ID
		}
		for i := range rules {
			if bucket, living := buckets[rules[i].BucketID]; living {
				watch := model.AlertWatch{Rule: rules[i].rule(), State: rules[i].state(), Bucket: bucket}
				watch.State.Open = open[watch.Rule.ID]
				watches = append(watches, watch)
			}
		}
		return nil
	})
	return watches, err
}

// StepAlerts moves rules on. A step whose rule, or whose rule's state, is not what it says any more is left out: another
// server has made it, so that of several side by side one tells. It returns how many alerts it started and ended.
func (s *Store) StepAlerts(ctx context.Context, steps []model.AlertStep) (told int, err error) {
	steps = slices.Clone(steps)
	slices.SortFunc(steps, func(a, b model.AlertStep) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	for batch := range slices.Chunk(steps, alertBatch) {
		var now int
		err := s.write(ctx, func(t *tx) error {
			now = 0
			for i := range batch {
				tells, err := t.stepAlert(&batch[i])
				if err != nil {
					return err
				}
				if tells {
					now++
				}
			}
			return nil
		})
		if err != nil {
			return told, err
		}
		told += now
	}
	return told, nil
}

func (t *tx) stepAlert(step *model.AlertStep) (told bool, err error) {
	var row alertRuleRow
	err = forUpdate(t.DB).Take(&row, "id = ?", step.Rule.ID).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	from := step.From
	from.Open = 0
	if row.rule() != step.Rule || row.state() != from {
		return false, nil
	}
	var bucket bucketRow
	if err := forShare(t.DB).Take(&bucket, "id = ?", row.BucketID).Error; err != nil || bucket.Deleted {
		return false, err
	}
	var open []alertRow
	if err := forUpdate(t.DB).Find(&open, "open_rule = ?", row.ID).Error; err != nil {
		return false, err
	}
	if (len(open) > 0) != (step.From.Open != 0) {
		return false, nil
	}
	row.stand(&step.To)
	if err := t.Save(&row).Error; err != nil {
		return false, err
	}
	if len(open) > 0 {
		alert := &open[0]
		alert.Share, alert.Peak = step.To.Value, max(alert.Peak, step.To.Value)
		if err := t.Save(alert).Error; err != nil {
			return false, err
		}
	}
	switch {
	case step.End != "":
		return true, t.endAlert(bucket.Name, row.ID, step.End, bySystem)
	case step.Start:
		return true, t.startAlert(bucket.Name, &row)
	}
	return false, nil
}

func (t *tx) startAlert(bucket string, rule *alertRuleRow) error {
	row := alertRow{
		OpenRule: &rule.ID, RuleID: rule.ID, BucketID: rule.BucketID, Kind: rule.Kind, Percent: rule.Percent, Minutes: rule.Minutes,
		Since: time.Unix(rule.SinceMinute*60, 0).UTC(), StartedAt: t.now, Share: rule.Share, Peak: rule.Share,
	}
	if err := t.Create(&row).Error; err != nil {
		return err
	}
	alert := row.alert(bucket)
	return t.appendChange(bySystem, model.Change{
		Action: model.ActionAlertStarted, TargetKind: model.TargetBucket, Target: bucket, After: model.AlertJSON(&alert),
	})
}

// PruneAlerts removes alerts that ended before an instant.
func (s *Store) PruneAlerts(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(t *tx) error {
		return t.Where("ended_at < ?", micros(before)).Delete(&alertRow{}).Error
	})
}
