package store_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// alerted makes a bucket with one rule.
func alerted(t *testing.T, s *store.Store, name string) model.AlertBook {
	t.Helper()
	_, err := s.CreateBucket(t.Context(), name, model.Definition{Owners: []string{"alice"}, MaxPermits: 10, Rate: 10}, byAlice)
	ok(t, err)
	return must(s.SetAlertRules(t.Context(), name, 1, []model.AlertRule{
		{Kind: model.AlertLimitedShare, Percent: 50, Minutes: 1, Enabled: true},
	}, byAlice))(t)
}

// start is the step that starts the alert of the only rule.
func start(t *testing.T, s *store.Store) model.AlertStep {
	t.Helper()
	watches := must(s.AlertWatches(t.Context()))(t)
	if len(watches) != 1 {
		t.Fatalf("%d watches", len(watches))
	}
	step := model.AlertStep{Rule: watches[0].Rule, From: watches[0].State, To: watches[0].State, Start: true}
	step.To.Minute, step.To.Over, step.To.Since, step.To.Started, step.To.Value = 1000, 1, 1000, 1000, 80
	return step
}

func alertRows(t *testing.T, d database) (started, ended int) {
	t.Helper()
	return d.count(t, "SELECT COUNT(*) FROM changes WHERE action = 'alert.started'"), d.count(t, "SELECT COUNT(*) FROM changes WHERE action = 'alert.ended'")
}

// Of many servers that find the same, one tells.
func TestServersSideBySideTellOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s, other := d.migrated(t), d.open(t)
		people(t, s, "alice")
		alerted(t, s, "b")
		step := start(t, s)
		tell := func() (sum int) {
			var group sync.WaitGroup
			var mu sync.Mutex
			for i := range 8 {
				server := s
				if i%2 == 1 {
					server = other
				}
				group.Go(func() {
					n, err := server.StepAlerts(t.Context(), []model.AlertStep{step})
					mu.Lock()
					defer mu.Unlock()
					sum += n
					if err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			return sum
		}
		if n := tell(); n != 1 {
			t.Errorf("started %d times", n)
		}
		watch := must(s.AlertWatches(t.Context()))(t)[0]
		if watch.State.Open == 0 || watch.State.Started != 1000 {
			t.Fatalf("%+v", watch.State)
		}
		step = model.AlertStep{Rule: watch.Rule, From: watch.State, To: watch.State, End: model.AlertRecovered}
		step.To.Minute = 1005
		if n := tell(); n != 1 {
			t.Errorf("ended %d times", n)
		}
		if started, ended := alertRows(t, d); started != 1 || ended != 1 {
			t.Errorf("%d rows of starts, %d of ends", started, ended)
		}
		all := must(other.Alerts(t.Context(), model.AlertQuery{User: "alice", Mine: true}))(t).Items
		if len(all) != 1 || all[0].EndedAt.IsZero() || all[0].Cause != model.AlertRecovered || all[0].Peak != 80 || !all[0].Mine || !all[0].Since.Equal(time.Unix(60_000, 0)) {
			t.Errorf("%+v", all)
		}
	})
}

// A step that was found before an edit of its rule says nothing about the rule as it is.
func TestAStepOfAnEditedRuleIsLeftOut(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		book := alerted(t, s, "b")
		step := start(t, s)
		book.Rules[0].Percent = 90
		_, err := s.SetAlertRules(t.Context(), "b", 1, book.Rules, byAlice)
		wantCode(t, err, model.CodeStale)
		must(s.SetAlertRules(t.Context(), "b", book.Revision, book.Rules, byAlice))(t)
		if n := must(s.StepAlerts(t.Context(), []model.AlertStep{step}))(t); n != 0 {
			t.Errorf("told %d", n)
		}
	})
}

