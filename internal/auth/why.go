package auth

import (
	"slices"

	"github.com/headgate/headgate/internal/model"
)

// Target says what a permission is asked for.
type Target string

// The targets.
const (
	OfBucket Target = "bucket" // one bucket
	OfApp    Target = "app"    // one app
	OfAll    Target = "all"    // neither
)

// TargetOf tells what a permission of the table is asked for; BucketCreate is asked for an app that the bucket is to list.
func TargetOf(needs Permission) Target {
	switch needs {
	case BucketSee, BucketEdit:
		return OfBucket
	case AppSee, AppManage, BucketCreate:
		return OfApp
	}
	return OfAll
}

// Table lists, sorted, the permissions of the policy.
func Table() []Permission {
	list := make([]Permission, 0, len(policy))
	for needs := range policy {
		list = append(list, needs)
	}
	slices.Sort(list)
	return list
}

// Ground is a column of the permission table: what gives a permission to those who stand in it.
type Ground string

// The grounds that are relations.
const (
	GroundBucketOwner = Ground(bucketOwner)
	GroundAppOwner    = Ground(appOwner)
	GroundAppViewer   = Ground(appViewer)
)

// Grounds are the columns of the table, the roles first.
func Grounds() []Ground {
	return []Ground{Ground(admin), Ground(auditor), GroundBucketOwner, GroundAppOwner, GroundAppViewer}
}

// Verdict is the answer to whether a principal may do something, with what decides it.
type Verdict struct {
	Allowed bool
	Through []Ground // all that the principal has of what gives the permission
	Would   []Ground // all that gives it
}

// Why tells what decides May for a principal with that relation. It asks May itself of one column at a time, so that it
// can tell nothing else than what is enforced.
func (p Principal) Why(needs Permission, r model.Relation) Verdict {
	v := Verdict{Allowed: p.May(needs, r), Through: []Ground{}, Would: []Ground{}}
	for _, g := range Grounds() {
		role, relation := holding(holder(g))
		if (Principal{Name: p.Name, Role: role}).May(needs, relation) {
			v.Would = append(v.Would, g)
		}
		stands := role != model.RoleMember && role == p.Role ||
			r.BucketOwner && relation.BucketOwner || r.AppOwner && relation.AppOwner || r.AppViewer && relation.AppViewer
		if stands && p.withRole(role).May(needs, relation) {
			v.Through = append(v.Through, g)
		}
	}
	return v
}

func (p Principal) withRole(role model.Role) Principal {
	p.Role = role
	return p
}

// holding is what somebody has who stands in one column only.
func holding(column holder) (model.Role, model.Relation) {
	for role, of := range roleColumn {
		if of == column {
			return role, model.Relation{}
		}
	}
	return model.RoleMember, model.Relation{BucketOwner: column == bucketOwner, AppOwner: column == appOwner, AppViewer: column == appViewer}
}
