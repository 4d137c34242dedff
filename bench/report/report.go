package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/headgate/headgate/bench/suite"
)

// Report is a result with what is needed to judge it.
type Report struct {
	Machine  Machine  `json:"machine"`
	Settings Settings `json:"settings"`
	suite.Result
}

// Settings are the same for all contenders.
type Settings struct {
	RoundSeconds float64 `json:"round_seconds"`
	Rounds       int     `json:"rounds"`
	Pool         int     `json:"connections_each"`
	Took         float64 `json:"took_seconds"`
}

// fairness tells how the contenders were treated alike.
func (r *Report) fairness() []string {
	m, s := r.Machine, r.Settings
	lines := []string{
		fmt.Sprintf("%s, %d cores, Linux %s, %s, Redis %s on the same machine; load before: %s", m.CPU, m.Cores, m.Kernel, m.Go, m.Redis, m.Load),
		fmt.Sprintf("go-redis %s, redis_rate %s, ulule/limiter %s, throttled %s",
			m.Modules[modules[0]], m.Modules[modules[1]], m.Modules[modules[2]], m.Modules[modules[3]]),
		fmt.Sprintf("Every contender: go-redis with default options and up to %d connections of its own, the same limit, the same keys in the same order, warmed up,", s.Pool),
		fmt.Sprintf("then %d rounds of %v in turn (A B C … A B C …), each after a tenth of that uncounted. Same loop, same clock, same histogram for all.",
			s.Rounds, time.Duration(s.RoundSeconds*float64(time.Second))),
		"Figures are medians of the rounds; a ratio is the median of the ratios within each round.",
	}
	if m.busy() {
		lines = append(lines, "THIS MACHINE WAS BUSY with other work: don't trust figures that are close to their bars.")
	}
	return lines
}

// WriteJSON writes everything, for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
