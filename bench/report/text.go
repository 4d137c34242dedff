package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/headgate/headgate/bench/measure"
	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/bench/suite"
)

// WriteText writes tables for people.
func (r *Report) WriteText(w io.Writer) error {
	t := &text{w: w}
	for _, line := range r.fairness() {
		t.printf("%s\n", line)
	}
	for i := range r.Workloads {
		t.workload(&r.Workloads[i])
	}
	t.refusal(r.Refusal)
	t.memory(r.Memory)
	t.bars(r.Bars)
	t.exactness(&r.Result)
	return t.err
}

// text keeps the first error of writing.
type text struct {
	w   io.Writer
	err error
}

func (t *text) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// table writes rows in columns; the first two are flush left.
func (t *text) table(rows [][]string) {
	if t.err != nil {
		return
	}
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, t.err = fmt.Fprintln(tw, "  "+strings.Join(row, "\t")); t.err != nil {
			return
		}
	}
	t.err = tw.Flush()
}

func (t *text) workload(w *suite.WorkloadResult) {
	t.printf("\n%s: %s\n", w.ID, w.Title)
	rows := [][]string{{"", "decisions/s", "x redis_rate", "p50", "p99", "p99.9", "refused", "Redis µs each", "client µs each", "errors"}}
	rows = append(rows, workloadRows(w)...)
	t.table(rows)
	for _, c := range w.Contenders {
		if message := firstError(c); message != "" {
			t.printf("  %s's first error: %s\n", c.Name, message)
		}
	}
}

func workloadRows(w *suite.WorkloadResult) [][]string {
	var base *suite.ContenderResult
	for i := range w.Contenders {
		if w.Contenders[i].Name == peers.RedisRate {
			base = &w.Contenders[i]
		}
	}
	var rows [][]string
	for i := range w.Contenders {
		c := &w.Contenders[i]
		cpu := "-"
		if len(c.RedisCPU) > 0 {
			cpu = fmt.Sprintf("%.2f", measure.Median(c.RedisCPU))
		}
		refused, errors, client := shares(c)
		rows = append(rows, []string{
			c.Name, thousands(measure.Median(suite.Rates(c))), times(suite.Ratio(c, base, suite.Rates)),
			duration(measure.Median(suite.P50s(c))), duration(measure.Median(suite.P99s(c))), duration(measure.Median(suite.P999s(c))),
			refused, cpu, client, errors,
		})
	}
	return rows
}

// shares tells how much was refused and failed in all rounds, and the client's own CPU.
func shares(c *suite.ContenderResult) (refused, errors, client string) {
	var no, all, failed int64
	var cpu []float64
	for _, s := range c.Rounds {
		no, all, failed = no+s.Refused, all+s.Allowed+s.Refused, failed+s.Errors
		cpu = append(cpu, s.ClientCPU)
	}
	if all > 0 {
		refused = fmt.Sprintf("%.1f %%", 100*float64(no)/float64(all))
	}
	return refused, fmt.Sprint(failed), fmt.Sprintf("%.2f", measure.Median(cpu))
}

func firstError(c suite.ContenderResult) string {
	for _, s := range c.Rounds {
		if s.FirstError != "" {
			return s.FirstError
		}
	}
	return ""
}

func (t *text) refusal(r *suite.RefusalResult) {
	if r != nil {
		t.printf("\nrefusal: one refusal in the process, 1 goroutine: %.0f ns, %d allocations, %d bytes\n",
			measure.Median(r.Nanoseconds), r.Allocations, r.Bytes)
	}
}

func (t *text) memory(m *suite.MemoryResult) {
	if m == nil {
		return
	}
	t.printf("\nmemory: MEMORY USAGE of an idle key, names of 11 and keys of 12 characters\n")
	rows := [][]string{{"limit", "redis_rate", "headgate, key", "", "headgate, app_key", ""}}
	for _, k := range m.Keys {
		rows = append(rows, []string{
			k.Limit, fmt.Sprintf("%.0f B", k.RedisRate), fmt.Sprintf("%.0f B", k.Key), times(k.Key / k.RedisRate),
			fmt.Sprintf("%.0f B", k.AppKey), times(k.AppKey / k.RedisRate),
		})
	}
	t.table(rows)
	for _, l := range m.Logs {
		t.printf("  sliding_log with %s entries: %s B", thousands(float64(l.Entries)), thousands(float64(l.Bytes)))
		if l.Entries > 1 {
			t.printf(", %.1f B an entry", l.BytesAnEntry)
		}
		t.printf("\n")
	}
}

func (t *text) bars(bars []suite.Bar) {
	t.printf("\nbars\n")
	var rows [][]string
	for _, b := range bars {
		rows = append(rows, append([]string{b.Status}, barCells(b)...))
	}
	t.table(rows)
}

// barCells are where, what, wanted and got.
func barCells(b suite.Bar) []string {
	sign, got := "<=", "-"
	if b.AtLeast {
		sign = ">="
	}
	if b.Got != nil {
		got = number(*b.Got)
	}
	return []string{b.Workload, b.What, sign + " " + number(b.Bound), got}
}

func (t *text) exactness(r *suite.Result) {
	v := r.Exactness()
	if v.Grants == 0 {
		return
	}
	t.printf("\nexactness: %s grants and %s refusals by Redis held against the model in whole numbers, on the times of Redis:\n  %s granted too many, %s refused with a permit left\n",
		thousands(float64(v.Grants)), thousands(float64(v.Refusals)), thousands(float64(v.TooMany)), thousands(float64(v.Lost)))
	if v.First != "" {
		t.printf("  the first: %s\n", v.First)
	}
}

// number keeps three significant digits, and whole numbers whole.
func number(v float64) string {
	switch {
	case v == math.Trunc(v):
		return thousands(v)
	case v >= 100:
		return thousands(v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func times(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return number(v)
}

// thousands rounds to a whole number and groups its digits.
func thousands(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// duration gives ns as a person would.
func duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Microsecond:
		return fmt.Sprintf("%.0f ns", ns)
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	default:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
}
