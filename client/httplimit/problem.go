package httplimit

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/headgate/headgate/client"
)

// quotaExceeded is the problem type of section 5.1 of draft-ietf-httpapi-ratelimit-headers-11.
const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"

// problem is an error as RFC 9457 writes it.
type problem struct {
	Type       string   `json:"type"`
	Title      string   `json:"title"`
	Status     int      `json:"status"`
	Detail     string   `json:"detail"`
	Code       string   `json:"code"`
	RetryAfter int64    `json:"retry_after,omitempty"` // s
	Violated   []string `json:"violated-policies,omitempty"`
}

// WriteProblem writes the answer to a request that was refused: its status and a problem+json body. It is what the
// middleware does unless OnRefused says otherwise.
func WriteProblem(w http.ResponseWriter, v *Verdict) {
	p := problem{
		Type: "about:blank", Title: http.StatusText(v.Status), Status: v.Status, Detail: v.Detail(), Code: v.Code,
		RetryAfter: seconds(v.RetryAfter), Violated: v.Refused(),
	}
	if v.Code == string(client.Limited) {
		p.Type, p.Title = quotaExceeded, "Request cannot be satisfied as assigned quota has been exceeded"
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = nil // strings and numbers only: this does not happen, and the status alone says enough
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(v.Status)
	_, _ = w.Write(body) // nobody is left to be told when the caller has gone
}

// Detail is a sentence that tells the caller of a refusal, and nothing of how the service is built.
func (v *Verdict) Detail() string {
	switch v.Code {
	case string(client.Limited):
		return fmt.Sprintf("The rate limit is used up. Try again in %d s.", seconds(v.RetryAfter))
	case string(client.TooMany):
		return "The request asks for more than the rate limit ever admits at once. Trying again does not help."
	case string(client.NotConfigured):
		return "The rate limit of this request is not set up."
	case string(client.Unavailable):
		return fmt.Sprintf("The rate limit can't be checked now. Try again in %d s.", seconds(v.RetryAfter))
	case CodeNoKey:
		return "The request does not say whom it counts for."
	case CodeCancelled:
		return "The request ended before it was admitted."
	default:
		return "The service is not set up rightly."
	}
}
