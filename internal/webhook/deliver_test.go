package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/webhook"
)

func TestChangesComeInOrderAndOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.change(model.ActionLogin, 3) // from before the endpoint: not told
		r := newReceiver(t, nil)
		w.hook("hook", r.URL)
		first := w.change(model.ActionLogin, 5)
		w.serve()
		w.change(model.ActionLogout, 250) // do not concern it, and are more than one batch
		want := slices.Concat(first, w.change(model.ActionLogin, 5))
		testenv.Eventually(t, patience, "all deliveries", func() bool { return len(r.changes()) >= len(want) })
		testenv.Eventually(t, patience, "the cursor at the end", func() bool { return w.state("hook").Waiting == 0 })
		if got := r.changes(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// An endpoint that fails gets the same change again, with the same id, and nothing later before it.
func TestFailedDeliveryIsRepeatedBeforeAnythingLater(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var failures atomic.Int32
		r := newReceiver(t, func(delivery) int {
			if failures.Add(1) <= 2 {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w.hook("hook", r.URL)
		want := w.change(model.ActionLogin, 3)
		w.serve()
		testenv.Eventually(t, patience, "the first failure", func() bool { return w.state("hook").Failures == 1 })
		s := w.state("hook")
		if s.LastError != "answered 500" || s.FailedAt.IsZero() || s.Failing || s.NextAt.Before(s.FailedAt.Add(time.Second)) {
			t.Errorf("state %+v", s)
		}
		w.clock.pass(2 * time.Second)
		testenv.Eventually(t, patience, "the second failure", func() bool { return w.state("hook").Failures == 2 })
		w.clock.pass(4 * time.Second)
		testenv.Eventually(t, patience, "all deliveries", func() bool { return w.state("hook").Waiting == 0 })
		got := r.deliveries()
		if ids := r.changes(); !slices.Equal(ids, append([]int64{want[0], want[0]}, want...)) {
			t.Errorf("got %v, want %v after two repetitions", ids, want)
		}
		if got[0].id != got[1].id || got[1].id != got[2].id || got[2].id == got[3].id || string(got[0].body) != string(got[1].body) {
			t.Errorf("ids %s, %s, %s, %s", got[0].id, got[1].id, got[2].id, got[3].id)
		}
		if s := w.state("hook"); s.Failures != 0 || s.LastError != "" || !s.FailedAt.IsZero() {
			t.Errorf("state after it went well %+v", s)
		}
		attempts, err := w.store.WebhookAttempts(t.Context(), "hook")
		must(t, err)
		if len(attempts) != 5 || attempts[4].Error == "" || attempts[4].Status != 500 || attempts[0].Error != "" || attempts[0].Change != want[2] {
			t.Errorf("attempts %+v", attempts)
		}
	})
}

func TestDeliveryIsSignedOverItsTimeAndBody(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, nil)
	hook := w.hook("hook", r.URL)
	ids := w.change(model.ActionLogin, 1)
	w.serve()
	testenv.Eventually(t, patience, "a delivery", func() bool { return len(r.deliveries()) == 1 })
	d := r.deliveries()[0]
	var seconds int64
	var signature string
	if _, err := fmt.Sscanf(d.header.Get("Headgate-Signature"), "t=%d,v1=%s", &seconds, &signature); err != nil {
		t.Fatalf("signature %q: %v", d.header.Get("Headgate-Signature"), err)
	}
	at := time.Unix(seconds, 0)
	if since := time.Since(at); since < -time.Second || since > patience {
		t.Errorf("signed %v ago", since)
	}
	if webhook.Sign(hook.Secret, at, d.body) != d.header.Get("Headgate-Signature") {
		t.Error("the signature does not fit")
	}
	for name, forged := range map[string]string{
		"another secret": webhook.Sign("another", at, d.body), "another time": webhook.Sign(hook.Secret, at.Add(time.Second), d.body),
		"another body": webhook.Sign(hook.Secret, at, append(d.body, ' ')),
	} {
		if strings.HasSuffix(forged, signature) {
			t.Errorf("%s gives the same signature", name)
		}
	}
	var body struct {
		At     time.Time
		Change struct {
			After  json.RawMessage
			Reason string
			Hash   string
		}
	}
	must(t, json.Unmarshal(d.body, &body))
	if d.header.Get("Headgate-Event") != "login" || d.header.Get("Headgate-Event-Id") != d.id || d.header.Get("Content-Type") != "application/json" ||
		d.change != ids[0] || string(body.Change.After) != `{"n":1.50,"text":"<é> 😀"}` || body.Change.Reason != "<why> & so" || body.At.IsZero() ||
		!strings.HasSuffix(d.id, body.Change.Hash[:16]) {
		t.Errorf("delivery %v %s", d.header, d.body)
	}
}

// A known vector, so that receivers in other languages have something to test with; docs/webhooks.md shows it.
func TestSignatureOfTheDocumentsExample(t *testing.T) {
	got := webhook.Sign("hgw_example", time.Unix(1767225600, 0), []byte(`{"id":"test-1"}`))
	const want = "t=1767225600,v1=c1ac56769125d24a5f74812fdcd27709e13c0de9bc0e1640b26c22a8dd6049f8"
	if got != want {
		t.Errorf("signature %s", got)
	}
}

func TestFiltersChooseWhatAnEndpointIsToldOf(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, nil)
	for name, edit := range map[string]func(*model.Webhook){
		"prefix": func(h *model.Webhook) { h.Actions = []string{"login"} }, "whole": func(h *model.Webhook) { h.Actions = []string{"login.refused"} },
		"target": func(h *model.Webhook) { h.Actions, h.TargetKind, h.Target = nil, model.TargetUser, "user1" },
		"kind":   func(h *model.Webhook) { h.Actions, h.TargetKind = nil, model.TargetBucket },
		"off":    func(h *model.Webhook) { h.Actions, h.Enabled = nil, false },
	} {
		w.hook(name, r.URL+"/"+name, edit)
	}
	paths := map[string][]int64{}
	var mu sync.Mutex
	r.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var body struct{ Change struct{ ID int64 } }
		_ = json.NewDecoder(request.Body).Decode(&body)
		mu.Lock()
		defer mu.Unlock()
		path := strings.TrimPrefix(request.URL.Path, r.path)
		paths[path] = append(paths[path], body.Change.ID)
	})
	logins, refusals := w.change(model.ActionLogin, 2), w.change(model.ActionLoginRefused, 2)
	w.change("loginx", 1)
	must(t, w.store.AppendChange(t.Context(), model.Change{Action: "x", TargetKind: model.TargetBucket, Target: "b"}))
	head, err := w.store.AuditHead(t.Context())
	must(t, err)
	w.serve()
	for _, name := range []string{"prefix", "whole", "target", "kind"} {
		testenv.Eventually(t, patience, name, func() bool { return w.state(name).Waiting == 0 })
	}
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string][]int64{
		"/prefix": append(slices.Clone(logins), refusals...), "/whole": refusals, "/target": {logins[1], refusals[1]}, "/kind": {head.Seq}, "/off": nil,
	} {
		if !slices.Equal(paths[path], want) {
			t.Errorf("%s got %v, want %v", path, paths[path], want)
		}
	}
}

