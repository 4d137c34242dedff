package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/headgate/headgate/internal/model"
)

// Export writes all apps and buckets as YAML, sorted by name, as they stand at one moment: the same definitions give
// the same bytes. Comments say who owns what and who changed it last. The history gets a row for it.
func Export(ctx context.Context, cfg Config, log *slog.Logger, out io.Writer) error {
	s, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	apps, buckets, err := s.Definitions(ctx)
	if err != nil {
		return err
	}
	counts, err := json.Marshal(map[string]int{"apps": len(apps), "buckets": len(buckets)})
	if err != nil {
		return err
	}
	// Before the first byte, so that nothing leaves without a row.
	err = s.AppendChange(ctx, model.Change{
		Actor: commandOrigin.Actor, Action: model.ActionExport, TargetKind: model.TargetSystem, Target: "definitions", After: counts, Reason: commandOrigin.Reason,
	})
	if err != nil {
		return err
	}
	return writeDefs(out, apps, buckets)
}

// writeDefs writes entry by entry: the whole as one document of the library would take a multiple of the memory.
func writeDefs(out io.Writer, apps []model.App, buckets []model.Bucket) error {
	w := bufio.NewWriter(out)
	_, _ = fmt.Fprintf(w, "# Apps and buckets of Headgate. \"admin import\" reads this file.\nformat: %s\n", defsFormat)
	owners := map[string][]string{}
	if len(apps) == 0 {
		_, _ = fmt.Fprintln(w, "apps: []")
	} else {
		_, _ = fmt.Fprintln(w, "apps:")
	}
	for i := range apps {
		entry, comment := appEntryOf(&apps[i])
		for _, m := range apps[i].Members {
			if m.Role == model.AppOwner {
				owners[apps[i].Name] = append(owners[apps[i].Name], m.User)
			}
		}
		if err := writeEntry(w, entry, comment); err != nil {
			return err
		}
	}
	if len(buckets) == 0 {
		_, _ = fmt.Fprintln(w, "buckets: []")
	} else {
		_, _ = fmt.Fprintln(w, "buckets:")
	}
	for i := range buckets {
		if err := writeEntry(w, defBucketOf(&buckets[i]), bucketComment(&buckets[i], owners)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeEntry writes one entry of a list, below its comment.
func writeEntry(w *bufio.Writer, entry any, comment string) error {
	raw, err := yaml.Marshal(entry)
	if err != nil {
		return err
	}
	for line := range strings.Lines(comment) {
		_, _ = fmt.Fprintf(w, "  # %s\n", strings.TrimRight(line, "\n"))
	}
	prefix := "  - "
	for line := range strings.Lines(string(raw)) {
		if line != "\n" { // in a text of several lines
			_, _ = w.WriteString(prefix)
		}
		_, _ = w.WriteString(line)
		prefix = "    "
	}
	return nil
}

func appEntryOf(a *model.App) (appEntry, string) {
	entry := appEntry{Name: a.Name, Description: a.Description, Members: []memberEntry{}}
	comment := changed(a.Revision, a.UpdatedBy, a.UpdatedAt)
	for _, m := range a.Members {
		if m.Mapped {
			comment += fmt.Sprintf("\n%s is %s through a group of the single sign-on, which an import leaves alone", m.User, m.Role)
			continue
		}
		entry.Members = append(entry.Members, memberEntry{m.User, m.Role})
	}
	return entry, comment
}

// bucketComment names the people that a bucket concerns.
func bucketComment(b *model.Bucket, owners map[string][]string) string {
	comment := changed(b.Revision, b.UpdatedBy, b.UpdatedAt) + "\nowned by " + strings.Join(b.Owners, ", ")
	for _, app := range b.Apps {
		if people := owners[app]; len(people) > 0 {
			comment += fmt.Sprintf("\nused by %s, of %s", app, strings.Join(people, ", "))
		}
	}
	return comment
}

func changed(revision int64, by string, at time.Time) string {
	return fmt.Sprintf("revision %d, by %s at %s", revision, by, at.UTC().Format(time.RFC3339))
}
