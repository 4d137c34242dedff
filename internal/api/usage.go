package api

import (
	"context"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// BucketUsage is what a bucket's apps were granted and refused.
type BucketUsage struct {
	Items       []UsageRow `json:"items"`
	RedisTimeUS int64      `json:"redis_time_us" doc:"Redis's clock at the reading, µs since 1970"`
}

func (s *server) bucketUsage(ctx context.Context, in *struct {
	Named
	Minutes int `query:"minutes" minimum:"1" maximum:"2880" default:"60" doc:"how far back, the running minute included"`
}) (*struct{ Body BucketUsage }, error) {
	b, err := s.bucketFor(ctx, in.Name, auth.BucketSee)
	if err != nil {
		return nil, err
	}
	usage, err := s.Live.Usage(ctx, b.Name, in.Minutes)
	if err != nil {
		return nil, s.redisSilent(ctx, err)
	}
	return &struct{ Body BucketUsage }{showUsage(usage)}, nil
}

// redisSilent is the answer when Redis could not be read; why is for the log.
func (s *server) redisSilent(ctx context.Context, cause error) error {
	s.log.WarnContext(ctx, "Redis not read", "request_id", callOf(ctx).requestID, "cause", cause)
	return model.Errorf(model.CodeUnavailable, "Redis does not answer now; definitions can still be read and changed")
}

func showUsage(u Usage) BucketUsage {
	return BucketUsage{Items: append([]UsageRow{}, u.Rows...), RedisTimeUS: u.Now.UnixMicro()}
}