// An open alert ends when its rule is edited, and when its bucket is deleted. A restored bucket has its rules again; one that
// is made anew under the name has none.
func TestAlertsEndWithTheirRuleAndTheirBucket(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		book := alerted(t, s, "b")
		must(s.StepAlerts(t.Context(), []model.AlertStep{start(t, s)}))(t)
		book.Rules[0].Minutes = 2
		book = must(s.SetAlertRules(t.Context(), "b", book.Revision, book.Rules, byAlice))(t)
		if len(book.Open) != 0 {
			t.Errorf("open after an edit: %+v", book.Open)
		}
		must(s.StepAlerts(t.Context(), []model.AlertStep{start(t, s)}))(t)
		bucket := must(s.Bucket(t.Context(), "b"))(t)
		must(s.DeleteBucket(t.Context(), "b", bucket.Revision, byAlice))(t)
		if started, ended := alertRows(t, d); started != 2 || ended != 2 {
			t.Errorf("%d rows of starts, %d of ends", started, ended)
		}
		if watches := must(s.AlertWatches(t.Context()))(t); len(watches) != 0 {
			t.Errorf("a deleted bucket is watched: %+v", watches)
		}
		restored := must(s.RestoreBucket(t.Context(), "b", bucket.Definition, bucket.Revision, byAlice))(t)
		if back := must(s.AlertRules(t.Context(), "b"))(t); len(back.Rules) != 1 || len(back.Open) != 0 {
			t.Errorf("restored with %+v", back)
		}
		must(s.DeleteBucket(t.Context(), "b", restored.Revision, byAlice))(t)
		must(s.CreateBucket(t.Context(), "b", bucket.Definition, byAlice))(t)
		if anew := must(s.AlertRules(t.Context(), "b"))(t); len(anew.Rules) != 0 || anew.Revision != 1 {
			t.Errorf("made anew with %+v", anew)
		}
	})
}

func TestRulesThatCannotBeMeasuredAreRefusedByField(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		_, err := s.CreateBucket(t.Context(), "keyed", model.Definition{Owners: []string{"alice"}, MaxPermits: 10, Rate: 10, Partition: model.PartitionKey}, byAlice)
		ok(t, err)
		for field, rule := range map[string]model.AlertRule{
			"rules[0].kind":    {Kind: model.AlertNearLimit, Percent: 90, Minutes: 1},
			"rules[0].percent": {Kind: model.AlertLimitedShare, Percent: 101, Minutes: 1},
			"rules[0].minutes": {Kind: model.AlertLimitedShare, Percent: 1, Minutes: 1441},
			"rules[0].id":      {ID: 7, Kind: model.AlertLimitedShare, Percent: 1, Minutes: 1},
		} {
			_, err := s.SetAlertRules(t.Context(), "keyed", 1, []model.AlertRule{rule}, byAlice)
			wantCode(t, err, model.CodeInvalid, field)
		}
		_, err = s.SetAlertRules(t.Context(), "keyed", 1, make([]model.AlertRule, model.AlertRulesBound+1), byAlice)
		wantCode(t, err, model.CodeInvalid, "rules")
	})
}

// Pages follow each other without a gap or a repetition: the open alerts, then the ended ones, each the newest first. Those of
// a deleted bucket are shown to whoever sees all, and to nobody else.
func TestAlertsAreReadPageByPage(t *testing.T) {
	onBoth(t, func(t *testing.T, d database) {
		s := d.migrated(t)
		people(t, s, "alice")
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			alerted(t, s, name)
		}
		for _, watch := range must(s.AlertWatches(t.Context()))(t) {
			step := model.AlertStep{Rule: watch.Rule, From: watch.State, To: watch.State, Start: true}
			step.To.Minute, step.To.Since, step.To.Started = 1000, 1000, 1000
			must(s.StepAlerts(t.Context(), []model.AlertStep{step}))(t)
		}
		// Those of b and d end with their rules; then d is deleted.
		for _, name := range []string{"b", "d"} {
			must(s.SetAlertRules(t.Context(), name, 2, nil, byAlice))(t)
		}
		must(s.DeleteBucket(t.Context(), "d", 1, byAlice))(t)
		read := func(q model.AlertQuery) string {
			var seen []string
			for q.Limit = 2; ; {
				page := must(s.Alerts(t.Context(), q))(t)
				for _, one := range page.Items {
					mark := one.Bucket
					if !one.EndedAt.IsZero() {
						mark += " ended"
					}
					if one.Deleted {
						mark += " deleted"
					}
					seen = append(seen, mark)
				}
				if q.Cursor = page.Next; q.Cursor == "" {
					return strings.Join(seen, ", ")
				}
			}
		}
		if got, want := read(model.AlertQuery{User: "alice"}), "e, c, a, d ended deleted, b ended"; got != want {
			t.Errorf("who sees all sees %s, want %s", got, want)
		}
		if got, want := read(model.AlertQuery{Viewer: "alice", User: "alice", Mine: true}), "e, c, a, b ended"; got != want {
			t.Errorf("the owner sees %s, want %s", got, want)
		}
		if got, want := read(model.AlertQuery{Open: true, Bucket: "c"}), "c"; got != want {
			t.Errorf("of one bucket: %s, want %s", got, want)
		}
		first := must(s.Alerts(t.Context(), model.AlertQuery{Limit: 2}))(t)
		_, err := s.Alerts(t.Context(), model.AlertQuery{Open: true, Limit: 2, Cursor: first.Next})
		wantCode(t, err, model.CodeInvalid, "cursor")
	})
}
