package alert_test

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/alert"
	"github.com/headgate/headgate/internal/model"
)

// A series is one minute a letter: # at the share or above, . below, ? not known.
const first = 1000

// told plays a series, one minute a pass, as the store would keep it, and writes S and E at the minutes that told something.
func told(w *model.AlertWatch, series string) string {
	var out strings.Builder
	for i, letter := range series {
		mark := byte(' ')
		if letter != '?' {
			share := 49.9
			if letter == '#' {
				share = 50
			}
			step, moved := alert.Judge(w, []alert.Reading{{Minute: first + int64(i), Share: share}})
			switch {
			case moved && step.Start:
				mark, step.To.Open = 'S', 1
			case moved && step.End != "":
				mark, step.To.Open = 'E', 0
			}
			if moved {
				w.State = step.To
			}
		}
		out.WriteByte(mark)
	}
	return strings.TrimRight(out.String(), " ")
}

func watch(minutes int) *model.AlertWatch {
	d := model.Definition{MaxPermits: 10, Rate: 10}
	d.SetDefaults()
	return &model.AlertWatch{
		Rule: model.AlertRule{ID: 1, Kind: model.AlertLimitedShare, Percent: 50, Minutes: minutes, Enabled: true}, Bucket: model.Bucket{Name: "b", Definition: d},
	}
}

func TestAnAlertStartsAndEndsAtExactlyTheseMinutes(t *testing.T) {
	for _, c := range []struct {
		name         string
		minutes      int
		series, want string
	}{
		{"starts after its minutes in a row", 3, ".##.###", "      S"},
		{"one minute is enough for one", 1, ".#", " S"},
		{"stays while it goes on", 2, "##########", " S"},
		{"ends after five minutes below at least", 1, "#.....", "S    E"},
		{"a lull ends nothing", 1, "#....#....#.....", "S              E"},
		{"a longer rule ends after as many below", 7, "#######" + ".......", "      S      E"},
		{"ends after thirty at most", 31, strings.Repeat("#", 31) + strings.Repeat(".", 30), strings.Repeat(" ", 30) + "S" + strings.Repeat(" ", 29) + "E"},
		{"starts again a quarter of an hour after its start, not before", 1, "#.....##########", "S    E         S"},
		{"unknown minutes start nothing and break nothing", 3, "##?????????#", "           S"},
		{"after a longer gap the count begins anew", 3, "##??????????###", "              S"},
		{"unknown minutes end nothing", 1, "#....??????????????????????....", "S"},
	} {
		if got := told(watch(c.minutes), c.series); got != c.want {
			t.Errorf("%s:\n%s\n%s\nwant\n%s", c.name, c.series, got, c.want)
		}
	}
}

// However the share flaps, a rule starts at most four times in an hour, and each start ends once.
func TestFlappingStartsAtMostFourTimesAnHour(t *testing.T) {
	for up := 1; up < 20; up++ {
		for down := 1; down < 20; down++ {
			series := strings.Repeat(strings.Repeat("#", up)+strings.Repeat(".", down), 240/(up+down)+1)
			out := told(watch(1), series)
			for from := 0; from+60 <= len(out); from++ {
				if n := strings.Count(out[from:from+60], "S"); n > 4 {
					t.Fatalf("%d up and %d down start %d times in an hour", up, down, n)
				}
			}
			if spoken := strings.ReplaceAll(out, " ", ""); strings.Contains(spoken, "SS") || strings.Contains(spoken, "EE") {
				t.Fatalf("%d up and %d down tell %s", up, down, spoken)
			}
		}
	}
}

func TestWhatIsNotMeasuredEndsAndStartsNothing(t *testing.T) {
	off := watch(1)
	off.Bucket.Mode = model.ModeOff
	if got := told(off, "###"); got != "" {
		t.Errorf("mode off tells %q", got)
	}
	off.State.Open = 1
	if step, moved := alert.Judge(off, nil); !moved || step.End != model.AlertModeOff {
		t.Errorf("%+v", step)
	}
	keyed := watch(1)
	keyed.Rule.Kind, keyed.Bucket.Partition, keyed.State.Open = model.AlertNearLimit, model.PartitionKey, 1
	if step, moved := alert.Judge(keyed, nil); !moved || step.End != model.AlertNoGauge {
		t.Errorf("%+v", step)
	}
}

// Minutes come again with every pass; judged again they change nothing.
func TestAMinuteCountsOnce(t *testing.T) {
	w := watch(3)
	readings := []alert.Reading{{Minute: first, Share: 60}, {Minute: first + 1, Share: 60}}
	for range 3 {
		step, moved := alert.Judge(w, readings)
		if step.Start {
			t.Fatal("two minutes were taken for three")
		}
		if moved {
			w.State = step.To
		}
	}
	step, _ := alert.Judge(w, append(readings, alert.Reading{Minute: first + 2, Share: 70}))
	if !step.Start || step.To.Since != first || step.To.Value != 70 {
		t.Errorf("%+v", step)
	}
}
