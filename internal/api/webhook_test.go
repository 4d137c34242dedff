package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/webhook"
)

const webhooksPath = "/api/v1/webhooks"

// calls are the calls of webhooks as the composition root wires them.
type calls struct {
	webhook.Guard
	*webhook.Sender
}

func withWebhooks(allowPrivate bool) func(*api.Config) {
	guard := webhook.Guard{AllowPrivate: allowPrivate}
	return func(c *api.Config) { c.Webhooks = calls{guard, webhook.NewSender(guard, time.Now)} }
}

func TestWebhookIsManagedByAdminsAndItsSecretShownOnce(t *testing.T) {
	w := onSQLite(t, withWebhooks(false))
	c := w.as(root)
	body := map[string]any{"name": "siem", "url": "https://93.184.215.14/hook", "actions": []string{"bucket", "login.refused"}, "reason": "the auditors asked"}
	var made api.WebhookCreated
	a := c.do("POST", webhooksPath, body).want(t, http.StatusCreated)
	a.into(t, &made)
	if !strings.HasPrefix(made.Secret, "hgw_") || len(made.Secret) != 68 || !made.Enabled || made.State.State != "ok" || made.State.Waiting != 1 || a.header.Get("ETag") != `"1"` {
		t.Errorf("made %s", a.body)
	}
	c.do("POST", webhooksPath, body).problem(t, http.StatusConflict)
	put := map[string]any{"url": "https://93.184.215.14/other", "enabled": false}
	c.do("PUT", webhooksPath+"/siem", put).problem(t, http.StatusPreconditionRequired)
	c.do("PUT", webhooksPath+"/siem", put, "If-Match", `"7"`).problem(t, http.StatusPreconditionFailed)
	c.do("PUT", webhooksPath+"/siem", put, "If-Match", `"1"`).want(t, http.StatusOK)
	var secret api.WebhookSecret
	c.do("POST", webhooksPath+"/siem/secret", nil).want(t, http.StatusOK).into(t, &secret)
	if secret.Secret == made.Secret || !strings.HasPrefix(secret.Secret, "hgw_") {
		t.Errorf("new secret %q", secret.Secret)
	}
	var detail api.WebhookDetail
	a = c.do("GET", webhooksPath+"/siem", nil).want(t, http.StatusOK)
	a.into(t, &detail)
	if detail.URL != "https://93.184.215.14/other" || detail.State.State != "off" || detail.Revision != 2 || len(detail.Actions) != 0 {
		t.Errorf("detail %s", a.body)
	}
	list := c.do("GET", webhooksPath, nil).want(t, http.StatusOK)
	log := c.do("GET", "/api/v1/changes?target_kind=webhook", nil).want(t, http.StatusOK)
	for _, answer := range []answer{a, list, log} {
		if strings.Contains(string(answer.body), "hgw_") {
			t.Errorf("the secret is shown again: %s", answer.body)
		}
	}
	c.do("DELETE", webhooksPath+"/siem", nil, "If-Match", `"2"`).want(t, http.StatusNoContent)
	c.do("GET", webhooksPath+"/siem", nil).problem(t, http.StatusNotFound)
	var changes api.List[api.Change]
	c.do("GET", "/api/v1/changes?target_kind=webhook", nil).want(t, http.StatusOK).into(t, &changes)
	var actions []string
	for _, row := range changes.Items {
		actions = append(actions, string(row.Action))
	}
	if want := []string{"webhook.delete", "webhook.secret", "webhook.update", "webhook.create"}; !slices.Equal(actions, want) || changes.Items[3].Reason != "the auditors asked" {
		t.Errorf("history %q", actions)
	}
}

