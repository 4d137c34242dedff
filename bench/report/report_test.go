package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/bench/exact"
	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/bench/report"
	"github.com/headgate/headgate/bench/suite"
)

func sample() *report.Report {
	contender := func(name string, rate float64) suite.ContenderResult {
		return suite.ContenderResult{
			Name: name, RedisCPU: []float64{1.5}, Rounds: []measure.Sample{{Rate: rate, P50: time.Millisecond, P99: 2 * time.Millisecond, Allowed: 3, Refused: 1}},
		}
	}
	ours := contender(peers.Headgate, 1_000_000)
	ours.Exactness = &exact.Verdict{Grants: 3, Refusals: 1, TooMany: 1, First: "key 0 granted early"}
	got := 10.0
	return &report.Report{
		Machine: report.Describe("7.0.15"), Settings: report.Settings{RoundSeconds: 1, Rounds: 1, Pool: 20},
		Result: suite.Result{
			Workloads: []suite.WorkloadResult{{
				Workload:   suite.Workload{ID: "hot-100", Title: "one <hot> bucket"},
				Contenders: []suite.ContenderResult{ours, contender(peers.RedisRate, 100_000), contender(peers.Throttled, 100)},
			}},
			Refusal: &suite.RefusalResult{Nanoseconds: []float64{50}},
			Memory: &suite.MemoryResult{
				Keys: []suite.KeyMemory{{Limit: "1 per 1s", RedisRate: 100, Key: 115, AppKey: 130}},
				Logs: []suite.LogMemory{{Entries: 1, Bytes: 100}, {Entries: 10, Bytes: 260, BytesAnEntry: 17.8}},
			},
			Bars: []suite.Bar{
				{Workload: "hot-100", What: "rate", AtLeast: true, Bound: 10, Got: &got, Status: suite.Pass},
				{Workload: "memory", What: "a key", Bound: 1.3, Status: suite.NotRun},
			},
		},
	}
}

func TestTheTextTellsFiguresBarsAndFaults(t *testing.T) {
	var out bytes.Buffer
	if err := sample().WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"headgate    1,000,000", "2 ms", "25.0 %", "PASS     hot-100  rate   >= 10    10", "not run  memory   a key  <= 1.30  -",
		"1 granted too many", "the first: key 0 granted early", "50 ns, 0 allocations", "17.8 B an entry", "Redis 7.0.15",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

func TestABusyMachineIsTold(t *testing.T) {
	r := sample()
	for load, want := range map[string]bool{"0.10 9 9": false, "1.90 0 0": true, "unknown": false} {
		r.Machine.Load, r.Machine.Cores = load, 2
		var out bytes.Buffer
		if err := r.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "BUSY"); got != want {
			t.Errorf("load %q: told %v", load, got)
		}
	}
}

func TestAFullDiskIsAnError(t *testing.T) {
	if err := sample().WriteText(failing{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestSaveWritesJSONAndPlotsThatParse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := sample().Save(dir); err != nil {
		t.Fatal(err)
	}
	var back report.Report
	if err := json.Unmarshal(read(t, dir, "bench.json"), &back); err != nil {
		t.Fatal(err)
	}
	if back.Workloads[0].Contenders[0].Rounds[0].Rate != 1_000_000 || back.Machine.Redis != "7.0.15" || *back.Bars[0].Got != 10 {
		t.Errorf("came back as %+v", back)
	}
	for _, name := range []string{"bench.svg", "bench-p99.svg"} {
		svg := read(t, dir, name)
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, want := range []string{"headgate", "throttled", "one &lt;hot&gt; bucket", "prefers-color-scheme: dark"} {
			if !bytes.Contains(svg, []byte(want)) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

func TestAResultOfNothingIsStillDrawn(t *testing.T) {
	if err := (&report.Report{}).Save(t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

func TestPublishReplacesTheFiguresAlone(t *testing.T) {
	docs := t.TempDir()
	if err := os.Mkdir(filepath.Join(docs, "images"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := "# Title\n<!-- figures: written by make bench-docs -->\nold\n<!-- end of the figures -->\nafter\n"
	if err := os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time must find its own marks
		if err := sample().Publish(docs); err != nil {
			t.Fatal(err)
		}
	}
	got := string(read(t, docs, "benchmarks.md"))
	if !strings.HasPrefix(got, "# Title\n<!--") || !strings.HasSuffix(got, "-->\nafter\n") || strings.Contains(got, "old") ||
		strings.Count(got, "| hot-100 | rate | >= 10 | 10 | PASS |") != 1 {
		t.Errorf("got:\n%s", got)
	}
	read(t, docs, "images/bench.svg")
}

func TestPublishRefusesAPageWithoutItsMarks(t *testing.T) {
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte("by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := sample().Publish(docs); err == nil || string(read(t, docs, "benchmarks.md")) != "by hand" {
		t.Errorf("got %v", err)
	}
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
