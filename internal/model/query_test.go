package model_test

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

func TestQueriesNameEachBrokenField(t *testing.T) {
	long := strings.Repeat("x", 201)
	buckets := model.BucketQuery{Search: long, Label: long, App: "a b", Owner: "A", Mode: "loud", Sync: "maybe", Sort: "size", Limit: 201}
	apps := model.AppQuery{Search: "\xff", Sort: "--name", Limit: -1}
	users := model.UserQuery{Search: long, Role: "king", Sort: "-", Limit: 201}
	now := time.Now()
	changes := model.ChangeQuery{TargetKind: "planet", Target: long, Actor: long, Action: model.Action(long), From: now, To: now.Add(-1), Limit: 201}
	tests := map[string]struct {
		err    error
		fields string
	}{
		"buckets": {buckets.Validate(), "search label app owner mode sync sort limit"},
		"apps":    {apps.Validate(), "search sort limit"},
		"users":   {users.Validate(), "search role sort limit"},
		"changes": {changes.Validate(), "target_kind target actor action to limit"},
	}
	for name, test := range tests {
		got := brokenFields(t, test.err)
		for _, field := range strings.Fields(test.fields) {
			if got[field] == "" {
				t.Errorf("%s: %s is not named in %v", name, field, got)
			}
		}
		if len(got) != len(strings.Fields(test.fields)) {
			t.Errorf("%s: more than %s is named: %v", name, test.fields, got)
		}
	}
}

func TestEmptyAndFullQueriesPass(t *testing.T) {
	disabled := true
	for _, q := range []interface{ Validate() error }{
		&model.BucketQuery{}, &model.AppQuery{}, &model.UserQuery{}, &model.ChangeQuery{},
		&model.BucketQuery{Search: "%", App: "*", Owner: "alice", Label: "k=v", Mode: model.ModeOff, Sync: model.SyncPending, Sort: "-updated_at", Limit: 200},
		&model.AppQuery{Sort: "-name", Limit: 1},
		&model.UserQuery{Role: model.RoleAuditor, Disabled: &disabled, Sort: "updated_at"},
		&model.ChangeQuery{TargetKind: model.TargetSystem, Action: model.ActionLogin, MinRevision: 3},
	} {
		if err := q.Validate(); err != nil {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
