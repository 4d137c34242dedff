package httplimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/headgate/headgate/client"
)

// Limiter is what the middleware needs of the SDK; *client.Client is one.
type Limiter interface {
	Acquire(ctx context.Context, bucket string, opts ...client.CallOption) (client.Decision, error)
	AcquireAll(ctx context.Context, requests ...client.Request) ([]client.Decision, error)
	Wait(ctx context.Context, bucket string, opts ...client.CallOption) (client.Decision, error)
}

var _ Limiter = (*client.Client)(nil)

// RuleFor is one limit that requests of type R are held to: *http.Request here, *gin.Context and grpclimit.Call in the
// packages beside this one. Only Bucket must be given. The functions are called from many goroutines; their panics are
// not recovered.
type RuleFor[R any] struct {
	// Bucket is the bucket to take from.
	Bucket string
	// Name is what callers are shown instead of the bucket's name: printable ASCII, no two rules with the same. Default
	// Bucket.
	Name string
	// Key says whom a request counts for; "" says that the request does not tell. Leave it nil for buckets that don't
	// count by key.
	Key func(R) string
	// Fallback is the key of all requests that Key finds none in. Without one they are refused with status 400.
	Fallback string
	// Permits says how many permits a request costs. Default 1. A request that costs 0 is not held to this rule; fewer
	// is misuse.
	Permits func(R) int64
}

// standing says how a request stands to a rule.
type standing int

const (
	held    standing = iota // the rule applies
	exempt                  // the request costs nothing
	keyless                 // the request has no key and the rule no fallback
)

// request is what a request asks of the rule's bucket.
func (rule *RuleFor[R]) request(r R) (client.Request, standing) {
	asked := client.Request{Bucket: rule.Bucket, Permits: 1}
	if rule.Permits != nil {
		if asked.Permits = rule.Permits(r); asked.Permits == 0 {
			return client.Request{}, exempt
		}
	}
	if rule.Key == nil {
		return asked, held
	}
	if asked.Key = rule.Key(r); asked.Key == "" {
		asked.Key = rule.Fallback
	}
	if asked.Key == "" {
		return client.Request{}, keyless
	}
	asked.Key = fit(asked.Key)
	return asked, held
}

// fit replaces a key that is too long for the SDK by its hash, so that a caller can't escape the limit, or be refused,
// by the length of a header.
func fit(key string) string {
	if len(key) <= client.MaxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// checkRules finds what is wrong with rules before the first request, and returns their names.
func checkRules[R any](rules []RuleFor[R]) ([]string, error) {
	if len(rules) == 0 {
		return nil, misuse("rules", "give at least one rule")
	}
	if len(rules) > client.MaxRequests {
		return nil, misuse("rules", "give at most "+strconv.Itoa(client.MaxRequests)+" rules")
	}
	names := make([]string, len(rules))
	seen := make(map[string]bool, len(rules))
	for i := range rules {
		name := rules[i].Name
		if name == "" {
			name = rules[i].Bucket
		}
		switch {
		case rules[i].Bucket == "":
			return nil, misuse("rules", "give every rule a bucket")
		case !printable(name):
			return nil, misuse("rules", "use printable ASCII for the names of rules, since they are sent in header fields")
		case seen[name]:
			return nil, misuse("rules", "give rules different names; two are called "+name)
		case rules[i].Key == nil && rules[i].Fallback != "":
			return nil, misuse("rules", "give rule "+name+" a Key, or take away its Fallback")
		}
		names[i], seen[name] = name, true
	}
	return names, nil
}

// printable tells whether s fits into a String of a structured field (RFC 9651, section 3.3.3).
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func misuse(argument, advice string) error {
	return &client.MisuseError{Argument: argument, Advice: advice}
}
