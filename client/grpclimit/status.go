package grpclimit

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/httplimit"
)

// domain is that of ErrorInfo.
const domain = "headgate"

// Error is the status of a refusal, with its details. It says nothing of how the service is built.
func Error(v *httplimit.Verdict) error {
	s := status.New(codeOf(v), v.Detail())
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: strings.ToUpper(v.Code), Domain: domain}}
	if v.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(v.RetryAfter)})
	}
	if v.Code == string(client.Limited) {
		details = append(details, quotaFailure(v))
	}
	if withDetails, err := s.WithDetails(details...); err == nil {
		s = withDetails // it fails only for messages that can't be encoded
	}
	return s.Err()
}

// quotaFailure names the rules that refused.
func quotaFailure(v *httplimit.Verdict) *errdetails.QuotaFailure {
	failure := &errdetails.QuotaFailure{}
	for i := range v.Decisions {
		if d := &v.Decisions[i]; !d.Allowed {
			failure.Violations = append(failure.Violations, &errdetails.QuotaFailure_Violation{
				Subject: v.Rules[i], Description: "The rate limit is used up.", QuotaId: v.Rules[i], QuotaValue: d.Limit,
			})
		}
	}
	return failure
}

func codeOf(v *httplimit.Verdict) codes.Code {
	switch v.Code {
	case string(client.Limited):
		return codes.ResourceExhausted
	case httplimit.CodeNoKey:
		return codes.InvalidArgument
	case httplimit.CodeInternal:
		return codes.Internal
	case httplimit.CodeCancelled:
		if errors.Is(v.Err, context.DeadlineExceeded) {
			return codes.DeadlineExceeded
		}
		return codes.Canceled
	default:
		return codes.Unavailable
	}
}
