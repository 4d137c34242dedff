package api

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/model"
)

// OpenAPI returns the description of the API as an OpenAPI 3.1 document: what the server serves, docs/openapi.json
// holds, and the console's types are generated from.
func OpenAPI() []byte { return openAPI() }

var openAPI = sync.OnceValue(func() []byte {
	_, r := new(server).build()
	document := r.huma.OpenAPI()
	documentRules(document.Components.Schemas.Map())
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic("api: the description of the API did not encode: " + err.Error()) // it is built from our own types
	}
	return append(raw, '\n')
})

func (s *server) openapi(c *gin.Context) { c.Data(http.StatusOK, "application/json", s.document) }

// documentRules writes the bounds of package model into the description. They are in no struct tag, because then huma
// would check them as well, in other words and before the model can name every wrong field at once.
func documentRules(schemas map[string]*huma.Schema) {
	for _, name := range []string{"BucketCreate", "BucketUpdate"} {
		p := schemas[name].Properties
		lengths(p["description"], 0, model.DescriptionBound)
		lengths(p["reason"], 1, model.ReasonBound)
		atMost(p["labels"], p["apps"], p["owners"])
		between(p["max_permits"], 1, model.MaxPermitsBound)
		between(p["rate"], 0, model.RateBound)
		between(p["period_ms"], model.PeriodMin.Milliseconds(), model.PeriodMax.Milliseconds())
		between(p["max_wait_ms"], 0, model.MaxWaitBound.Milliseconds())
		between(p["shards"], 1, model.ShardsBound)
	}
	for _, name := range []string{"Bucket", "BucketCreate", "BucketUpdate"} {
		p := schemas[name].Properties
		choices(p["algorithm"], model.Algorithms...)
		choices(p["partition"], model.PartitionShared, model.PartitionApp, model.PartitionKey, model.PartitionAppKey)
		choices(p["mode"], model.ModeEnforce, model.ModeShadow, model.ModeOff)
		choices(p["on_redis_failure"], model.FailOpen, model.FailClosed, model.FailLocal)
		choices(p["after_loss"], model.LossRefill, model.LossFull)
	}
	for _, name := range []string{"Me", "User", "UserCreate", "UserUpdate", "ServiceAccountCreate"} {
		choices(schemas[name].Properties["role"], model.RoleAdmin, model.RoleAuditor, model.RoleMember)
	}
	for _, name := range []string{"UserCreate", "PasswordSet", "PasswordChange"} {
		lengths(schemas[name].Properties["password"], model.PasswordMin, model.PasswordMax)
	}
	for _, name := range []string{"Member", "MemberSet"} {
		choices(schemas[name].Properties["role"], model.AppOwner, model.AppViewer)
	}
	for _, name := range []string{"Token", "TokenCreate"} {
		choices(schemas[name].Properties["scopes"].Items, model.TokenScopes...)
	}
	choices(schemas["Token"].Properties["kind"], model.TokenPersonal, model.TokenService)
	choices(schemas["Token"].Properties["state"], model.TokenActive, model.TokenExpired, model.TokenRevoked, model.TokenSuspended)
	between(schemas["TokenCreate"].Properties["expires_in_days"], 1, int64(model.TokenLifeMax/(24*time.Hour)))
	choices(schemas["Change"].Properties["target_kind"], model.TargetBucket, model.TargetApp, model.TargetUser, model.TargetSystem, model.TargetWebhook)
	documentHistory(schemas)
	documentFigures(schemas)
	choices(schemas["FieldError"].Properties["code"], model.RuleCodes()...)
	choices(schemas["Problem"].Properties["rule"], model.RuleCodes()...)
	choices(schemas["Sync"].Properties["state"], model.SyncSynced, model.SyncPending)
}

func between(s *huma.Schema, low, high int64) {
	least, most := float64(low), float64(high)
	s.Minimum, s.Maximum = &least, &most
}

func lengths(s *huma.Schema, low, high int) { s.MinLength, s.MaxLength = &low, &high }

func atMost(labels, apps, owners *huma.Schema) {
	labelsMost, appsMost, ownersMost := model.LabelsBound, model.AppsBound, model.OwnersBound
	labels.MaxProperties, apps.MaxItems, owners.MaxItems = &labelsMost, &appsMost, &ownersMost
}

func choices[T ~string](s *huma.Schema, values ...T) {
	s.Enum = nil
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
}
