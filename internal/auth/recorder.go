package auth

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// Recorder keeps change rows of what strangers can cause as often as they like, so that a flood of refusals makes few
// rows: repetitions may be counted and written later.
type Recorder interface {
	Record(ctx context.Context, c model.Change) error
}

// plainRecorder writes each event as it comes.
type plainRecorder struct{ store Store }

func (r plainRecorder) Record(ctx context.Context, c model.Change) error {
	return r.store.AppendChange(ctx, c)
}

// noteHeldOff records a login that was refused without a look at the password. It stands in the log at level debug
// only: such attempts come in floods.
func (s *Service) noteHeldOff(ctx context.Context, name string, c Client) {
	if !model.ValidUserName(name) {
		name = ""
	}
	s.log.DebugContext(ctx, "login held off after too many failures", "user", name, "address", c.Address, "request_id", c.RequestID)
	err := s.recorder.Record(ctx, s.change(model.ActionLoginRefused, name, "held off after too many failures", c))
	if err != nil {
		s.log.WarnContext(ctx, "a login that was held off could not be recorded", "error", err)
	}
}
