package alert

import (
	"time"

	"github.com/headgate/headgate/internal/model"
)

const percent = 100

// limitedShare is the percent of the permits asked for that were limited, or would have been but for mode shadow; 0 where
// nothing was asked for.
func limitedShare(apps map[string]model.Used) float64 {
	var sum model.RecentUsage
	for _, used := range apps {
		sum.Used = sum.Plus(used)
	}
	return percent * sum.LimitedShare()
}

// flow is the percent, of what the limit lets through in a minute, that was granted in one; of partition app that of the app
// that is nearest to its limit. Only for buckets of GaugeFlow.
func flow(d *model.Definition, apps map[string]model.Used) float64 {
	most, sum := int64(0), int64(0)
	for _, used := range apps {
		most, sum = max(most, used.Granted), sum+used.Granted
	}
	if d.Partition == model.PartitionShared {
		most = sum
	}
	perMinute := float64(d.MaxPermits) * float64(time.Minute) / float64(d.Period)
	if d.Algorithm == model.TokenBucket {
		perMinute = float64(d.Rate) * float64(time.Minute) / float64(d.Period)
	}
	if perMinute <= 0 {
		return 0
	}
	return percent * float64(most) / perMinute
}