// A server that dies after a delivery and before it noted it: the change comes once more, under the same id.
func TestDeathBetweenDeliveryAndNotingRepeatsTheSameEvent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		w.hook("hook", r.URL)
		want := w.change(model.ActionLogin, 2)
		_, kill := w.serve(func(c *webhook.Config) {
			c.Store, c.Owner, c.Lease = &deadly{source: source{w.store}}, "the dead", time.Minute
		})
		testenv.Eventually(t, patience, "a delivery", func() bool { return len(r.deliveries()) == 1 })
		kill()
		w.serve()
		w.change(model.ActionLogout, 1)
		if got := len(r.deliveries()); got != 1 {
			t.Fatalf("%d deliveries while the dead server's lease lasts", got)
		}
		w.clock.pass(2 * time.Minute)
		testenv.Eventually(t, patience, "the rest", func() bool { return len(r.deliveries()) == 3 })
		got := r.deliveries()
		if got[0].id != got[1].id || !slices.Equal(r.changes(), []int64{want[0], want[0], want[1]}) {
			t.Errorf("got %v", r.changes())
		}
	})
}

// deadly is a server's view of the database that dies right after a delivery: nothing that it writes then arrives.
type deadly struct {
	source
	dead atomic.Bool
}

var errDead = errors.New("dead")

func (*deadly) AdvanceWebhook(context.Context, string, model.Webhook, model.Webhook, time.Time) error {
	return errDead
}
func (*deadly) NoteWebhookAttempt(context.Context, string, model.WebhookAttempt) error {
	return errDead
}
func (*deadly) ReleaseWebhooks(context.Context, string) error { return errDead }

// LeaseWebhooks leases once: a dead server does not come back.
func (d *deadly) LeaseWebhooks(ctx context.Context, owner string, now, until time.Time) ([]model.Webhook, error) {
	if d.dead.Swap(true) {
		return nil, errDead
	}
	return d.source.LeaseWebhooks(ctx, owner, now, until)
}

