package api

import (
	"context"

	"github.com/headgate/headgate/internal/auth"
)

// liveMinutes is how much usage the live state carries: the running minute and the one before.
const liveMinutes = 2

// BucketLive is what Redis has of a bucket now.
type BucketLive struct {
	Present     bool       `json:"present" doc:"Redis has a definition"`
	Revision    int64      `json:"revision" doc:"of that definition; 0 without one"`
	Permits     *int64     `json:"permits" doc:"permits that could be acquired now, for concurrency the free slots; null where each app or key has its own"`
	Held        *int64     `json:"held" doc:"slots that are held now, for a while more than max_permits when that was lowered; null as permits, and for all algorithms but concurrency"`
	MaxPermits  int64      `json:"max_permits"`
	RedisTimeUS int64      `json:"redis_time_us" doc:"Redis's clock at the reading, µs since 1970"`
	Usage       []UsageRow `json:"usage" doc:"of the running minute and the one before"`
}

func (s *server) bucketLive(ctx context.Context, in *Named) (*struct{ Body BucketLive }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	state, err := s.Live.State(ctx, b)
	if err != nil {
		return nil, s.redisSilent(ctx, err)
	}
	usage, err := s.Live.Usage(ctx, b.Name, liveMinutes, 0)
	if err != nil {
		return nil, s.redisSilent(ctx, err)
	}
	names, err := s.appNamesOf(ctx, &b)
	if err != nil {
		return nil, err
	}
	return &struct{ Body BucketLive }{BucketLive{
		Present: state.Present, Revision: state.Revision, Permits: state.Permits, Held: state.Held, MaxPermits: b.MaxPermits,
		RedisTimeUS: state.Now.UnixMicro(), Usage: names.usage(sinceMinute(showUsage(usage).Items, firstMinute(ctx, &b))),
	}}, nil
}
