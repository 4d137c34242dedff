package store

import (
	"context"

	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// SetAlertRules replaces the rules of a bucket, whose rules are still at revision base. A rule with an id goes on with what
// it has counted, unless it says something else now; the open alert of one that was changed, switched off or left out ends.
// CodeNotFound, CodeStale, CodeInvalid.
func (s *Store) SetAlertRules(ctx context.Context, bucket string, base int64, rules []model.AlertRule, o model.Origin) (model.AlertBook, error) {
	var book model.AlertBook
	err := s.write(ctx, func(t *tx) error {
		row, err := livingBucket(forUpdate(t.DB), bucket)
		if err != nil {
			return err
		}
		before, err := alertBook(t.DB, row)
		if err != nil {
			return err
		}
		if before.Revision != base {
			return stale("alert rules", before.Revision, base)
		}
		definition := row.bucket(&bucketLists{}).Definition
		if err := model.ValidateAlertRules(&definition, rules, before.Rules); err != nil {
			return err
		}
		if err := t.replaceRules(row, rules, o); err != nil {
			return err
		}
		set := alertSet{BucketID: row.ID, Revision: base + 1, UpdatedBy: o.Actor, UpdatedAt: t.now}
		if err := t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&set).Error; err != nil {
			return err
		}
		if book, err = alertBook(t.DB, row); err != nil {
			return err
		}
		// Without a revision: those of the bucket are its definitions.
		return t.appendChange(o, model.Change{
			Action: model.ActionAlertRules, TargetKind: model.TargetBucket, Target: row.Name,
			Before: model.AlertRulesJSON(before.Rules), After: model.AlertRulesJSON(book.Rules),
		})
	})
	return book, err
}

func (t *tx) replaceRules(bucket *bucketRow, rules []model.AlertRule, o model.Origin) error {
	var present []alertRuleRow
	if err := forUpdate(t.DB).Order("id").Find(&present, "bucket_id = ?", bucket.ID).Error; err != nil {
		return err
	}
	wanted := map[int64]*model.AlertRule{}
	for i := range rules {
		wanted[rules[i].ID] = &rules[i]
	}
	for i := range present {
		if err := t.replaceRule(bucket, &present[i], wanted[present[i].ID], o); err != nil {
			return err
		}
	}
	for i := range rules {
		if rules[i].ID != 0 {
			continue
		}
		row := alertRuleRow{BucketID: bucket.ID, Kind: string(rules[i].Kind), Percent: rules[i].Percent, Minutes: rules[i].Minutes, Enabled: rules[i].Enabled}
		if err := t.Create(&row).Error; err != nil {
			return err
		}
	}
	return nil
}

// replaceRule makes a rule what it is to be; nil: it is removed. The minute of its last start stays, so that editing a rule
// to and fro tells no more often.
func (t *tx) replaceRule(bucket *bucketRow, row *alertRuleRow, to *model.AlertRule, o model.Origin) error {
	was := row.rule()
	if to != nil && *to == was {
		return nil
	}
	if err := t.endAlert(bucket.Name, row.ID, model.AlertRuleChanged, o); err != nil {
		return err
	}
	if to == nil {
		return t.Delete(row).Error
	}
	row.Kind, row.Percent, row.Minutes, row.Enabled = string(to.Kind), to.Percent, to.Minutes, to.Enabled
	row.stand(&model.AlertState{Started: row.StartedMinute})
	return t.Save(row).Error
}

// endAlert ends the open alert of a rule, where there is one, and tells it.
func (t *tx) endAlert(bucket string, rule int64, cause model.AlertCause, o model.Origin) error {
	var open []alertRow
	if err := forUpdate(t.DB).Find(&open, "open_rule = ?", rule).Error; err != nil || len(open) == 0 {
		return err
	}
	row := &open[0]
	before := row.alert(bucket)
	row.OpenRule, row.EndedAt, row.Cause = nil, &t.now, string(cause)
	if err := t.Save(row).Error; err != nil {
		return err
	}
	after := row.alert(bucket)
	return t.appendChange(o, model.Change{
		Action: model.ActionAlertEnded, TargetKind: model.TargetBucket, Target: bucket, Before: model.AlertJSON(&before), After: model.AlertJSON(&after),
	})
}

// endAlerts ends what is open of a bucket that is deleted. Its rules stay, for it may be restored, and count from anew.
func (t *tx) endAlerts(bucket *bucketRow, o model.Origin) error {
	var rules []alertRuleRow
	if err := forUpdate(t.DB).Order("id").Find(&rules, "bucket_id = ?", bucket.ID).Error; err != nil {
		return err
	}
	for i := range rules {
		if err := t.endAlert(bucket.Name, rules[i].ID, model.AlertDeleted, o); err != nil {
			return err
		}
		rules[i].stand(&model.AlertState{Started: rules[i].StartedMinute})
		if err := t.Save(&rules[i]).Error; err != nil {
			return err
		}
	}
	return nil
}

// forgetAlerts takes away what stood under the name of a bucket that was deleted, for one that is made anew.
func (t *tx) forgetAlerts(id int64) error {
	return t.clearLists(id, &alertRuleRow{}, &alertRow{}, &alertSet{})
}
