package alert

import (
	"github.com/headgate/headgate/internal/model"
)

// Reading is the share of one minute, in percent of what a rule's Percent is of.
type Reading struct {
	Minute int64 // of Redis's clock since 1970
	Share  float64
}

// Judge moves a rule on over readings, which are in the order of their minutes. Minutes that were judged before are passed
// over, and those that are missing are not known and change nothing. It stops at the first start or end: what is behind
// that is judged the next time. moved is false when there is nothing to write.
func Judge(w *model.AlertWatch, readings []Reading) (step model.AlertStep, moved bool) {
	step = model.AlertStep{Rule: w.Rule, From: w.State, To: w.State}
	if cause := unmeasured(w); cause != "" {
		return silence(step, cause)
	}
	for _, r := range readings {
		if r.Minute <= step.To.Minute {
			continue
		}
		if take(&step, r) {
			return step, true
		}
	}
	// A rule that is quiet is not written each minute: to judge its last minutes once more comes to the same.
	moved = step.To != step.From && (step.From.Open != 0 || step.From.Over != step.To.Over || step.To.Over != 0)
	return step, moved
}

// unmeasured says why nothing is judged of a bucket now.
func unmeasured(w *model.AlertWatch) model.AlertCause {
	switch {
	case w.Bucket.Mode == model.ModeOff:
		return model.AlertModeOff
	case w.Rule.Kind == model.AlertNearLimit && w.Bucket.AlertGauge() == model.GaugeNone:
		return model.AlertNoGauge
	}
	return ""
}

// silence ends what is open and forgets what was counted.
func silence(step model.AlertStep, cause model.AlertCause) (model.AlertStep, bool) {
	step.To.Over, step.To.Under = 0, 0
	if step.From.Open != 0 {
		step.End = cause
	}
	return step, step.End != "" || step.To != step.From
}

// take judges one minute and tells whether it starts or ends the alert.
func take(step *model.AlertStep, r Reading) bool {
	s := &step.To
	if s.Minute != 0 && r.Minute-s.Minute > model.AlertGapMinutes {
		s.Over, s.Under = 0, 0
	}
	s.Minute, s.Value = r.Minute, r.Share
	over := r.Share >= float64(step.Rule.Percent)
	if s.Open != 0 {
		return takeOpen(step, over)
	}
	if !over {
		s.Over = 0
		return false
	}
	if s.Over == 0 {
		s.Since = r.Minute
	}
	s.Over++
	if s.Over < step.Rule.Minutes || s.Started != 0 && r.Minute-s.Started < model.AlertRestMinutes {
		return false
	}
	s.Started, s.Under, step.Start = r.Minute, 0, true
	return true
}

func takeOpen(step *model.AlertStep, over bool) bool {
	s := &step.To
	if over {
		s.Under = 0
		return false
	}
	s.Under++
	if s.Under < step.Rule.EndMinutes() {
		return false
	}
	s.Over, s.Under, step.End = 0, 0, model.AlertRecovered
	return true
}
