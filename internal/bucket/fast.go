package bucket

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fastField is what install.lua packs into the field "fast" of a definition (print_fast in rules.lua), made from its head:
// ten doubles and two strings that end with a zero byte. ok is false when the head tells no such field.
func fastField(head string, apps []string) (packed string, ok bool) {
	h := words{list: strings.Split(head, " ")}
	if len(h.list) != headFields || h.list[3] == ModeOff {
		return "", false
	}
	algorithm, _, _ := strings.Cut(h.list[2], ".")
	if algorithm == Concurrency {
		return "", false
	}
	generation, born, rid, at, all := h.int(6), h.int(7), h.int(8), h.int(9), int64(0)
	start := max(born, at)
	edge, id := start, strconv.FormatInt(rid, 16)
	if h.int(15) == 0 {
		edge = born
	}
	if algorithm != TokenBucket {
		start, edge, id = windowFast(&h, algorithm, generation, born, rid, at)
	}
	if slices.Contains(apps, AllApps) {
		all = 1
	}
	var b []byte
	for _, n := range []int64{h.int(1), rid, start, edge, h.int(10), h.int(11), h.int(12), h.int(13), h.int(14), all} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
	}
	return string(b) + id + "\x00" + h.list[2] + "\x00", !h.broken
}

// windowFast are the words of the field that mean something else for windows: a birth is over a period later, and state
// is named by its generation or, of sliding_window, by its rule.
func windowFast(h *words, algorithm string, generation, born, rid, at int64) (start, edge int64, id string) {
	start, id = at, strconv.FormatInt(generation, 10)
	if born > 0 {
		start = max(at, born+h.int(11))
	}
	if h.int(15) > 0 {
		edge = at
	}
	if algorithm == SlidingWindow {
		id = strconv.FormatInt(rid, 10)
	}
	return start, edge, id
}
