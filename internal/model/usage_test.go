package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/headgate/headgate/internal/model"
)

// What is kept of an hour is read back as it was; anything else is refused instead of read as something.
func TestHourUsageComesBackAsItWasWritten(t *testing.T) {
	for range 1000 {
		var hour model.HourUsage
		for i := range hour {
			if rand.IntN(2) == 0 { //nolint:gosec // a test
				hour[i] = model.Used{Granted: rand.Int64N(1 << uint(rand.IntN(60)+1)), Limited: rand.Int64N(3), ShadowLimited: rand.Int64N(1 << 40)} //nolint:gosec // a test
			}
		}
		text := hour.Encode()
		if len(text) > 2048 {
			t.Fatalf("%d bytes do not fit the column", len(text))
		}
		back, err := model.DecodeHourUsage(text)
		if err != nil || back != hour {
			t.Fatalf("%v: %v, want %v", err, back, hour)
		}
		if len(text) > 0 {
			if _, err := model.DecodeHourUsage(text[:len(text)-1]); err == nil {
				t.Fatal("a text that was cut off was read")
			}
		}
	}
	if _, err := model.DecodeHourUsage([]byte{60, 0, 0, 0}); err == nil {
		t.Error("a minute that no hour has was read")
	}
}
