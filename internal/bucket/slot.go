package bucket

import "strings"

// Slots is how many hash slots a Redis Cluster has.
const Slots = 16384

// slotOf is the slot of a hash tag: CRC-16/XMODEM modulo the number of slots, as the Redis Cluster specification has it.
func slotOf(tag string) int {
	var crc uint16
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % Slots
}

// tagOf is what stands between the braces of one of our keys.
func tagOf(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}
