package api

import (
	"context"
	"regexp"
	"strings"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// call is what is known about one request beside its input: where it comes from, and who makes it.
type call struct {
	requestID string
	traceID   string // "": not traced
	address   string
	https     bool // the browser speaks HTTPS, to us or to a trusted proxy
	userAgent string
	viaToken  bool           // an API token was given, good or not
	principal auth.Principal // set once the proof is found good
	leaveWork func()         // gives back the place among the requests in work, before the answer is done
}

type callKey struct{}

// noContext stands in where there is no request.
var noContext = context.Background()

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a request's context; outside of one, an empty call by nobody.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

func principalOf(ctx context.Context) auth.Principal { return callOf(ctx).principal }

func (c *call) client() auth.Client {
	return auth.Client{Address: c.address, UserAgent: c.userAgent, RequestID: c.requestID}
}

// originOf says on whose behalf a write is made.
func originOf(ctx context.Context, reason string) model.Origin {
	c := callOf(ctx)
	return model.Origin{
		Actor: c.principal.Name, Reason: strings.TrimSpace(reason), Address: c.address, RequestID: c.requestID,
		Token: c.principal.Token,
	}
}

// requestIDPattern is what a proxy's request id must look like to be taken over.
var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// userAgentBytes bounds what is kept of the User-Agent header.
const userAgentBytes = 200

func cleanUserAgent(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), userAgentBytes)], "")
}
