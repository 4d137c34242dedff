package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/headgate/headgate/internal/model"
)

// documentHistory writes into the description what the types of the history can't say: bounds, choices, and which objects
// may be null.
func documentHistory(schemas map[string]*huma.Schema) {
	for _, name := range []string{"Revision", "DeletedBucket", "BucketAsOf", "BucketAsOfPeople"} {
		mayBeNull(schemas[name].Properties, "definition")
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

// documentFigures says which objects of usage and of the stream may be null.
func documentFigures(schemas map[string]*huma.Schema) {
	mayBeNull(schemas["AppUsage"].Properties, "others")
	mayBeNull(schemas["StreamBucket"].Properties, "rates")
	mayBeNull(schemas["StreamAppSample"].Properties, "rates", "others")
}

// mayBeNull lets properties that are objects be null as well.
func mayBeNull(properties map[string]*huma.Schema, names ...string) {
	for _, name := range names {
		p := properties[name]
		properties[name] = &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
	}
}
