package httplimit_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
	"github.com/headgate/headgate/internal/testenv/sdkenv"
)

// granted is a decision of a bucket of limit permits that has some left.
func granted(limit, remaining int64, reset time.Duration) client.Decision {
	return client.Decision{Outcome: client.Granted, Allowed: true, Source: client.SourceRedis, Limit: limit, Remaining: remaining, ResetAfter: reset}
}

func limited(limit int64, retry, reset time.Duration) client.Decision {
	return client.Decision{Outcome: client.Limited, Source: client.SourceRedis, Limit: limit, RetryAfter: retry, ResetAfter: reset}
}

func TestHeaderFieldsAreExact(t *testing.T) {
	const (
		policy, limit, retry    = "RateLimit-Policy", "RateLimit", "Retry-After"
		most, remaining, resets = "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"
	)
	shadow := limited(5, time.Second, time.Second)
	shadow.Allowed, shadow.Shadow = true, true
	open := client.Decision{Outcome: client.Unavailable, Allowed: true, Source: client.SourcePolicy, Limit: 7}
	denied := limited(3, 200*time.Millisecond, time.Minute)
	denied.Source = "denial"
	tooMany := client.Decision{Outcome: client.TooMany, Source: client.SourceRedis, Limit: 2, Remaining: 2}
	for _, c := range []struct {
		name    string
		verdict httplimit.Verdict
		want    []string
	}{
		{"seconds are rounded up", httplimit.Verdict{Allowed: true, Rules: []string{"a"}, Decisions: []client.Decision{granted(10, 9, 1001*time.Millisecond)}},
			[]string{policy, `"a";q=10`, limit, `"a";r=9;t=2`, most, "10", remaining, "9", resets, "2", retry, ""}},
		{"a nanosecond is a second", httplimit.Verdict{Rules: []string{"a"}, RetryAfter: 1, Decisions: []client.Decision{limited(10, 1, 1)}},
			[]string{limit, `"a";r=0;t=1`, resets, "1", retry, "1"}},
		{"whole seconds stay", httplimit.Verdict{Rules: []string{"a"}, RetryAfter: 3 * time.Second, Decisions: []client.Decision{limited(10, 3*time.Second, time.Minute)}},
			[]string{limit, `"a";r=0;t=3`, resets, "60", retry, "3"}},
		{"a full bucket has no t", httplimit.Verdict{Allowed: true, Rules: []string{"a"}, Decisions: []client.Decision{granted(10, 10, 0)}},
			[]string{limit, `"a";r=10`, remaining, "10", resets, "0"}},
		{"names are quoted", httplimit.Verdict{Allowed: true, Rules: []string{`a "b" \c`}, Decisions: []client.Decision{granted(1, 0, time.Second)}},
			[]string{policy, `"a \"b\" \\c";q=1`, limit, `"a \"b\" \\c";r=0;t=1`}},
		{"the nearest to its limit leads", httplimit.Verdict{Allowed: true, Rules: []string{"a", "b", "c"},
			Decisions: []client.Decision{granted(1000, 100, time.Second), granted(10, 2, 2*time.Second), granted(1e9, 9e7, 3*time.Second)}},
			[]string{limit, `"a";r=100;t=1, "b";r=2;t=2, "c";r=90000000;t=3`, most, "1000000000", remaining, "90000000", resets, "3"}},
		{"the refusal that takes longest leads", httplimit.Verdict{Rules: []string{"a", "b", "c"}, RetryAfter: 9 * time.Second,
			Decisions: []client.Decision{granted(10, 0, time.Hour), limited(20, time.Second, time.Minute), limited(30, 9*time.Second, time.Minute)}},
			[]string{limit, `"a";r=0, "b";r=0;t=1, "c";r=0;t=9`, most, "30", retry, "9"}},
		{"shadow rules are left out", httplimit.Verdict{Allowed: true, Rules: []string{"s", "a"}, Decisions: []client.Decision{shadow, granted(10, 9, time.Second)}},
			[]string{policy, `"a";q=10`, limit, `"a";r=9;t=1`, most, "10"}},
		{"what nobody counted is left out", httplimit.Verdict{Allowed: true, Rules: []string{"o", "a"}, Decisions: []client.Decision{open, granted(10, 9, time.Second)}},
			[]string{policy, `"o";q=7, "a";q=10`, limit, `"a";r=9;t=1`, most, "10"}},
		{"a policy alone", httplimit.Verdict{Allowed: true, Rules: []string{"o"}, Decisions: []client.Decision{open}},
			[]string{policy, `"o";q=7`, limit, "", most, "", remaining, "", resets, ""}},
		{"denied in this process", httplimit.Verdict{Rules: []string{"d"}, RetryAfter: 200 * time.Millisecond, Decisions: []client.Decision{denied}},
			[]string{policy, `"d";q=3`, limit, `"d";r=0;t=1`, resets, "60", retry, "1"}},
		{"too many", httplimit.Verdict{Rules: []string{"a"}, Decisions: []client.Decision{tooMany}},
			[]string{policy, `"a";q=2`, limit, `"a";r=2`, remaining, "2", retry, ""}},
		{"nothing known", httplimit.Verdict{Rules: []string{"a"}, Decisions: []client.Decision{{Outcome: client.NotConfigured}}},
			[]string{policy, "", limit, "", most, "", retry, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			c.verdict.SetHeaders(h)
			c.verdict.SetRetryAfter(h)
			sdkenv.WantHeader(t, h, c.want...)
		})
	}
}

func TestALeaderOfAnOuterMiddlewareStaysUnlessThisOneIsNearer(t *testing.T) {
	near := httplimit.Verdict{Allowed: true, Rules: []string{"a"}, Decisions: []client.Decision{granted(10, 1, time.Second)}}
	for _, c := range []struct{ limit, remaining, want string }{
		{"100", "50", "1"}, {"100", "5", "5"}, {"x", "5", "1"}, {"0", "0", "1"}, {"100", "", "1"},
	} {
		h := http.Header{}
		h.Set("X-RateLimit-Limit", c.limit)
		h.Set("X-RateLimit-Remaining", c.remaining)
		near.SetHeaders(h)
		sdkenv.WantHeader(t, h, "X-RateLimit-Remaining", c.want)
	}
	h := http.Header{}
	h.Set("X-RateLimit-Limit", "100")
	h.Set("X-RateLimit-Remaining", "0")
	refused := httplimit.Verdict{Rules: []string{"a"}, Decisions: []client.Decision{limited(10, time.Second, time.Second)}}
	refused.SetHeaders(h)
	sdkenv.WantHeader(t, h, "X-RateLimit-Limit", "10")
}

func TestAppendingToAListChangesNoOtherField(t *testing.T) {
	h := http.Header{}
	v := httplimit.Verdict{Allowed: true, Rules: []string{"a"}, Decisions: []client.Decision{granted(10, 1, time.Second)}}
	v.SetHeaders(h)
	for _, name := range []string{"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		h.Add(name, "mine")
	}
	sdkenv.WantHeader(t, h, "RateLimit-Policy", `"a";q=10`, "RateLimit", `"a";r=1;t=1`, "X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "1")
}
