package api

import (
	"strconv"
	"strings"

	"github.com/headgate/headgate/internal/model"
)

// Based is embedded in the input of writes that must say which revision they were based on.
type Based struct {
	IfMatch string `header:"If-Match" doc:"the ETag of what the change is based on, e.g. \"7\" with its quotes; 428 without it, 412 when it is not the present one"`
}

// revision reads the If-Match header. CodeMissingMatch without one or with "*", which would match what was never seen;
// CodeInvalid for anything but one strong entity tag of ours.
func (b Based) revision() (int64, error) {
	tag := strings.TrimSpace(b.IfMatch)
	if tag == "" || tag == "*" {
		return 0, model.Errorf(model.CodeMissingMatch, `say in If-Match which revision the change is based on, e.g. If-Match: "7"`)
	}
	digits, opened := strings.CutPrefix(tag, `"`)
	digits, closed := strings.CutSuffix(digits, `"`)
	revision, err := strconv.ParseInt(digits, 10, 64)
	if !opened || !closed || err != nil || revision < 1 || etag(revision) != tag {
		return 0, invalidField("If-Match", `must be one revision in quotes, e.g. "7"`)
	}
	return revision, nil
}

// etag is the entity tag of a revision.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// stale is the refusal of a write that was based on an older revision; current is the resource as it is now.
func stale(revision int64, current any) error {
	return &staleError{
		cause:   model.Errorf(model.CodeStale, "it was changed meanwhile and is at revision %d now", revision),
		current: current, etag: etag(revision),
	}
}
