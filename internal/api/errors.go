package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Codes of answers that the API gives without asking anything behind it.
const (
	codeMalformed     model.Code = "malformed"              // the body is not the JSON that it should be
	codeCrossOrigin   model.Code = "cross_origin"           // a write that another site's page asked for
	codeNoMethod      model.Code = "method_not_allowed"     // the path is there, the method is not
	codeNotAcceptable model.Code = "not_acceptable"         // only JSON is spoken here
	codeSlow          model.Code = "timeout"                // the body did not arrive in time
	codeTooLarge      model.Code = "too_large"              // the body is over its bound
	codeMediaType     model.Code = "unsupported_media_type" // the body is not declared as JSON
)

// statuses is the one table from error code to HTTP status. Of several codes with one status the first stands for it
// where only the status is known.
var statuses = []struct {
	code   model.Code
	status int
}{
	{codeMalformed, http.StatusBadRequest},
	{model.CodeUnauthorized, http.StatusUnauthorized},
	{model.CodeForbidden, http.StatusForbidden},
	{codeCrossOrigin, http.StatusForbidden},
	{model.CodeLocalLoginOff, http.StatusForbidden},
	{model.CodeNotFound, http.StatusNotFound},
	{codeNoMethod, http.StatusMethodNotAllowed},
	{codeNotAcceptable, http.StatusNotAcceptable},
	{codeSlow, http.StatusRequestTimeout},
	{model.CodeTaken, http.StatusConflict},
	{model.CodeInUse, http.StatusConflict},
	{model.CodeLastAdmin, http.StatusConflict},
	{model.CodeForeignRedis, http.StatusConflict},
	{model.CodeStale, http.StatusPreconditionFailed},
	{codeTooLarge, http.StatusRequestEntityTooLarge},
	{codeMediaType, http.StatusUnsupportedMediaType},
	{model.CodeInvalid, http.StatusUnprocessableEntity},
	{model.CodeMissingMatch, http.StatusPreconditionRequired},
	{model.CodeTooMany, http.StatusTooManyRequests},
	{model.CodeInternal, http.StatusInternalServerError},
	{model.CodeUnavailable, http.StatusServiceUnavailable},
	{model.CodeDiskFull, http.StatusInsufficientStorage},
}

func statusOf(code model.Code) int {
	for _, row := range statuses {
		if row.code == code {
			return row.status
		}
	}
	return http.StatusInternalServerError
}

func codeOf(status int) model.Code {
	for _, row := range statuses {
		if row.status == status {
			return row.code
		}
	}
	return model.CodeInternal
}

// Problem is every error answer: RFC 9457 problem details with a stable code, the fields that are wrong, and the
// request id under which the server's log tells more.
type Problem struct {
	Type       string             `json:"type" doc:"always about:blank; the code says which problem it is"`
	Title      string             `json:"title" doc:"the status in words"`
	Status     int                `json:"status"`
	Detail     string             `json:"detail" doc:"what is wrong, in a sentence for people"`
	Code       model.Code         `json:"code" doc:"stable; programs switch on it"`
	Rule       model.RuleCode     `json:"rule,omitempty" doc:"which sentence the detail is, to say it in another language; absent for one without a code"`
	Params     map[string]string  `json:"params,omitempty" doc:"what the detail is said with"`
	RequestID  string             `json:"request_id"`
	Errors     []model.FieldError `json:"errors,omitempty" doc:"each wrong field with the rule that it breaks"`
	Permission string             `json:"permission,omitempty" doc:"with code forbidden: the permission that is missing"`
	Current    any                `json:"current,omitempty" doc:"with code stale: the resource as it is now"`
	Buckets    []BucketFault      `json:"buckets,omitempty" doc:"of a bulk edit: every bucket that stands in its way"`

	headers http.Header
}

// Error makes a Problem an error, as huma wants it.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are the headers that go with the answer, such as Retry-After.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType marks the answer as problem details.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// mostErrors bounds the fields that one answer names, and fieldBytes their length: a hostile body can break a rule a
// hundred thousand times.
const (
	mostErrors = 50
	fieldBytes = 200
)

