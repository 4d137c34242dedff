package clientotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/headgate/headgate/client"
)

// Annotate adds an event headgate.decision to the span of a context, with what was decided but never the key. Where no
// span is recorded it does nothing.
//
//	d, err := c.Acquire(ctx, "partner-api", client.Key(user))
//	clientotel.Annotate(ctx, d)
func Annotate(ctx context.Context, decisions ...client.Decision) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	for i := range decisions {
		d := &decisions[i]
		if d.Outcome == "" {
			continue // of a call that ended with an error
		}
		span.AddEvent("headgate.decision", trace.WithAttributes(
			BucketKey.String(d.Bucket),
			attribute.String("headgate.outcome", string(d.Outcome)),
			attribute.Bool("headgate.allowed", d.Allowed),
			attribute.Bool("headgate.shadow", d.Shadow),
			attribute.String("headgate.source", string(d.Source)),
			attribute.Int64("headgate.limit", d.Limit),
			attribute.Int64("headgate.remaining", d.Remaining),
			attribute.Int64("headgate.retry_after_ms", d.RetryAfter.Milliseconds()),
			attribute.Int64("headgate.revision", d.Revision),
		))
	}
}
