package httplimit

import (
	"net/http"
	"time"

	"github.com/headgate/headgate/client"
)

// Codes of refusals, as they stand in the body. The other codes are the outcomes of the SDK: limited, too_many,
// not_configured and unavailable.
const (
	// CodeNoKey: the request does not say whom it counts for. Status 400.
	CodeNoKey = "no_key"
	// CodeInternal: a rule is misused, such as one without a key on a bucket that counts by key. Status 500.
	CodeInternal = "internal"
	// CodeCancelled: the request's context ended before there was a decision. Status 503.
	CodeCancelled = "cancelled"
)

// retryUnavailable is what callers are told to wait when Redis gave no verdict and no time is known: the SDK finds
// out within about as long that Redis is back.
const retryUnavailable = time.Second

// Verdict is what the rules came to for one request.
type Verdict struct {
	// Allowed tells whether the request may go on.
	Allowed bool
	// Status is the HTTP status of a refusal: 429, 503, 400 or 500. 0 when allowed.
	Status int
	// Code is the stable name of a refusal: a client.Outcome or one of the Code constants. "" when allowed.
	Code string
	// RetryAfter is how long to wait before the request can succeed; 0 when allowed and where waiting does not help.
	RetryAfter time.Duration
	// Rules are the names of the rules asked, in their order. For CodeNoKey it is the one that lacks a key. Don't change
	// the list; other requests have it too.
	Rules []string
	// Decisions are the answers to Rules, in the same order; none where the SDK was not asked or returned an error.
	Decisions []client.Decision
	// Err is the error of the SDK, for CodeInternal and CodeCancelled. Not for callers to see.
	Err error
}

// Refused returns the names of the rules that refused.
func (v *Verdict) Refused() []string {
	var names []string
	for i := range v.Decisions {
		if !v.Decisions[i].Allowed {
			names = append(names, v.Rules[i])
		}
	}
	return names
}

func refusal(code string, rules []string, err error) Verdict {
	return Verdict{Status: statusOf(code), Code: code, Rules: rules, Err: err}
}

// judge makes one verdict of the decisions. A refusal that waiting does not end outweighs a limit, because the caller
// would wait for nothing.
func judge(names []string, decisions []client.Decision) Verdict {
	v := Verdict{Allowed: true, Rules: names, Decisions: decisions}
	worst := -1
	for i := range decisions {
		d := &decisions[i]
		if d.Allowed {
			continue
		}
		v.Allowed = false
		if worst < 0 || weight(d.Outcome) > weight(decisions[worst].Outcome) {
			worst = i
		}
		v.RetryAfter = max(v.RetryAfter, d.RetryAfter)
	}
	if v.Allowed {
		return v
	}
	v.Code = string(decisions[worst].Outcome)
	v.Status = statusOf(v.Code)
	switch decisions[worst].Outcome {
	case client.Limited:
	case client.Unavailable:
		v.RetryAfter = max(v.RetryAfter, retryUnavailable)
	default:
		v.RetryAfter = 0
	}
	return v
}

// weight orders refusals by how little waiting helps.
func weight(o client.Outcome) int {
	switch o {
	case client.Limited:
		return 0
	case client.Unavailable:
		return 1
	default:
		return 2
	}
}

func statusOf(code string) int {
	switch code {
	case string(client.Limited):
		return http.StatusTooManyRequests
	case CodeNoKey:
		return http.StatusBadRequest
	case CodeInternal:
		return http.StatusInternalServerError
	default:
		return http.StatusServiceUnavailable
	}
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
