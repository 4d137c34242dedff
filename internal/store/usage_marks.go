package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/headgate/headgate/internal/model"
)

// clearedMark is the usage_marks row that says below which hour the minutes were given up.
const clearedMark = "cleared"

type usageMark struct {
	Name string `gorm:"primaryKey"`
	Upto int64
}

func (usageMark) TableName() string { return "usage_marks" }

// UsageMarks reads how far the roll-up has come; a mark that was never set is absent.
func (s *Store) UsageMarks(ctx context.Context) (map[string]int64, error) {
	var rows []usageMark
	if err := s.readOne(ctx, func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	marks := map[string]int64{}
	for _, row := range rows {
		marks[row.Name] = row.Upto
	}
	return marks, nil
}

// SetUsageMarks notes how far the roll-up has come.
func (s *Store) SetUsageMarks(ctx context.Context, marks map[string]int64) error {
	rows := make([]usageMark, 0, len(marks))
	for name, upto := range marks {
		rows = append(rows, usageMark{name, upto})
	}
	if len(rows) == 0 {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		return t.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"upto"})}).Create(&rows).Error
	})
}

// PruneUsage gives up the minutes of hours before the one, and removes the hours before the other. It works hour by hour
// and may be broken off and begun again at will.
func (s *Store) PruneUsage(ctx context.Context, minutesBefore, hoursBefore int64) error {
	marks, err := s.UsageMarks(ctx)
	if err != nil {
		return err
	}
	oldest, err := s.oldestUsage(ctx)
	if err != nil || oldest < 0 {
		return err
	}
	for hour := oldest; hour < hoursBefore && oldest >= 0; hour = oldest {
		if err := s.write(ctx, func(t *tx) error { return t.Where("hour = ?", hour).Delete(&usageHour{}).Error }); err != nil {
			return err
		}
		if oldest, err = s.oldestUsage(ctx); err != nil {
			return err
		}
	}
	for hour := max(oldest, min(marks[clearedMark], minutesBefore)); hour < minutesBefore; hour++ {
		err := s.write(ctx, func(t *tx) error {
			return t.Model(&usageHour{}).Where("hour = ?", hour).Update("minutes", []byte{}).Error
		})
		if err != nil {
			return err
		}
	}
	return s.SetUsageMarks(ctx, map[string]int64{clearedMark: minutesBefore})
}

// oldestUsage is the oldest hour there is; -1 when there is none.
func (s *Store) oldestUsage(ctx context.Context) (int64, error) {
	oldest := int64(-1)
	err := s.readOne(ctx, func(db *gorm.DB) error {
		return db.Model(&usageHour{}).Select("COALESCE(MIN(hour), -1)").Scan(&oldest).Error
	})
	return oldest, err
}

// UsageHours lists the hours of a bucket from hour from to hour to, both included, by hour and app: also those of a
// deleted one. CodeNotFound.
func (s *Store) UsageHours(ctx context.Context, bucket string, from, to int64) ([]model.UsageRow, error) {
	var rows []model.UsageRow
	err := s.usageRows(ctx, bucket, from, to, func(r *usageHour) error {
		rows = append(rows, r.row(bucket))
		return nil
	})
	return rows, err
}

// UsageMinutes lists the minutes that are kept of a bucket from minute from to minute to, both included. CodeNotFound.
func (s *Store) UsageMinutes(ctx context.Context, bucket string, from, to int64) ([]model.UsageRow, error) {
	var rows []model.UsageRow
	err := s.usageRows(ctx, bucket, from/model.HourMinutes, to/model.HourMinutes, func(r *usageHour) error {
		return eachMinute(r, from, to, func(minute int64, used model.Used) {
			rows = append(rows, model.UsageRow{Bucket: bucket, App: r.App, Minute: minute, Used: used})
		})
	})
	return rows, err
}

func (s *Store) usageRows(ctx context.Context, bucket string, from, to int64, each func(*usageHour) error) error {
	return s.read(ctx, func(db *gorm.DB) error {
		row, err := bucketByName(db, bucket)
		if err != nil {
			return err
		}
		var hours []usageHour
		err = db.Where("bucket_id = ? AND hour BETWEEN ? AND ?", row.ID, from, to).Order("hour, app").Find(&hours).Error
		for i := 0; i < len(hours) && err == nil; i++ {
			err = each(&hours[i])
		}
		return err
	})
}

// eachMinute hands over the minutes of an hour that are not 0 and lie within from and to.
func eachMinute(r *usageHour, from, to int64, each func(minute int64, used model.Used)) error {
	hour, err := model.DecodeHourUsage(r.Minutes)
	if err != nil {
		return err
	}
	for i, used := range hour {
		if minute := r.Hour*model.HourMinutes + int64(i); used != (model.Used{}) && minute >= from && minute <= to {
			each(minute, used)
		}
	}
	return nil
}
