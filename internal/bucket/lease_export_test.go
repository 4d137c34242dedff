package bucket

import "context"

// RawLease runs lease.lua with arguments of any kind, past the checks in Go.
func (e *Engine) RawLease(ctx context.Context, keys []string, args ...any) (any, error) {
	return e.run(ctx, leaseScript, keys, args...)
}

// DecodeLease is the decoder of lease.lua's answers.
func DecodeLease(reply any, c *LeaseCall) error { return c.decode(reply) }

// ClientsKey is the key of the live clients.
func (e *Engine) ClientsKey() string { return e.keys.clients() }

// InstancesKey is the key of a bucket's live clients.
func (e *Engine) InstancesKey(name string) string { return e.keys.instances(name) }
