// Command testreport reads `go test -json` from standard input, prints a line for each package and the whole output of
// what failed, names at the end what failed with where it said so, and exits with 1 when a test failed, skipped itself, or
// when none ran. With an argument it writes the number of tests that passed to that file.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of build output
	Elapsed                       float64
}

type report struct {
	out                     io.Writer
	output                  map[string]*strings.Builder // by package and test
	passed, failed, skipped int
	told                    []string // the failed tests, each with the lines that say where
}

// where is how a test's own lines begin: "    file_test.go:12: ".
var where = regexp.MustCompile(`^ +\w+\.go:\d+: `)

func main() {
	r := &report{out: os.Stdout, output: map[string]*strings.Builder{}}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	for _, t := range r.told {
		fmt.Println(t)
	}
	fmt.Printf("%d Go tests passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if len(os.Args) > 1 {
		if err := os.WriteFile(os.Args[1], []byte(fmt.Sprint(r.passed)), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(1)
		}
	}
	if r.failed > 0 || r.skipped > 0 || r.passed == 0 {
		os.Exit(1)
	}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			_, _ = fmt.Fprintln(r.out, lines.Text())
			continue
		}
		r.take(e)
	}
	return lines.Err()
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		b := r.output[key]
		if b == nil {
			b = &strings.Builder{}
			r.output[key] = b
		}
		b.WriteString(e.Output)
	case "build-output":
		_, _ = fmt.Fprint(r.out, e.Output)
	case "pass", "fail", "skip":
		r.end(e, key)
	}
}

func (r *report) end(e event, key string) {
	if e.Test == "" {
		r.endPackage(e, key)
		return
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		_, _ = fmt.Fprintf(r.out, "--- FAIL %s %s\n%s", e.Package, e.Test, r.text(key))
		r.told = append(r.told, "failed: "+e.Package+" "+e.Test+short(r.text(key)))
	case "skip":
		r.skipped++
		_, _ = fmt.Fprintf(r.out, "--- SKIPPED, which is not allowed: %s %s\n%s", e.Package, e.Test, r.text(key))
	}
	delete(r.output, key)
}

func (r *report) endPackage(e event, key string) {
	switch e.Action {
	case "fail":
		r.failed++
		_, _ = fmt.Fprintf(r.out, "FAIL %s\n%s", e.Package, r.text(key))
	case "pass":
		_, _ = fmt.Fprintf(r.out, "ok   %s %.1fs\n", e.Package, e.Elapsed)
	}
	delete(r.output, key)
}

func (r *report) text(key string) string {
	if b := r.output[key]; b != nil {
		return b.String()
	}
	return ""
}

// short is the first lines of a failed test's output that say where they were written.
func short(output string) string {
	const most = 5
	var b strings.Builder
	n := 0
	for line := range strings.Lines(output) {
		if n < most && where.MatchString(line) {
			b.WriteString("\n" + strings.TrimRight(line, "\n"))
			n++
		}
	}
	return b.String()
}