func TestBadWebhooksAreRefusedWithTheField(t *testing.T) {
	w := onSQLite(t, withWebhooks(false))
	c := w.as(root)
	for _, bad := range []struct {
		changes map[string]any
		field   string
	}{
		{map[string]any{"url": "https://127.0.0.1/"}, "url"}, {map[string]any{"url": "https://169.254.169.254/latest"}, "url"},
		{map[string]any{"url": "http://example.com/"}, "url"}, {map[string]any{"url": "ftp://example.com/"}, "url"},
		{map[string]any{"url": "https://example.com:99999/"}, "url"}, {map[string]any{"url": "https://example.com:0/"}, "url"},
		{map[string]any{"url": "https://user:pw@example.com/"}, "url"}, {map[string]any{"url": "https://example.com/#x"}, "url"},
		{map[string]any{"url": "https://example.com/\r\nX: y"}, "url"}, {map[string]any{"url": strings.Repeat("x", 501)}, "url"},
		{map[string]any{"url": ""}, "url"}, {map[string]any{"name": "a b"}, "name"}, {map[string]any{"name": "x\r\ny"}, "name"},
		{map[string]any{"actions": []string{"bucket", "No Such"}}, "actions[1]"}, {map[string]any{"actions": []string{""}}, "actions[0]"},
		{map[string]any{"actions": slices.Repeat([]string{"x"}, 21)}, "actions"}, {map[string]any{"target_kind": "planet"}, "target_kind"},
		{map[string]any{"target": "x"}, "target_kind"}, {map[string]any{"secret": "mine"}, "secret"},
		{map[string]any{"reason": strings.Repeat("x", 501)}, "reason"},
	} {
		body := map[string]any{"name": "hook", "url": "https://93.184.215.14/"}
		for k, v := range bad.changes {
			body[k] = v
		}
		if p := c.do("POST", webhooksPath, body).problem(t, http.StatusUnprocessableEntity); !slices.Contains(fields(p), bad.field) {
			t.Errorf("%v: %+v", bad.changes, p.Errors)
		}
	}
	if list := c.do("GET", webhooksPath, nil); !strings.Contains(string(list.body), `"items":[]`) {
		t.Errorf("saved %s", list.body)
	}
	c.do("POST", webhooksPath+"/ghost/redeliver", map[string]any{"from": 0}).problem(t, http.StatusNotFound)
}

func TestTestOfAWebhookTellsHowItWentAndRedeliveryStartsItAgain(t *testing.T) {
	w := onSQLite(t, withWebhooks(true))
	c := w.as(root)
	// The API itself is an endpoint that refuses: without a session it answers 401 to a POST.
	c.do("POST", webhooksPath, map[string]any{"name": "hook", "url": w.server.URL + "/api/v1/webhooks"}).want(t, http.StatusCreated)
	var attempt api.WebhookAttempt
	c.do("POST", webhooksPath+"/hook/test", nil).want(t, http.StatusOK).into(t, &attempt)
	if attempt.Status != http.StatusUnauthorized || attempt.Error != "answered 401" || !strings.HasPrefix(attempt.Event, "test-") {
		t.Errorf("attempt %+v", attempt)
	}
	var detail api.WebhookDetail
	c.do("GET", webhooksPath+"/hook", nil).want(t, http.StatusOK).into(t, &detail)
	if len(detail.Attempts) != 1 || detail.Attempts[0] != attempt || detail.State.Failures != 0 {
		t.Errorf("detail %+v", detail)
	}
	for from, status := range map[int64]int{-1: 422, 0: 422, 1: 200, 1 << 40: 422} {
		c.do("POST", webhooksPath+"/hook/redeliver", map[string]any{"from": from}).want(t, status)
	}
	c.do("GET", webhooksPath+"/hook", nil).want(t, http.StatusOK).into(t, &detail)
	if detail.State.Cursor != 0 || detail.State.Waiting < 10 {
		t.Errorf("set back: %+v", detail.State)
	}
	page, err := w.store.Changes(t.Context(), model.ChangeQuery{Action: model.ActionWebhookTest})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].Actor != root || page.Items[0].Reason != "" {
		t.Errorf("history %+v", page.Items)
	}
}

func TestServerWithoutDeliveryTakesNoWebhooks(t *testing.T) {
	w := onSQLite(t)
	w.as(root).do("POST", webhooksPath, map[string]any{"name": "x", "url": "https://example.com"}).problem(t, http.StatusServiceUnavailable)
}
