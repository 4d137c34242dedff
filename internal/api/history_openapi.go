package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/model"
)

// documentHistory writes into the description what the types of the history can't say: bounds, choices, and which objects
// may be null.
func documentHistory(schemas map[string]*huma.Schema) {
	for _, name := range []string{"Revision", "DeletedBucket", "BucketAsOf", "BucketAsOfPeople"} {
		p := schemas[name].Properties
		doc := p["definition"].Description
		p["definition"] = &huma.Schema{Description: doc, AnyOf: []*huma.Schema{{Ref: p["definition"].Ref}, {Type: "null"}}}
	}
	for _, name := range []string{"TakeOver", "BucketRestore"} {
		p := schemas[name].Properties
		lengths(p["reason"], 1, model.ReasonBound)
		between(p["revision"], 1, 1<<53-1)
	}
	for _, name := range []string{"BucketAsOf", "BucketAsOfPeople"} {
		choices(schemas[name].Properties["state"], model.AsOfInForce, model.AsOfDeleted, model.AsOfAbsent, model.AsOfUnknown)
	}
	choices(schemas["WebhookState"].Properties["state"], "ok", "retrying", "failing", "off")
	choices(schemas["PersonAsOf"].Properties["as"], "owner", "admin", "auditor", "app_owner", "app_viewer")
}
