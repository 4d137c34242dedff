package webhook

import (
	"fmt"
	"strings"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// together splits changes into what an endpoint is told in one delivery each: a change that concerns it, or alerts that come
// one after the other, so many at most, so that a thousand that start at once are a handful of deliveries.
func together(w *model.Webhook, changes []Change, most int) [][]Change {
	var deliveries [][]Change
	alerts := false // the last delivery is of alerts
	for i := range changes {
		c := &changes[i]
		if !concerns(w, &c.Change) {
			continue
		}
		if last := len(deliveries) - 1; alerts && isAlert(c) && len(deliveries[last]) < most {
			deliveries[last] = append(deliveries[last], *c)
		} else {
			deliveries = append(deliveries, []Change{*c})
		}
		alerts = isAlert(c)
	}
	return deliveries
}

func isAlert(c *Change) bool {
	return c.Action == model.ActionAlertStarted || c.Action == model.ActionAlertEnded
}

// gathering tells whether more alerts may soon join those that a delivery would tell of now. That hangs on the change log
// alone, so that a restart or another server makes no difference. A clock that is far from this one's makes nobody wait.
func (d *Deliverer) gathering(delivery []Change) bool {
	age := d.Now().Sub(delivery[0].At)
	return isAlert(&delivery[0]) && -d.Gather < age && age < d.Gather
}

// ofChanges is the event of a delivery. Each alert of several stands in it as it would alone, with the id that it would have:
// what is repeated may be more or fewer of them, so these ids tell repetitions.
func ofChanges(changes []Change) (Event, error) {
	if len(changes) == 1 {
		return ofChange(&changes[0])
	}
	all := body{Event: EventAlerts, Events: make([]body, len(changes))}
	started := 0
	for i := range changes {
		all.Events[i] = changeOf(&changes[i])
		if changes[i].Action == model.ActionAlertStarted {
			started++
		}
	}
	first, last := &changes[0], &changes[len(changes)-1]
	all.ID = fmt.Sprintf("alerts-%d-%s", first.ID, strings.TrimPrefix(changeID(last), "change-"))
	all.At = last.At.UTC()
	all.Message = fmt.Sprintf("%d alerts started, %d ended", started, len(changes)-started)
	return encode(all, first.ID)
}

// defaultGather is how long alerts wait for others. All that start by one minute's usage are found within a few seconds.
const defaultGather = 5 * time.Second