// newProblem makes the answer for a code.
func newProblem(ctx context.Context, code model.Code, detail string, fields ...model.FieldError) *Problem {
	status := statusOf(code)
	p := &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code,
		RequestID: callOf(ctx).requestID, headers: http.Header{},
	}
	for _, f := range fields[:min(len(fields), mostErrors)] {
		p.Errors = append(p.Errors, clipped(f))
	}
	switch c := callOf(ctx); {
	case code == model.CodeUnauthorized && c.viaToken:
		p.headers.Set("WWW-Authenticate", `Bearer realm="headgate", error="invalid_token"`)
	case code == model.CodeUnauthorized:
		p.headers.Set("WWW-Authenticate", `Cookie realm="headgate"`)
	case code == model.CodeTooMany && c.principal.Name == "":
		p.headers.Set("Connection", "close") // in a flood of strangers, connections that wait for more are most of the memory
	}
	return p
}

// clipped bounds what a hostile body put into a field's error.
func clipped(f model.FieldError) model.FieldError {
	f.Field, f.Message = clip(f.Field), clip(f.Message)
	f.Params = clippedParams(f.Params)
	return f
}

func clippedParams(params map[string]string) map[string]string {
	bounded := make(map[string]string, len(params))
	for name, value := range params {
		bounded[name] = clip(value)
	}
	return bounded
}

// staleError carries the present resource beside a CodeStale error.
type staleError struct {
	cause   *model.Error
	current any
	etag    string
}

func (e *staleError) Error() string { return e.cause.Error() }

func (e *staleError) Unwrap() error { return e.cause }

// problemOf turns any error into the answer that the user gets. Its cause stays here, for the log.
func problemOf(ctx context.Context, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var e *model.Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return newProblem(ctx, model.CodeUnavailable, "this took too long; try again")
		}
		return newProblem(ctx, model.CodeInternal, internalDetail)
	}
	if statusOf(e.Code) == http.StatusInternalServerError {
		return newProblem(ctx, model.CodeInternal, internalDetail)
	}
	p = newProblem(ctx, e.Code, e.Message, e.Fields...)
	p.Permission, p.Rule = e.Permission, e.Rule
	p.Params = clippedParams(e.Params)
	if e.RetryAfter > 0 {
		p.headers.Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	var stale *staleError
	if errors.As(err, &stale) {
		p.Current = stale.current
		p.headers.Set("ETag", stale.etag)
	}
	var bulk *bulkError
	if errors.As(err, &bulk) {
		p.Buckets = bulk.buckets
	}
	return p
}

const internalDetail = "something went wrong on the server; its log tells more under the request id"

// write sends a problem where no handler of huma's does.
func (p *Problem) write(w http.ResponseWriter) {
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may be gone
}

// together makes one error of several, so that an answer names all wrong fields at once. nil when all are nil.
func together(what string, errs ...error) error {
	all := &model.Error{Code: model.CodeInvalid, Message: what + " has invalid fields"}
	for _, err := range errs {
		var e *model.Error
		if errors.As(err, &e) && e.Code == model.CodeInvalid {
			all.Fields = append(all.Fields, e.Fields...)
		} else if err != nil {
			return err
		}
	}
	if len(all.Fields) == 0 {
		return nil
	}
	return all
}

func invalidField(field, format string, args ...any) error {
	return &model.Error{
		Code: model.CodeInvalid, Message: "the request has an invalid field",
		Fields: []model.FieldError{model.Broken(field, format, args...)},
	}
}

// under puts an error's fields below the i-th entry of a list.
func under(list string, i int, err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	below := *e
	below.Fields = nil
	for _, f := range e.Fields {
		below.Fields = append(below.Fields, f.At(fmt.Sprintf("%s[%d].%s", list, i, f.Field)))
	}
	return &below
}
