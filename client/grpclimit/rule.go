package grpclimit

import (
	"context"
	"strings"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
)

// Call is what rules are asked about.
type Call struct {
	// Context is the call's, with its peer and metadata.
	Context context.Context
	// Method is the full name, such as /shop.Orders/Get.
	Method string
	// Message is the request of a unary call, or the message received with PerMessage; nil at the opening of a stream.
	Message any
}

// Rule is one limit that calls are held to.
type Rule = httplimit.RuleFor[Call]

// guards are the guards of all entries; nil stands for an entry without rules.
type guards map[string]*httplimit.Guard[Call]

// newGuards checks all entries.
func newGuards(limiter httplimit.Limiter, rules map[string][]Rule, o httplimit.GuardOptions) (guards, error) {
	if len(rules) == 0 {
		return nil, misuse("rules", "give rules for at least one method, or for / to have them for all")
	}
	all := guards{}
	for pattern, list := range rules {
		if !isPattern(pattern) {
			return nil, misuse("rules", "write methods as /package.Service/Method, /package.Service/ or /, not as "+pattern)
		}
		if len(list) == 0 {
			all[pattern] = nil
			continue
		}
		guard, err := httplimit.NewGuard(limiter, list, o)
		if err != nil {
			return nil, err
		}
		all[pattern] = guard
	}
	return all, nil
}

// isPattern tells whether s is /, /service/ or /service/method.
func isPattern(s string) bool {
	if s == "/" {
		return true
	}
	service, method, ok := strings.Cut(strings.TrimPrefix(s, "/"), "/")
	return ok && strings.HasPrefix(s, "/") && service != "" && !strings.Contains(method, "/")
}

// of is the guard of a method: its own, else its service's, else the one for all. It may be nil.
func (g guards) of(method string) *httplimit.Guard[Call] {
	if guard, ok := g[method]; ok {
		return guard
	}
	if guard, ok := g[method[:strings.LastIndexByte(method, '/')+1]]; ok {
		return guard
	}
	return g["/"]
}

func misuse(argument, advice string) error {
	return &client.MisuseError{Argument: argument, Advice: advice}
}
