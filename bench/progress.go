package main

import (
	"fmt"
	"os"
	"time"

	"github.com/headgate/headgate/bench/suite"
)

// progress tells where the run stands: on a terminal in one line that is written over, else a line for each round.
type progress struct {
	out      *os.File
	terminal bool
	started  time.Time
	last     string
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, started: time.Now()}
}

func (p *progress) step(s suite.Step) {
	left := ""
	if s.Done > 0 {
		rest := time.Since(p.started) / time.Duration(s.Done) * time.Duration(s.Total-s.Done)
		left = fmt.Sprintf(", about %v left", rest.Round(time.Second))
	}
	where := fmt.Sprintf("%s, round %d of %d", s.ID, s.Round, s.Rounds)
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r\033[K%d%%  %s: %s%s", 100*s.Done/s.Total, where, s.Contender, left)
		return
	}
	if where != p.last {
		_, _ = fmt.Fprintf(p.out, "%d%%  %s%s\n", 100*s.Done/s.Total, where, left)
		p.last = where
	}
}
