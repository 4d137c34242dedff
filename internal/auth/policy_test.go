package auth_test

import (
	"slices"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

var everyPermission = []auth.Permission{
	auth.BucketSee, auth.BucketCreate, auth.BucketEdit, auth.BucketAllApps, auth.AppSee, auth.AppCreate, auth.AppManage,
	auth.UserNames, auth.UserSee, auth.UserManage, auth.AuditRead, auth.AuditExport, auth.WebhookManage, auth.SystemSee, auth.SystemManage, auth.TokenManage,
}

// The table of the design, written down a second time: a change of the policy must be meant.
func TestPolicyIsTheTableOfTheDesign(t *testing.T) {
	member := func(r model.Relation) func(auth.Permission) bool {
		p := auth.Principal{Name: "x", Role: model.RoleMember}
		return func(needs auth.Permission) bool { return p.May(needs, r) }
	}
	role := func(role model.Role) func(auth.Permission) bool {
		p := auth.Principal{Name: "x", Role: role}
		return func(needs auth.Permission) bool { return p.Everywhere(needs) && p.May(needs, model.Relation{}) }
	}
	columns := map[string]struct {
		may  func(auth.Permission) bool
		want []auth.Permission
	}{
		"admin":             {role(model.RoleAdmin), everyPermission},
		"auditor":           {role(model.RoleAuditor), []auth.Permission{auth.BucketSee, auth.AppSee, auth.UserNames, auth.UserSee, auth.AuditRead, auth.AuditExport, auth.SystemSee}},
		"member of nothing": {member(model.Relation{}), nil},
		"app owner": {member(model.Relation{AppOwner: true}), []auth.Permission{
			auth.BucketSee, auth.BucketCreate, auth.AppSee, auth.AppManage, auth.UserNames}},
		"app viewer":   {member(model.Relation{AppViewer: true}), []auth.Permission{auth.BucketSee, auth.AppSee, auth.UserNames}},
		"bucket owner": {member(model.Relation{BucketOwner: true}), []auth.Permission{auth.BucketSee, auth.BucketEdit, auth.UserNames}},
	}
	for name, column := range columns {
		for _, needs := range everyPermission {
			if got, want := column.may(needs), slices.Contains(column.want, needs); got != want {
				t.Errorf("%s: %s is %v, want %v", name, needs, got, want)
			}
		}
	}
}

func TestRightsOfSeveralColumnsAddUp(t *testing.T) {
	auditor := auth.Principal{Name: "x", Role: model.RoleAuditor}
	if auditor.May(auth.BucketEdit, model.Relation{}) {
		t.Error("an auditor edits a bucket of others")
	}
	if !auditor.May(auth.BucketEdit, model.Relation{BucketOwner: true}) || !auditor.May(auth.AuditRead, model.Relation{BucketOwner: true}) {
		t.Error("an auditor who owns a bucket lost a right")
	}
}

func TestNobodyMayDoNothing(t *testing.T) {
	var nobody auth.Principal
	all := model.Relation{BucketOwner: true, AppOwner: true, AppViewer: true}
	for _, needs := range append(everyPermission, auth.Self) {
		if nobody.May(needs, all) || nobody.Conceivable(needs) || nobody.Everywhere(needs) {
			t.Errorf("nobody may %s", needs)
		}
	}
	if !nobody.Conceivable(auth.Public) {
		t.Error("a public route asks for somebody")
	}
	unknownRole := auth.Principal{Name: "x", Role: "root"}
	if unknownRole.Everywhere(auth.BucketSee) {
		t.Error("a role that is not in the table holds a permission")
	}
}

func TestPermissionsListWhatNeedsNoGivenBucket(t *testing.T) {
	p := auth.Principal{Name: "x", Role: model.RoleMember}
	if got := p.Permissions(model.Relation{BucketOwner: true}); !slices.Equal(got, []auth.Permission{auth.UserNames}) {
		t.Errorf("bucket owner: %v", got)
	}
	if got := p.Permissions(model.Relation{AppOwner: true}); !slices.Equal(got, []auth.Permission{auth.BucketCreate, auth.UserNames}) {
		t.Errorf("app owner: %v", got)
	}
	if got := p.Permissions(model.Relation{}); got == nil || len(got) != 0 {
		t.Errorf("member of nothing: %v", got)
	}
}
