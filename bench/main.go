// Command bench runs Headgate's SDK and other limiters over Redis side by side, on one Redis that it starts itself, and
// holds the figures against the bars that Headgate promises. `make bench` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/bench/redisserver"
	"github.com/headgate/headgate/bench/report"
	"github.com/headgate/headgate/bench/suite"
)

// Exit codes.
const (
	codeFine        = 0
	codeFailed      = 1 // not exact, or it could not be measured, or with -strict a bar was missed
	codeUsage       = 2
	codeInterrupted = 130
)

const usage = `Runs Headgate's SDK beside other limiters over Redis and holds the figures against their bars.

Usage: make bench [ARGS="flags"]     or     cd bench && go run . [flags]

Flags:
`

const examples = `
Parts, for -only (a beginning selects all that begin so): %s
Contenders, for -contenders: %s

Examples:
  make bench                                             everything, about 7 minutes
  make bench ARGS="-only hot"                            one hot bucket, at 1, 10, 100 and 1,000 goroutines
  make bench ARGS="-only hot-100,keys -round 3s"         longer rounds
  make bench ARGS="-only hot-1000 -contenders headgate -cpuprofile cpu.out"
  HEADGATE_BENCH_REDIS=127.0.0.1:6379 make bench         on a Redis that is there; its other keys are left alone

Exit code: 0; 1 when a decision was not exact or nothing could be measured, and with -strict when a bar was missed;
130 after Ctrl-C, which prints what was finished.
`

type flags struct {
	suite.Options
	out, profile, publish string
	strict                bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	f, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return codeFine
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		return codeUsage
	}
	if err := f.measure(ctx); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(os.Stderr, "bench: interrupted")
			return codeInterrupted
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		return codeFailed
	}
	return codeFine
}

func parse(args []string) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.DurationVar(&f.Round, "round", time.Second, "how long a contender runs in one round")
	set.IntVar(&f.Rounds, "rounds", 7, "how many rounds")
	set.IntVar(&f.Pool, "pool", 10*runtime.GOMAXPROCS(0), "connections of each contender, at most; the default is go-redis's own")
	set.StringVar(&f.out, "out", "results", "folder for bench.json and bench.svg")
	set.StringVar(&f.publish, "publish", "", "also put tables and plot into the docs in this folder")
	set.StringVar(&f.profile, "cpuprofile", "", "write a CPU profile of the whole run to this file")
	set.BoolVar(&f.strict, "strict", false, "a missed bar fails")
	only := set.String("only", "", "run these parts alone, separated by commas")
	contenders := set.String("contenders", "", "run these contenders alone, separated by commas")
	set.Usage = func() {
		_, _ = fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
		_, _ = fmt.Fprintf(set.Output(), examples, strings.Join(suite.IDs(), ", "), strings.Join(names(), ", "))
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	f.Only, f.Contenders = list(*only), list(*contenders)
	return f, f.check(set.Args())
}

func (f *flags) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("what is %q? All is said by flags; -h lists them", rest[0])
	}
	if f.Round < 10*time.Millisecond || f.Round > time.Minute || f.Rounds < 1 || f.Rounds > 100 || f.Pool < 1 || f.Pool > 5000 {
		return errors.New("-round takes 10ms..1m, -rounds 1..100, -pool 1..5000")
	}
	for _, word := range f.Only {
		if !slices.ContainsFunc(suite.IDs(), func(id string) bool { return strings.HasPrefix(id, word) }) {
			return fmt.Errorf("no part begins with %q; there are %s", word, strings.Join(suite.IDs(), ", "))
		}
	}
	for _, name := range f.Contenders {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("there is no contender %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	return nil
}

// measure runs the suite and writes the report, also of a run that ended early.
func (f *flags) measure(ctx context.Context) error {
	if f.Addr = os.Getenv("HEADGATE_BENCH_REDIS"); f.Addr == "" {
		server, err := redisserver.Start(ctx)
		if err != nil {
			return err
		}
		defer server.Stop()
		f.Addr, f.Owned = server.Addr, true
	}
	version, err := suite.RedisVersion(ctx, f.Addr)
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(f.profile)
	if err != nil {
		return err
	}
	r := &report.Report{Machine: report.Describe(version)}
	started := time.Now()
	f.Progress = newProgress(os.Stderr).step
	r.Result, err = suite.Run(ctx, f.Options)
	stopProfile()
	r.Settings = report.Settings{RoundSeconds: f.Round.Seconds(), Rounds: f.Rounds, Pool: f.Pool, Took: time.Since(started).Seconds()}
	return errors.Join(err, f.write(r, err == nil))
}

// write puts the report where it belongs, and returns an error when it is one that fails the benchmark.
func (f *flags) write(r *report.Report, whole bool) error {
	fmt.Fprintln(os.Stderr)
	if !whole && len(r.Workloads) == 0 {
		return nil
	}
	if err := r.WriteText(os.Stdout); err != nil {
		return err
	}
	if whole {
		if err := r.Save(f.out); err != nil {
			return err
		}
		fmt.Printf("\n%.0f s; %s and bench.svg beside it\n", r.Settings.Took, filepath.Join(f.out, "bench.json"))
		if f.publish != "" {
			if err := r.Publish(f.publish); err != nil {
				return err
			}
		}
	}
	for _, b := range r.Bars {
		if b.Status == suite.Miss && b.Exactness {
			return errors.New("decisions were not exact")
		}
	}
	for _, b := range r.Bars {
		if b.Status == suite.Miss && f.strict {
			return fmt.Errorf("a bar was missed: %s, %s", b.Workload, b.What)
		}
	}
	return nil
}

func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: the profile:", err)
		}
	}, nil
}

func names() []string {
	var all []string
	for _, c := range peers.All() {
		all = append(all, c.Name)
	}
	return all
}

func list(commas string) []string {
	return strings.FieldsFunc(commas, func(r rune) bool { return r == ',' })
}