// Several servers side by side tell each change once, as long as none dies.
func TestServersSideBySideTellEachChangeOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		w.hook("one", r.URL)
		w.hook("two", r.URL)
		for i := range 3 {
			w.serve(func(c *webhook.Config) { c.Owner = fmt.Sprint("server ", i) })
		}
		var want []int64
		for range 10 {
			want = append(want, w.change(model.ActionLogin, 2)...)
		}
		testenv.Eventually(t, patience, "all deliveries", func() bool { return w.state("one").Waiting == 0 && w.state("two").Waiting == 0 })
		counts := map[int64]int{}
		for _, id := range r.changes() {
			counts[id]++
		}
		for _, id := range want {
			if counts[id] != 2 {
				t.Errorf("change %d was told %d times to two endpoints", id, counts[id])
			}
		}
	})
}

// A server that looked while it delivered does not go by what it read before that delivery was noted.
func TestLookingDuringADeliveryRepeatsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r, arrived, release := newHeldReceiver(t)
		w.hook("hook", r.URL)
		slow := &slowLooking{source: source{w.store}, read: make(chan struct{}), goOn: make(chan struct{})}
		w.serve(func(c *webhook.Config) { c.Store = slow })
		want := w.change(model.ActionLogin, 1)
		<-arrived
		slow.hold.Store(true)
		<-slow.read // the lease, which says that nothing has been delivered
		close(release)
		testenv.Eventually(t, patience, "the delivery's end", slow.empty.Load)
		close(slow.goOn)
		want = append(want, w.change(model.ActionLogin, 1)...)
		testenv.Eventually(t, patience, "the second change", func() bool { return w.state("hook").Waiting == 0 })
		if got := r.changes(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// slowLooking is a server's view of a database whose answer about a lease comes late.
type slowLooking struct {
	source
	hold, empty atomic.Bool // have the next lease wait; an endpoint had nothing left to be told
	read, goOn  chan struct{}
}

func (s *slowLooking) LeaseWebhooks(ctx context.Context, owner string, now, until time.Time) ([]model.Webhook, error) {
	late := s.hold.Swap(false)
	leased, err := s.source.LeaseWebhooks(ctx, owner, now, until)
	if late {
		s.read <- struct{}{}
		<-s.goOn
	}
	return leased, err
}

func (s *slowLooking) ChangesAfter(ctx context.Context, after int64, limit int) ([]webhook.Change, error) {
	changes, err := s.source.ChangesAfter(ctx, after, limit)
	s.empty.Store(err == nil && len(changes) == 0)
	return changes, err
}

// A server that stops lets go at once; the next one goes on where it was.
func TestStoppedServerHandsOver(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, nil)
	w.hook("hook", r.URL)
	_, stop := w.serve(func(c *webhook.Config) { c.Lease = time.Hour })
	want := w.change(model.ActionLogin, 2)
	testenv.Eventually(t, patience, "deliveries", func() bool { return w.state("hook").Waiting == 0 })
	stop()
	want = append(want, w.change(model.ActionLogin, 2)...)
	w.serve()
	testenv.Eventually(t, patience, "the rest", func() bool { return w.state("hook").Waiting == 0 })
	if got := r.changes(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A receiver that does not answer holds up neither writes nor other endpoints.
func TestSlowEndpointHoldsUpNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		slow := newReceiver(t, func(delivery) int {
			<-release
			return http.StatusOK
		})
		defer close(release)
		quick := newReceiver(t, nil)
		w.hook("slow", slow.URL)
		w.hook("quick", quick.URL)
		w.serve()
		w.change(model.ActionLogin, 1)
		testenv.Eventually(t, patience, "the slow one is called", func() bool { return len(slow.deliveries()) == 1 })
		begin := time.Now()
		want := w.change(model.ActionLogin, 20)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("20 writes took %v beside a slow endpoint", took)
		}
		testenv.Eventually(t, patience, "the quick one gets all", func() bool { return len(quick.changes()) == 21 })
		if got := quick.changes(); !slices.Equal(got[1:], want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := len(slow.deliveries()); got != 1 {
			t.Errorf("%d deliveries to the slow one at once", got)
		}
	})
}

