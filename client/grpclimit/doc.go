// Package grpclimit has server interceptors for gRPC that ask Headgate's buckets before a call goes on.
//
//	limit, err := grpclimit.New(c, map[string][]grpclimit.Rule{
//		"/shop.Orders/Export":     {{Bucket: "exports", Key: grpclimit.FromContext(userID)}}, // one method
//		"/shop.Orders/":           {{Bucket: "api"}, {Bucket: "orders"}},                     // the others of a service
//		"/":                       {{Bucket: "api"}},                                         // all others
//		"/grpc.health.v1.Health/": nil,                                                       // not limited
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	server := grpc.NewServer(grpc.UnaryInterceptor(limit.Unary()), grpc.StreamInterceptor(limit.Stream()))
//
// Rules and keys are those of package httplimit, whose documentation applies: a call goes on when every rule allows it, and
// when one refuses, it takes nothing of the others. Of several entries that fit a method only the closest holds.
//
// # Refusals
//
// A rule that is limited refuses with codes.ResourceExhausted and the details RetryInfo, with the time after which the call
// can succeed, and QuotaFailure, with the names of the rules that refused. Another refusal (no such bucket, more permits
// than the bucket holds, no verdict from Redis and a bucket that then admits nothing) is codes.Unavailable, with RetryInfo
// where waiting helps. A call without a key is codes.InvalidArgument, a mistake in the program codes.Internal and a line in
// the log, and a call that ended meanwhile codes.Canceled or codes.DeadlineExceeded. ErrorInfo carries the code of
// httplimit as its reason, in capitals, in the domain "headgate".
//
// # Streams
//
// A stream takes its permits when it is opened; with PerMessage it takes them for each message that it receives instead,
// and a refusal is what RecvMsg returns, which ends the stream unless the handler goes on.
package grpclimit
