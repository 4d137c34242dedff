package httplimit

import (
	"net/http"
	"strconv"

	"github.com/headgate/headgate/client"
)

// Names of header fields in the form that http.Header keeps them in.
const (
	fieldPolicy    = "Ratelimit-Policy"
	fieldLimit     = "Ratelimit"
	fieldMax       = "X-Ratelimit-Limit"
	fieldRemaining = "X-Ratelimit-Remaining"
	fieldReset     = "X-Ratelimit-Reset"
	fieldRetry     = "Retry-After"
)

// SetHeaders adds RateLimit and RateLimit-Policy and sets X-RateLimit-Limit, -Remaining and -Reset. Where an outer
// middleware has set them, the lists are added to, and X-RateLimit tells of whichever is nearer to its limit.
func (v *Verdict) SetHeaders(h http.Header) {
	// All values are cut from one string and stand in one slice: two allocations for five fields.
	var room [256]byte
	b := v.appendPolicies(room[:0])
	policies := len(b)
	b = v.appendLimits(b)
	limits := len(b)
	lead := v.lead()
	if policies == 0 {
		return
	}
	if lead >= 0 {
		b = strconv.AppendInt(b, v.Decisions[lead].Limit, 10)
	}
	limit := len(b)
	if lead >= 0 {
		b = strconv.AppendInt(b, v.Decisions[lead].Remaining, 10)
	}
	remaining := len(b)
	if lead >= 0 {
		b = strconv.AppendInt(b, seconds(v.Decisions[lead].ResetAfter), 10)
	}
	text := string(b)
	values := []string{text[:policies], text[policies:limits], text[limits:limit], text[limit:remaining], text[remaining:]}
	add(h, fieldPolicy, values[0:1:1])
	if limits > policies {
		add(h, fieldLimit, values[1:2:2])
	}
	if lead >= 0 && v.outranks(h, &v.Decisions[lead]) {
		h[fieldMax], h[fieldRemaining], h[fieldReset] = values[2:3:3], values[3:4:4], values[4:5:5]
	}
}

// SetRetryAfter sets Retry-After where waiting helps: whole seconds, rounded up, at least 1.
func (v *Verdict) SetRetryAfter(h http.Header) {
	if v.RetryAfter > 0 {
		h.Set(fieldRetry, strconv.FormatInt(seconds(v.RetryAfter), 10))
	}
}

// add appends to a list field, which may be split over several lines.
func add(h http.Header, field string, value []string) {
	if there := h[field]; len(there) > 0 {
		value = append(there, value...)
	}
	h[field] = value
}

// hasPolicy tells whether callers are shown the limit behind a decision: it must be known, and hold.
func hasPolicy(d *client.Decision) bool { return d.Limit > 0 && !d.Shadow }

// isCounted tells whether the permits that are left behind a decision are known.
func isCounted(d *client.Decision) bool {
	if !hasPolicy(d) || d.Source == client.SourcePolicy {
		return false
	}
	return d.Outcome == client.Granted || d.Outcome == client.Limited || d.Outcome == client.TooMany
}

// appendPolicies appends the value of RateLimit-Policy, section 3 of the draft.
func (v *Verdict) appendPolicies(b []byte) []byte {
	start := len(b)
	for i := range v.Decisions {
		if d := &v.Decisions[i]; hasPolicy(d) {
			b = appendName(b, start, v.Rules[i])
			b = strconv.AppendInt(append(b, ";q="...), d.Limit, 10)
		}
	}
	return b
}

// appendLimits appends the value of RateLimit, section 4 of the draft.
func (v *Verdict) appendLimits(b []byte) []byte {
	start := len(b)
	for i := range v.Decisions {
		d := &v.Decisions[i]
		if !isCounted(d) {
			continue
		}
		b = appendName(b, start, v.Rules[i])
		b = strconv.AppendInt(append(b, ";r="...), d.Remaining, 10)
		window := d.ResetAfter
		if !d.Allowed {
			window = d.RetryAfter
		}
		// Retry-After should not end before an effective window (section 6), so rules that don't refuse show none then.
		if window > 0 && (v.Allowed || !d.Allowed) {
			b = strconv.AppendInt(append(b, ";t="...), seconds(window), 10)
		}
	}
	return b
}

// appendName appends the name of a rule as a String of a structured field, behind a comma if the list has begun.
func appendName(b []byte, start int, name string) []byte {
	if len(b) > start {
		b = append(b, ", "...)
	}
	b = append(b, '"')
	for i := range len(name) {
		if c := name[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return append(b, '"')
}

// lead is the index of the decision that X-RateLimit tells of, or -1: of those that refuse the one that takes longest,
// else the one nearest to its limit.
func (v *Verdict) lead() int {
	lead := -1
	for i := range v.Decisions {
		d := &v.Decisions[i]
		if isCounted(d) && (lead < 0 || leads(d, &v.Decisions[lead])) {
			lead = i
		}
	}
	return lead
}

func leads(d, over *client.Decision) bool {
	switch {
	case d.Allowed != over.Allowed:
		return !d.Allowed
	case !d.Allowed:
		return d.RetryAfter > over.RetryAfter
	default:
		return left(d.Remaining, d.Limit) < left(over.Remaining, over.Limit)
	}
}

// left is the part of a limit that is left.
func left(remaining, limit int64) float64 { return float64(remaining) / float64(limit) }

// outranks tells whether X-RateLimit should tell of d rather than of what the header has already.
func (v *Verdict) outranks(h http.Header, d *client.Decision) bool {
	if !v.Allowed || h[fieldMax] == nil {
		return true
	}
	limit, err := strconv.ParseInt(h.Get(fieldMax), 10, 64)
	remaining, err2 := strconv.ParseInt(h.Get(fieldRemaining), 10, 64)
	return err != nil || err2 != nil || limit < 1 || left(d.Remaining, d.Limit) < left(remaining, limit)
}
