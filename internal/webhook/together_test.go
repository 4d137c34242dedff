package webhook_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/webhook"
)

// forAlerts makes an endpoint that is told of alerts, and of logins.
func (w *world) forAlerts(url string) {
	w.t.Helper()
	w.hook("pager", url, func(h *model.Webhook) { h.Actions = []string{"alert.started", "alert.ended", "login"} })
}

// patient has alerts wait until the test moves the clock. A lease outlasts that, or two servers would deliver the same.
func patient(c *webhook.Config) { c.Gather, c.Lease = time.Hour, 24*time.Hour }

// told are all changes that a receiver was told of, alone or together with others.
func (r *receiver) told() (changes []int64) {
	for _, d := range r.deliveries() {
		if d.change != 0 {
			changes = append(changes, d.change)
		}
		for _, e := range d.inside {
			changes = append(changes, e.Change.ID)
		}
	}
	return changes
}

// Many alerts start at once and end at once: each is told once, in its order, in a handful of deliveries, though
// servers stop and others go on.
func TestAThousandAlertsAreAHandfulOfDeliveries(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		w.forAlerts(r.URL)
		_, stop := w.serve(patient)
		want := w.alerts(model.ActionAlertStarted, 250)
		testenv.Eventually(t, patience, "a full delivery", func() bool { return w.state("pager").Cursor >= want[150] })
		stop()
		w.serve(patient)
		w.serve(patient)
		want = append(want, w.alerts(model.ActionAlertStarted, 250)...)
		want = append(want, w.alerts(model.ActionAlertEnded, 500)...)
		testenv.Eventually(t, patience, "the full deliveries", func() bool { return w.state("pager").Waiting < 200 })
		w.clock.pass(time.Hour)
		testenv.Eventually(t, patience, "all deliveries", func() bool { return w.state("pager").Waiting == 0 })
		if got := r.told(); !slices.Equal(got, want) {
			t.Errorf("told of %d changes, want %d, each once and in order", len(got), len(want))
		}
		if n := len(r.deliveries()); n > 6 {
			t.Errorf("%d deliveries of 1000 alerts", n)
		}
		for _, d := range r.deliveries() {
			t.Logf("delivery %s of %d alerts", d.id, len(d.inside))
			if len(d.id) > 64 || len(d.body) > 256<<10 || len(d.inside) > 200 {
				t.Errorf("%s has %d bytes and %d alerts", d.id, len(d.body), len(d.inside))
			}
		}
	})
}

func TestAlertsWaitForOthersAndForNothingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		w.forAlerts(r.URL)
		d, _ := w.serve(patient)
		alone := w.alerts(model.ActionAlertStarted, 1)
		login := w.change(model.ActionLogin, 1) // comes behind it, so nothing may join it any more
		testenv.Eventually(t, patience, "the alert and the login", func() bool { return slices.Equal(r.told(), append(alone, login...)) })
		if first := r.deliveries()[0]; first.event != "alert.started" || len(first.inside) != 0 {
			t.Errorf("an alert alone came as %s", first.body)
		}

		together := append(w.alerts(model.ActionAlertStarted, 2), w.alerts(model.ActionAlertEnded, 1)...)
		w.change(model.ActionLogout, 1) // does not concern the endpoint
		for range 3 {
			d.Wake()
		}
		if got := len(r.deliveries()); got != 2 {
			t.Fatalf("%d deliveries while alerts gather", got)
		}
		w.clock.pass(time.Hour)
		testenv.Eventually(t, patience, "the alerts together", func() bool { return len(r.deliveries()) == 3 })
		got := r.deliveries()[2]
		var body struct {
			Message string
			Events  []struct {
				Change struct{ After json.RawMessage }
			}
		}
		must(t, json.Unmarshal(got.body, &body))
		if got.event != "alerts" || got.header.Get("Headgate-Event") != "alerts" || got.header.Get("Headgate-Event-Id") != got.id ||
			body.Message != "2 alerts started, 1 ended" || !strings.Contains(string(body.Events[0].Change.After), `"peak":9`) {
			t.Errorf("delivery %v %s", got.header, got.body)
		}
		if all := r.told(); !slices.Equal(all[2:], together) {
			t.Errorf("told of %v, want %v", all[2:], together)
		}
	})
}

// What is repeated has grown by the alerts that came meanwhile; the ids of the alerts in it stay.
func TestRepeatedAlertsKeepTheirIDsAndTakeTheLaterOnesAlong(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		arrived, release := make(chan struct{}, 10), make(chan struct{})
		r := newReceiver(t, func(d delivery) int {
			arrived <- struct{}{}
			<-release
			if len(d.inside) == 2 {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		})
		w.forAlerts(r.URL)
		first := w.alerts(model.ActionAlertStarted, 2)
		w.clock.pass(2 * time.Hour)
		w.serve(patient)
		<-arrived
		all := append(slices.Clone(first), w.alerts(model.ActionAlertStarted, 2)...)
		close(release)
		testenv.Eventually(t, patience, "the failure", func() bool { return w.state("pager").Failures == 1 })
		w.clock.pass(2 * time.Second)
		testenv.Eventually(t, patience, "all deliveries", func() bool { return w.state("pager").Waiting == 0 })
		got := r.deliveries()
		if len(got) != 2 || len(got[0].inside) != 2 || len(got[1].inside) != 4 || !slices.Equal(r.told(), append(slices.Clone(first), all...)) {
			t.Fatalf("told of %v in %d deliveries", r.told(), len(got))
		}
		if got[0].id == got[1].id || got[0].inside[0].ID != got[1].inside[0].ID || got[0].inside[1].ID != got[1].inside[1].ID {
			t.Errorf("first %s, then %s", got[0].body, got[1].body)
		}
		attempts, err := w.store.WebhookAttempts(t.Context(), "pager")
		must(t, err)
		if len(attempts) != 2 || attempts[0].Event != got[1].id || attempts[0].Change != first[0] {
			t.Errorf("attempts %+v", attempts)
		}
	})
}

// An endpoint that can't take many alerts at once gets fewer, until it takes them.
func TestAnEndpointThatCannotTakeManyAlertsGetsFewer(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, func(d delivery) int {
		if len(d.inside) > 30 {
			return http.StatusRequestEntityTooLarge
		}
		return http.StatusOK
	})
	w.forAlerts(r.URL)
	want := w.alerts(model.ActionAlertStarted, 100)
	w.clock.pass(2 * time.Hour)
	w.serve(patient)
	testenv.Eventually(t, patience, "all deliveries", func() bool {
		w.clock.pass(time.Second) // as long as it waits after a failure
		return w.state("pager").Waiting == 0
	})
	var taken []int64
	good := 0
	for _, d := range r.deliveries() {
		if len(d.inside) > 30 {
			continue
		}
		good++
		for _, e := range d.inside {
			taken = append(taken, e.Change.ID)
		}
	}
	if !slices.Equal(taken, want) || good > 8 {
		t.Errorf("it took %d of %d alerts in %d deliveries", len(taken), len(want), good)
	}
}

// A clock that is far from that of the server that wrote the alert holds nothing up.
func TestAlertsFromAClockFarAheadDoNotWait(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, nil)
	w.forAlerts(r.URL)
	w.clock.pass(5 * time.Hour)
	want := w.alerts(model.ActionAlertStarted, 2)
	w.clock.pass(-5 * time.Hour)
	w.serve(patient)
	testenv.Eventually(t, patience, "the alerts", func() bool { return slices.Equal(r.told(), want) })
}
