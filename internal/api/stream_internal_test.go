package api

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Over the seconds of several minutes, with reports that come late for the minute before and buckets that come and go, the
// rates of an app add up to exactly what was counted while its buckets were read.
func TestRatesOfAnAppAddUpOverTheMinutes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // a test
	w := &appWatch{before: map[string]appCounts{}}
	names := []string{"a", "b", "late-comer"}
	counts, told, want := map[usagePlace]model.Used{}, map[string]float64{}, map[string]float64{}
	begin := time.Unix(60*1000+50, 750e6)
	last := begin
	for second := range 300 {
		at := begin.Add(time.Duration(second)*time.Second + time.Duration(random.IntN(200))*time.Millisecond)
		minute := at.Unix() / 60
		present := names[:2]
		if second >= 100 {
			present = names
		}
		for _, name := range names {
			in := minute
			if at.Unix()%60 < 10 && random.IntN(2) == 0 {
				in-- // reported late
			}
			more := random.Int64N(50)
			place := usagePlace{in, name}
			counts[place] = counts[place].Plus(model.Used{Granted: more})
			if second > 100 || second > 0 && name != "late-comer" { // the first reading is where counting begins
				want[name] += float64(more)
			}
		}
		s := model.AppSample{At: at, From: minute}
		if at.Unix()%60 < 15 {
			s.From--
		}
		for place, used := range counts {
			if place.minute >= s.From && place.minute <= minute && (place.app != "late-comer" || second >= 100) {
				s.Usage = append(s.Usage, model.UsageRow{Bucket: place.app, Minute: place.minute, Used: used})
			}
		}
		var tick appTick
		w.rates(&s, present, nil, &tick)
		if tick.rated != (second > 0) {
			t.Fatalf("second %d: rated %v", second, tick.rated)
		}
		for _, b := range tick.buckets {
			told[b.name] += b.Granted * at.Sub(last).Seconds()
		}
		last = at
	}
	for _, name := range names {
		if math.Abs(told[name]-want[name]) > 0.01 || want[name] == 0 {
			t.Errorf("%s: told %v, counted %v", name, told[name], want[name])
		}
	}
}

// A bucket that begins to list the app, and one of very many that it begins to use, lose none of their first second; one of
// which nobody knows what was used before counts from its first reading.
func TestRatesOfBucketsThatComeToAnAppAddUpFromTheirFirstSecond(t *testing.T) {
	for _, byIndex := range []bool{false, true} {
		random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // a test
		w := &appWatch{before: map[string]appCounts{}}
		counts, told, want := map[usagePlace]model.Used{}, map[string]float64{}, map[string]float64{}
		begin := time.Unix(60*1000+50, 750e6)
		last := begin
		for second := range 400 {
			at := begin.Add(time.Duration(second) * time.Second)
			s := model.AppSample{At: at, From: at.Unix() / 60}
			if at.Unix()%60 < 15 {
				s.From--
			}
			listed, asked := []string{"always", "idle", "now-and-then"}, []string{"always"}
			if second%37 < 3 || second%60 == 13 {
				asked = append(asked, "now-and-then")
			}
			if second >= 100 {
				listed, asked = append(listed, "newcomer"), append(asked, "newcomer")
			}
			for _, name := range asked {
				in := at.Unix() / 60
				if at.Unix()%60 < 10 && random.IntN(2) == 0 {
					in-- // reported late
				}
				more := 1 + random.Int64N(50)
				place := usagePlace{in, name}
				counts[place] = counts[place].Plus(model.Used{Granted: more})
				if second > 0 {
					want[name] += float64(more)
				}
			}
			read, indexed := listed, map[string]bool(nil)
			if byIndex {
				read, indexed = nil, map[string]bool{}
			}
			for place, used := range counts {
				if place.minute >= s.From {
					s.Usage = append(s.Usage, model.UsageRow{Bucket: place.app, Minute: place.minute, Used: used})
					if byIndex && !indexed[place.app] {
						read, indexed[place.app] = append(read, place.app), true
					}
				}
			}
			w.list(listed)
			var tick appTick
			w.rates(&s, read, indexed, &tick)
			for _, b := range tick.buckets {
				told[b.name] += b.Granted * at.Sub(last).Seconds()
			}
			last = at
		}
		for name := range want {
			if math.Abs(told[name]-want[name]) > 0.01 || want["newcomer"] == 0 || want["now-and-then"] == 0 {
				t.Errorf("by the index: %v; %s: told %v, counted %v", byIndex, name, told[name], want[name])
			}
		}
	}
}

// A count that Redis lost and began anew is no negative rate, and after a gap there is no rate at all.
func TestRatesOfAnAppAreNeverNegative(t *testing.T) {
	w := &appWatch{before: map[string]appCounts{}}
	at := time.Unix(60*1000+30, 0)
	sample := func(granted int64) appTick {
		at = at.Add(time.Second)
		var tick appTick
		s := model.AppSample{At: at, From: 1000, Usage: []model.UsageRow{{Bucket: "a", Minute: 1000, Used: model.Used{Granted: granted}}}}
		w.rates(&s, []string{"a"}, nil, &tick)
		return tick
	}
	var got []string
	for _, granted := range []int64{100, 110, 4, 4} {
		tick := sample(granted)
		got = append(got, fmt.Sprint(tick.rated, tick.buckets))
	}
	if want := "[false [] true [{a {10 0 0}}] true [{a {4 0 0}}] true []]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}
