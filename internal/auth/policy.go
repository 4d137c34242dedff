package auth

import (
	"fmt"
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// Permission is one thing that a person may do. Each API route names the one that it needs.
type Permission string

// The permissions. Public and Self are not in the table: the first asks for nobody, the second for anybody logged in.
const (
	Public Permission = "public"
	Self   Permission = "self"

	BucketSee     Permission = "bucket.see"      // a bucket, its live state and its history
	BucketCreate  Permission = "bucket.create"   // for an app owner: listing at least one own app
	BucketEdit    Permission = "bucket.edit"     // edit, delete, owners and apps
	BucketAllApps Permission = "bucket.all_apps" // put "*" into a bucket's apps
	AppSee        Permission = "app.see"         // an app and its members
	AppCreate     Permission = "app.create"      // register an app
	AppManage     Permission = "app.manage"      // an app's description and members; delete it
	UserNames     Permission = "user.names"      // names only, to pick owners and members
	UserSee       Permission = "user.see"        // everything about users but their password
	UserManage    Permission = "user.manage"     // make, change and disable users, set passwords
	AuditRead     Permission = "audit.read"      // the whole change log
	SystemSee     Permission = "system.see"      // database, Redis, reconcile
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
	SystemSee:     {admin, auditor},
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
	SessionID   string
}

// Everywhere tells whether the principal's role holds the permission for every bucket and app.
func (p Principal) Everywhere(needs Permission) bool {
	column, ok := roleColumn[p.Role]
	return ok && slices.Contains(policy[needs], column)
}

// May tells whether the principal holds the permission for a thing to which it stands in the given relation.
func (p Principal) May(needs Permission, r model.Relation) bool {
	if p.Name == "" {
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
	return needs == Public || needs == Self ||
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

// String names the person for logs.
func (p Principal) String() string {
	if p.Name == "" {
		return "nobody"
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.Role)
}
