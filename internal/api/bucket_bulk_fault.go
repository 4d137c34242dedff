package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// BucketFault says why a bucket stands in the way of a bulk edit.
type BucketFault struct {
	Name     string             `json:"name"`
	Code     model.Code         `json:"code" doc:"not_found, forbidden, stale or invalid"`
	Message  string             `json:"message" doc:"in a sentence for people"`
	Revision int64              `json:"revision,omitempty" doc:"with code stale: the present one"`
	Errors   []model.FieldError `json:"errors,omitempty" doc:"with code invalid: each field with the rule that it would break"`
}

// bulkError carries the buckets that stand in the way beside the error that the whole request ends with.
type bulkError struct {
	cause   *model.Error
	buckets []BucketFault
}

func (e *bulkError) Error() string { return e.cause.Error() }

func (e *bulkError) Unwrap() error { return e.cause }

// faultOrder is which kind of fault gives the answer its status, where there are several. Forbidden comes first, for it
// is what the history keeps: an unknown name beside it must not hide the attempt.
var faultOrder = []model.Code{model.CodeForbidden, model.CodeNotFound, model.CodeStale, model.CodeInvalid}

// mayChangeAll checks all buckets of a bulk edit: that they may be seen and edited, are at their revisions, and remain
// good definitions. The error names every bucket that fails. The store locks the revisions again, so rights that were
// read here hold for what is written.
func (s *server) mayChangeAll(ctx context.Context, targets []model.BulkTarget, change *model.BulkChange) error {
	p := principalOf(ctx)
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Name
	}
	present, err := s.Store.BucketsNamed(ctx, viewer(p, auth.BucketSee), names)
	if err != nil {
		return err
	}
	byName := make(map[string]*model.Bucket, len(present))
	for i := range present {
		byName[present[i].Name] = &present[i]
	}
	var faults []BucketFault
	for _, t := range targets {
		if fault := faultOf(p, t, byName[t.Name], change); fault != nil {
			fault.Name = clip(t.Name)
			faults = append(faults, *fault)
		}
	}
	return refuseBulk(faults)
}

// faultOf checks one bucket; b is nil where there is none that may be seen.
func faultOf(p auth.Principal, t model.BulkTarget, b *model.Bucket, change *model.BulkChange) *BucketFault {
	switch {
	case b == nil:
		return &BucketFault{Code: model.CodeNotFound, Message: "there is no such bucket that you may see"}
	case !p.May(auth.BucketEdit, model.Relation{BucketOwner: slices.Contains(b.Owners, p.Name)}):
		return &BucketFault{Code: model.CodeForbidden, Message: "you may not edit it"}
	case b.Revision != t.Base:
		return &BucketFault{
			Code: model.CodeStale, Revision: b.Revision,
			Message: fmt.Sprintf("it was changed meanwhile and is at revision %d now", b.Revision),
		}
	}
	after, _ := change.Apply(b.Definition)
	var invalid *model.Error
	if errors.As(after.Validate(), &invalid) {
		rules := make([]string, len(invalid.Fields))
		for i, f := range invalid.Fields {
			rules[i] = f.Field + " " + f.Message
		}
		return &BucketFault{Code: model.CodeInvalid, Message: clip(strings.Join(rules, "; ")), Errors: invalid.Fields}
	}
	return nil
}

// refuseBulk makes one error of what stands in the way; nil when nothing does.
func refuseBulk(faults []BucketFault) error {
	for _, code := range faultOrder {
		n := 0
		for _, f := range faults {
			if f.Code == code {
				n++
			}
		}
		if n == 0 {
			continue
		}
		cause := model.Errorf(code, bulkDetails[code], n)
		if code == model.CodeForbidden {
			cause.Permission = string(auth.BucketEdit)
		}
		return &bulkError{cause, faults}
	}
	return nil
}

// bulkDetails are the sentences by kind, each for the number of its buckets.
var bulkDetails = map[model.Code]string{
	model.CodeNotFound:  "nothing was changed: %d of the buckets are not there, or you may not see them",
	model.CodeForbidden: "nothing was changed: this needs the permission " + string(auth.BucketEdit) + ", which you do not hold for %d of the buckets",
	model.CodeStale:     "nothing was changed: %d of the buckets were changed meanwhile",
	model.CodeInvalid:   "nothing was changed: %d of the buckets would break a rule",
}

// namesOf names, for the history, the buckets that somebody may not edit; the history cuts what is too long.
func namesOf(faults []BucketFault) string {
	var names []string
	for _, f := range faults {
		if f.Code == model.CodeForbidden {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" for %d buckets: %s", len(names), strings.Join(names, ", "))
}
