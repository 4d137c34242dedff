// Package httplimit is middleware for net/http that asks Headgate's buckets before a request goes on.
//
//	limit, err := httplimit.New(c, []httplimit.Rule{
//		{Bucket: "api"},                                              // everybody together
//		{Bucket: "api-per-user", Key: httplimit.FromContext(userID)}, // each user
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	http.Handle("/", limit(handler))
//
// A request goes on when every rule allows it; when one refuses, it takes nothing of the others.
//
// # Refusals
//
// A rule that is limited refuses with status 429, another refusal (no such bucket, more permits than the bucket holds, no
// verdict from Redis and a bucket that then admits nothing) with 503. A request without a key gets 400, a mistake in the
// program, such as a rule without a key on a bucket that counts by key, 500 and a line in the log. The body is
// problem+json (RFC 9457) with type, title, status, detail, a stable code, retry_after in whole seconds, and
// violated-policies, the names of the rules that refused. Retry-After is sent where waiting helps: whole seconds, rounded
// up, at least 1.
//
// # Header fields
//
// RateLimit and RateLimit-Policy are those of draft-ietf-httpapi-ratelimit-headers-11 (RateLimit header fields for HTTP,
// May 2026), lists of structured fields (RFC 9651) with one item a rule:
//
//	RateLimit-Policy: "api";q=1000, "api-per-user";q=20
//	RateLimit: "api";r=412;t=6, "api-per-user";r=19;t=1
//
// q is the bucket's max_permits and r the permits that are left. t is in seconds, rounded up: the time until the bucket is
// full again, or, at a rule that refuses, the time until the request can succeed, so that Retry-After never ends before it;
// beside a rule that refuses, the others have no t. The window (w) is left out, because a decision does not tell it, and so
// is the partition key (pk), which would tell who is counted.
//
// X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset tell of one rule, the one that refuses, else the one
// nearest to its limit. Reset is in seconds from now, rounded up, until the bucket is full again; it is no point in time.
//
// Allowed answers have these fields too. Rules in shadow mode never refuse and are in no field; where nobody counted, as
// under the failure policies open and closed, a rule is in RateLimit-Policy alone. The middleware leaves the ResponseWriter
// as it is, so handlers may stream, flush and hijack.
//
// # Keys
//
// A key longer than client.MaxKey (512) bytes is replaced by "sha256:" and its SHA-256 in hexadecimal. IPv6 addresses are
// counted by their /64 network unless Address says otherwise, since one customer commonly has all of it.
package httplimit
