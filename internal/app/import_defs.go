package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/internal/model"
)

// ImportOptions say how to import.
type ImportOptions struct {
	Reason string // why, for the history; needed
	DryRun bool   // only show what would change
	Prune  bool   // delete what the file does not name
}

// Import brings apps and buckets to what a file says, all of it or nothing, and writes the difference that it made, or
// with DryRun would make. Every fault of the file is named with its line. Running servers bring the buckets to Redis
// within a second.
func Import(ctx context.Context, cfg Config, log *slog.Logger, file io.Reader, o ImportOptions, out io.Writer) error {
	signed := origin(o.Reason)
	if err := cmp.Or(model.ValidateReason(o.Reason), model.ValidateReason(signed.Reason)); err != nil {
		return err
	}
	wanted, err := readDefs(file)
	if err != nil {
		return err
	}
	wanted.wanted.Prune = o.Prune
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	steps, err := s.Import(ctx, wanted.wanted, signed, o.DryRun)
	var e *model.Error
	if errors.As(err, &e) && len(e.Fields) > 0 {
		return wanted.faults(e.Fields)
	}
	if err != nil {
		return err
	}
	return tellSteps(out, steps, o.DryRun)
}

// signs mark what a step does, as a diff does.
var signs = map[model.Action]string{
	model.ActionAppCreate: "+", model.ActionAppUpdate: "~", model.ActionAppDelete: "-",
	model.ActionBucketCreate: "+", model.ActionBucketUpdate: "~", model.ActionBucketDelete: "-",
}

// tellSteps writes a step a paragraph: the fields before and after, and at the end how many there were.
func tellSteps(out io.Writer, steps []model.ImportStep, dryRun bool) error {
	var text bytes.Buffer
	counts := map[string]int{}
	for _, step := range steps {
		sign := signs[step.Action]
		counts[sign]++
		fmt.Fprintf(&text, "%s %s %s (revision %d)\n", sign, step.Kind, step.Name, step.Revision)
		if err := tellFields(&text, step); err != nil {
			return err
		}
	}
	made := "Made"
	if dryRun {
		made = "Nothing was changed. Without --dry-run these would be made"
	}
	fmt.Fprintf(&text, "%s: %d created, %d changed, %d deleted.\n", made, counts["+"], counts["~"], counts["-"])
	_, err := text.WriteTo(out)
	return err
}

func tellFields(text *bytes.Buffer, step model.ImportStep) error {
	before, after := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for raw, fields := range map[*json.RawMessage]*map[string]json.RawMessage{&step.Before: &before, &step.After: &after} {
		if len(*raw) == 0 {
			continue
		}
		if err := json.Unmarshal(*raw, fields); err != nil {
			return err
		}
	}
	names := slices.Collect(maps.Keys(before))
	names = slices.AppendSeq(names, maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, is := string(before[name]), string(after[name])
		switch {
		case was == is:
		case len(step.Before) == 0:
			fmt.Fprintf(text, "    %s: %s\n", name, is)
		case len(step.After) == 0:
			fmt.Fprintf(text, "    %s: %s\n", name, was)
		default:
			fmt.Fprintf(text, "    %s: %s -> %s\n", name, strings.TrimSpace(was), strings.TrimSpace(is))
		}
	}
	return nil
}
