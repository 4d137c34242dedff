package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the stable, machine-readable reason of an Error. API clients may switch on it.
type Code string

// The codes. Package api holds the one table from code to HTTP status.
const (
	CodeInvalid       Code = "invalid"         // a field breaks its rule; Fields says which and how
	CodeUnauthorized  Code = "unauthorized"    // nobody is logged in, or the proof is not good any more
	CodeForbidden     Code = "forbidden"       // the principal may see it but not do this
	CodeNotFound      Code = "not_found"       // it is not there, or the principal may not see it
	CodeTaken         Code = "taken"           // the name is in use
	CodeInUse         Code = "in_use"          // something else still refers to it
	CodeStale         Code = "stale"           // the record changed since the revision that the write was based on
	CodeMissingMatch  Code = "revision_needed" // the write did not say which revision it was based on
	CodeLastAdmin     Code = "last_admin"      // the last enabled admin can't be removed, demoted or disabled
	CodeLocalLoginOff Code = "local_login_off" // passwords do not count here: single sign-on only
	CodeTooMany       Code = "too_many"        // too many attempts; try later
	CodeUnavailable   Code = "unavailable"     // a part that is needed does not answer now
	CodeDiskFull      Code = "disk_full"       // the database has no room left to save anything
	CodeForeignRedis  Code = "foreign_redis"   // the Redis belongs to another deployment
	CodeInternal      Code = "internal"        // a fault of ours; the log has the cause under the request id
)

// FieldError names one field of the input and the rule that it breaks.
type FieldError struct {
	Field   string            `json:"field"`            // path in the request, e.g. "apps[3]"
	Message string            `json:"message"`          // the rule with its bound, e.g. "must be 1..1,000,000,000"
	Code    RuleCode          `json:"code,omitempty"`   // which rule, e.g. "range"; "" = one without a code
	Params  map[string]string `json:"params,omitempty"` // what the rule is said with, e.g. "high": "1,000,000,000"
}

// Broken says that a field breaks a rule. The code is the one of the format.
func Broken(field, format string, args ...any) FieldError {
	code, params := ruleOf(format, args)
	return FieldError{Field: field, Message: fmt.Sprintf(format, args...), Code: code, Params: params}
}

// At is the same broken rule at another place.
func (f FieldError) At(field string) FieldError {
	f.Field = field
	return f
}

// Error is the one error type that crosses package borders. Message is for the user; Cause is for the operator's log
// and never leaves the server.
type Error struct {
	Code    Code
	Message string
	Fields  []FieldError
	Cause   error

	Rule   RuleCode          // which sentence Message is; "" = one without a code
	Params map[string]string // what the sentence is said with

	Permission string        // with CodeForbidden: the permission that is missing
	RetryAfter time.Duration // with CodeTooMany and CodeUnavailable: try again after this; 0 = not known
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Message)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "; %s %s", f.Field, f.Message)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error with a message for the user.
func Errorf(code Code, format string, args ...any) *Error {
	rule, params := ruleOf(format, args)
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Rule: rule, Params: params}
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal for any other error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// invalid gathers field errors and ends as one Error, or as nil when every field holds.
type invalid struct{ fields []FieldError }

func (v *invalid) add(field, format string, args ...any) {
	v.fields = append(v.fields, Broken(field, format, args...))
}

func (v *invalid) err(what string) error {
	if len(v.fields) == 0 {
		return nil
	}
	return &Error{Code: CodeInvalid, Message: what + " has invalid fields", Fields: v.fields}
}
