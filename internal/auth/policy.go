package auth

import (
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// Permission is one thing that a person may do. Each API route names the one that it needs.
type Permission string

// The permissions. The first three are not in the table: Public asks for nobody, Known for anybody who is known, by a
// login or by an API token, and Self for anybody who is logged in: what is done with one's own account no token does.
const (
	Public Permission = "public"
	Known  Permission = "known"
	Self   Permission = "self"

	BucketSee     Permission = "bucket.see"         // a bucket, its live state and its history
	BucketCreate  Permission = "bucket.create"      // for an app owner: listing at least one own app
	BucketEdit    Permission = "bucket.edit"        // edit, delete, owners and apps
	BucketAllApps Permission = "bucket.all_apps"    // put "*" into a bucket's apps
	AppSee        Permission = "app.see"            // an app and its members
	AppCreate     Permission = "app.create"         // register an app
	AppManage     Permission = "app.manage"         // an app's description and members; delete it
	UserNames     Permission = "user.names"         // names only, to pick owners and members
	UserSee       Permission = "user.see"           // everything about users but their password
	UserManage    Permission = "user.manage"        // make, change and disable users, set passwords
	AuditRead     Permission = "audit.read"         // the whole change log
	AuditExport   Permission = "audit.export"       // the change log as a file
	WebhookManage Permission = "webhook.manage"     // endpoints that changes are told to
	SystemSee     Permission = "system.see"         // database, Redis, reconcile
	SystemManage  Permission = "system.manage"      // reconcile now
	BreakGlass    Permission = "system.break_glass" // put everything, or one app's calls, into shadow, and end that
	TokenManage   Permission = "token.manage"       // see and revoke API tokens of others; service accounts and their tokens
)

// holder is a column of the permission table: a global role, or what a person is to one bucket or app.
type holder string

const (
	admin       holder = "admin"
	auditor     holder = "auditor"
	appOwner    holder = "app owner"
	appViewer   holder = "app viewer"
	bucketOwner holder = "bucket owner"
)

// policy is the whole of who may do what: a row a permission, with those who hold it. admin and auditor hold a
// permission everywhere, the others only for their own bucket or app. Rights of several columns add up.
var policy = map[Permission][]holder{
	BucketSee:     {admin, auditor, appOwner, appViewer, bucketOwner},
	BucketCreate:  {admin, appOwner},
	BucketEdit:    {admin, bucketOwner},
	BucketAllApps: {admin},
	AppSee:        {admin, auditor, appOwner, appViewer},
	AppCreate:     {admin},
	AppManage:     {admin, appOwner},
	UserNames:     {admin, auditor, appOwner, appViewer, bucketOwner},
	UserSee:       {admin, auditor},
	UserManage:    {admin},
	AuditRead:     {admin, auditor},
	AuditExport:   {admin, auditor},
	WebhookManage: {admin},
	SystemSee:     {admin, auditor},
	SystemManage:  {admin},
	BreakGlass:    {admin},
	TokenManage:   {admin},
}

// scopePolicy says which permissions an API token of each scope has, as far as its user has them: the rights of a token
// are those of its user AND of its scopes. What stands in no scope no token may, whoever made it: with user.manage or
// token.manage, one that leaked could make itself a successor that outlives it.
var scopePolicy = map[model.TokenScope][]Permission{
	model.ScopeRead:  {BucketSee, AppSee, UserNames, SystemSee},
	model.ScopeWrite: {BucketSee, BucketCreate, BucketEdit, BucketAllApps, AppSee, AppManage, UserNames},
	model.ScopeAudit: {AuditRead, AuditExport, BucketSee, AppSee, UserSee},
	model.ScopeAdmin: {AppCreate, AppManage, AppSee, UserSee, UserNames, SystemSee, SystemManage},
}

// roleColumn says which column a global role stands in. A member stands in none: its rights come from relations.
var roleColumn = map[model.Role]holder{
	model.RoleAdmin:   admin,
	model.RoleAuditor: auditor,
}

// Principal is the person on whose behalf a request is made. The zero Principal is nobody and may do nothing.
type Principal struct {
	UserID      int64
	Name        string
	DisplayName string
	Role        model.Role
	Revision    int64  // of the user
	SessionID   string // "" for an API token

	TokenID int64              // of the API token that the request came with; 0 for a session
	Token   string             // its name
	Scopes  []model.TokenScope // its scopes, which bound what Role and relations give
}

// inScope tells whether the principal's API token lets a permission through; for a session it always does.
func (p Principal) inScope(needs Permission) bool {
	return p.TokenID == 0 || slices.ContainsFunc(p.Scopes, func(s model.TokenScope) bool {
		return slices.Contains(scopePolicy[s], needs)
	})
}

// Everywhere tells whether the principal's role holds the permission for every bucket and app.
func (p Principal) Everywhere(needs Permission) bool {
	column, ok := roleColumn[p.Role]
	return ok && slices.Contains(policy[needs], column) && p.inScope(needs)
}

// May tells whether the principal holds the permission for a thing to which it stands in the given relation.
func (p Principal) May(needs Permission, r model.Relation) bool {
	if p.Name == "" || !p.inScope(needs) {
		return false
	}
	holders := policy[needs]
	return p.Everywhere(needs) ||
		r.AppOwner && slices.Contains(holders, appOwner) ||
		r.AppViewer && slices.Contains(holders, appViewer) ||
		r.BucketOwner && slices.Contains(holders, bucketOwner)
}

// Conceivable tells whether the principal could hold the permission for some bucket or app: it passes a route, and
// leaves the rest to the check of the thing itself. What only global roles hold is refused here already.
func (p Principal) Conceivable(needs Permission) bool {
	if p.Name == "" {
		return needs == Public
	}
	return needs == Public || needs == Known || needs == Self && p.TokenID == 0 ||
		p.May(needs, model.Relation{BucketOwner: true, AppOwner: true, AppViewer: true})
}

// untargeted are the permissions that are asked for without a given bucket or app.
var untargeted = []Permission{BucketCreate, UserNames}

// Permissions lists, sorted, what the principal may do whatever the bucket or app, and of the permissions that ask for
// neither also those that it holds through standing, the sum of its relations.
func (p Principal) Permissions(standing model.Relation) []Permission {
	list := []Permission{}
	for needs := range policy {
		if p.Everywhere(needs) || slices.Contains(untargeted, needs) && p.May(needs, standing) {
			list = append(list, needs)
		}
	}
	slices.Sort(list)
	return list
}

// Missing is the refusal of something that the principal may see but not do. It names the permission that is missing.
func Missing(needs Permission) *model.Error {
	err := model.Errorf(model.CodeForbidden, "this needs the permission %s, which you do not hold here", needs)
	err.Permission = string(needs)
	return err
}

// ForTokens tells whether any API token can hold a permission.
func ForTokens(needs Permission) bool { return needs == Known || inAnyScope(needs) }

// OutOfScope is the refusal of what an API token may not, though its user perhaps may.
func OutOfScope(needs Permission) *model.Error {
	err := Missing(needs)
	if inAnyScope(needs) {
		err.Message = fmt.Sprintf("this needs the permission %s, which the API token's scopes or its user do not give", needs)
	} else {
		err.Message = fmt.Sprintf("this needs the permission %s, which no API token has; log in for it", needs)
	}
	return err
}

func inAnyScope(needs Permission) bool {
	for _, list := range scopePolicy {
		if slices.Contains(list, needs) {
			return true
		}
	}
	return false
}

// String names the person for logs.
func (p Principal) String() string {
	if p.Name == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.Role)
}
