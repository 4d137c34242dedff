package bucket

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fastField is what install.lua packs into the field "fast" of a token bucket (print_fast in rules.lua), made from its
// head: ten doubles and two strings that end with a zero byte. ok is false when the head tells no such field.
func fastField(head string, apps []string) (packed string, ok bool) {
	h := words{list: strings.Split(head, " ")}
	if len(h.list) != headFields || !strings.HasPrefix(h.list[2], TokenBucket+".") || h.list[3] == ModeOff {
		return "", false
	}
	born, rid, at, all := h.int(7), h.int(8), h.int(9), int64(0)
	start := max(born, at)
	edge := start
	if h.int(15) == 0 {
		edge = born
	}
	if slices.Contains(apps, AllApps) {
		all = 1
	}
	var b []byte
	for _, n := range []int64{h.int(1), rid, start, edge, h.int(10), h.int(11), h.int(12), h.int(13), h.int(14), all} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
	}
	return string(b) + strconv.FormatInt(rid, 16) + "\x00" + h.list[2] + "\x00", !h.broken
}
