package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/model"
)

// The requests that docs/alerts.md shows are taken as they stand there, the rows have the members that it names, and its
// table names the parameters that the list has.
func TestDocumentedAlertRequestsAreTaken(t *testing.T) {
	raw, err := os.ReadFile("../../docs/alerts.md")
	must(t, err)
	page := string(raw)
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	w := onSQLite(t, withWebhooks(false))
	admin := w.as(root)
	admin.do("POST", buckets, definition(map[string]any{"name": "told", "partition": "shared"})).want(t, http.StatusCreated)
	var book api.AlertRules
	admin.do("PUT", buckets+"/told/alert-rules", json.RawMessage(examples[0][1]), "If-Match", `"1"`).want(t, http.StatusOK).into(t, &book)
	if len(book.Rules) != 2 || book.Rules[0].Percent != 5 || book.Rules[0].Minutes != 3 || book.Rules[1].Kind != model.AlertNearLimit {
		t.Errorf("%+v", book)
	}
	admin.do("POST", "/api/v1/webhooks", json.RawMessage(examples[1][1])).want(t, http.StatusCreated)

	var row map[string]any
	must(t, json.Unmarshal(model.AlertJSON(&model.Alert{Cause: model.AlertRecovered}), &row))
	for member := range row {
		if !strings.Contains(page, "`"+member+"`") {
			t.Errorf("the page does not name %s of the row", member)
		}
	}
	admin.do("GET", "/api/v1/alerts?mine=true&open=true&bucket=told&limit=1", nil).want(t, http.StatusOK)
	admin.do("GET", "/api/v1/alerts?cursor=nonsense", nil).problem(t, http.StatusUnprocessableEntity)
}
