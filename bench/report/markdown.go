package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The figures in docs/benchmarks.md stand between these two lines; the text around them is written by hand.
const (
	figuresBegin = "<!-- figures: written by make bench-docs -->"
	figuresEnd   = "<!-- end of the figures -->"
)

// Save writes bench.json and the plots into a folder, which it makes.
func (r *Report) Save(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return errors.Join(
		save(filepath.Join(folder, "bench.json"), r.WriteJSON),
		save(filepath.Join(folder, "bench.svg"), func(w io.Writer) error { return ratePlot.write(w, &r.Result) }),
		save(filepath.Join(folder, "bench-p99.svg"), func(w io.Writer) error { return p99Plot.write(w, &r.Result) }))
}

// Publish puts the plots into the images of a docs folder and the tables into its benchmarks.md.
func (r *Report) Publish(docs string) error {
	page := filepath.Join(docs, "benchmarks.md")
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), figuresBegin)
	_, after, closed := strings.Cut(rest, figuresEnd)
	if !found || !closed {
		return fmt.Errorf("%s lacks the lines %q and %q", page, figuresBegin, figuresEnd)
	}
	var figures bytes.Buffer
	if err := r.writeMarkdown(&figures); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(page, []byte(before+figuresBegin+"\n\n"+figures.String()+"\n"+figuresEnd+after), 0o644),
		save(filepath.Join(docs, "images", "bench.svg"), func(w io.Writer) error { return ratePlot.write(w, &r.Result) }),
		save(filepath.Join(docs, "images", "bench-p99.svg"), func(w io.Writer) error { return p99Plot.write(w, &r.Result) }))
}

func save(path string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	return os.WriteFile(path, content.Bytes(), 0o644)
}

// writeMarkdown writes the bars as a table and the text of the terminal below.
func (r *Report) writeMarkdown(w io.Writer) error {
	t := &text{w: w}
	t.printf("Measured on %s, in %.0f s.\n\n", r.Machine.At.Format("2006-01-02"), r.Settings.Took)
	t.printf("| part | bar | wanted | got | |\n|---|---|---|---|---|\n")
	for _, b := range r.Bars {
		t.printf("| %s | %s |\n", strings.Join(barCells(b), " | "), b.Status)
	}
	t.printf("\n```\n")
	for _, line := range r.fairness() {
		t.printf("%s\n", line)
	}
	for i := range r.Workloads {
		t.workload(&r.Workloads[i])
	}
	t.refusal(r.Refusal)
	t.memory(r.Memory)
	t.exactness(&r.Result)
	t.printf("```\n")
	return t.err
}