// After three days of failures an endpoint is given up, visibly and in the history; a redelivery starts it again.
func TestEndpointIsGivenUpAfterThreeDaysAndStartedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, func(delivery) int { return http.StatusGone })
		w.hook("hook", r.URL)
		want := w.change(model.ActionLogin, 2)
		_, stop := w.serve()
		for failures := 1; !w.state("hook").Failing; failures++ {
			testenv.Eventually(t, patience, "another failure", func() bool { return w.state("hook").Failures >= failures })
			if s := w.state("hook"); s.NextAt.Sub(w.clock.now()) > 67*time.Minute {
				t.Fatalf("the next attempt is at %v", s.NextAt)
			}
			w.clock.pass(8 * time.Hour)
			if failures > 12 {
				t.Fatal("never given up")
			}
		}
		s := w.state("hook")
		if given := w.clock.now().Sub(s.FailedAt); given < 72*time.Hour {
			t.Errorf("given up after %v", given)
		}
		calls := len(r.deliveries())
		stop()
		page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionWebhookFailing})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Target != "hook" || page.Items[0].Actor != model.SystemActor {
			t.Errorf("history %+v", page.Items)
		}
		w.clock.pass(24 * time.Hour)
		w.serve()
		w.change(model.ActionLogin, 1)
		if got := len(r.deliveries()); got != calls {
			t.Errorf("%d calls after it was given up", got-calls)
		}
		r.set(nil)
		must(t, w.store.RedeliverWebhook(t.Context(), "hook", want[1], byRoot))
		testenv.Eventually(t, patience, "deliveries from there on", func() bool { return w.state("hook").Waiting == 0 })
		if got := r.changes()[calls:]; len(got) != 2 || got[0] != want[1] {
			t.Errorf("redelivered %v, want %v and the one after", got, want[1])
		}
	})
}

// An edit while a delivery is under way: what was noted of the old settings does not count for the new ones.
func TestSettingBackDuringADeliveryIsNotLost(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r, arrived, release := newHeldReceiver(t)
		ids := func() []int64 { return w.change(model.ActionLogin, 3) }
		w.hook("hook", r.URL)
		want := ids()
		must(t, w.store.RedeliverWebhook(t.Context(), "hook", want[2], byRoot))
		w.serve()
		<-arrived // the third is under way
		must(t, w.store.RedeliverWebhook(t.Context(), "hook", want[0], byRoot))
		close(release)
		testenv.Eventually(t, patience, "all from the first on", func() bool { return w.state("hook").Waiting == 0 })
		if got := r.changes(); !slices.Equal(got, []int64{want[2], want[0], want[1], want[2]}) {
			t.Errorf("got %v of %v", got, want)
		}
	})
}

func TestCheckpointsGoToThoseWhoAskForThem(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		asks, other := newReceiver(t, nil), newReceiver(t, nil)
		w.hook("asks", asks.URL, func(h *model.Webhook) { h.Checkpoints = true })
		w.hook("other", other.URL)
		d, _ := w.serve(func(c *webhook.Config) { c.Poll = time.Hour })
		w.change(model.ActionLogin, 1)
		want := w.checkpoint()
		d.Wake()
		testenv.Eventually(t, patience, "the checkpoint", func() bool { return len(asks.deliveries()) == 2 })
		got := asks.deliveries()[1]
		if got.event != "audit.checkpoint" || !strings.Contains(string(got.body), want.String()) || !strings.HasPrefix(got.id, fmt.Sprintf("checkpoint-%d-", want.Seq)) {
			t.Errorf("got %s", got.body)
		}
		testenv.Eventually(t, patience, "the other one", func() bool { return w.state("other").Waiting == 0 })
		if n := len(other.deliveries()); n != 1 {
			t.Errorf("%d deliveries to one that did not ask for checkpoints", n)
		}
	})
}

func TestTestIsSentSignedAndTellsHowItWent(t *testing.T) {
	w := onSQLite(t)
	r := newReceiver(t, nil)
	hook := w.hook("hook", r.URL)
	sender := webhook.NewSender(webhook.Guard{AllowPrivate: true}, time.Now)
	attempt, err := sender.Test(t.Context(), hook)
	must(t, err)
	got := r.deliveries()[0]
	if attempt.Error != "" || attempt.Status != http.StatusNoContent || attempt.Event != got.id || got.event != "webhook.test" || got.header.Get("Headgate-Signature") == "" {
		t.Errorf("attempt %+v, delivery %s", attempt, got.body)
	}
	for _, status := range []int{199, 301, 302, 307, 400, 500} {
		bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", r.URL)
			w.WriteHeader(max(status, 200))
			if status == 199 {
				panic(http.ErrAbortHandler)
			}
		}))
		hook.URL = bad.URL
		before := len(r.deliveries())
		attempt, err := sender.Test(t.Context(), hook)
		must(t, err)
		if status > 199 && (attempt.Error == "" || attempt.Status != status) || len(r.deliveries()) != before {
			t.Errorf("%d: %+v, %d calls elsewhere", status, attempt, len(r.deliveries())-before)
		}
		bad.Close()
	}
	hook.URL = "http://127.0.0.1:1"
	if attempt, _ := sender.Test(t.Context(), hook); attempt.Error != "the connection was refused" || attempt.Status != 0 {
		t.Errorf("nobody there: %+v", attempt)
	}
}
