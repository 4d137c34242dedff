package store

import "math/bits"

// bitSet is a set of small numbers.
type bitSet []uint64

func newBits(n int) bitSet { return make(bitSet, (n+63)/64) }

// grown is the set with room for n numbers.
func (b bitSet) grown(n int) bitSet {
	for len(b) < (n+63)/64 {
		b = append(b, 0)
	}
	return b
}

func (b bitSet) has(i int32) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitSet) set(i int32)      { b[i/64] |= 1 << (i % 64) }
func (b bitSet) clear(i int32)    { b[i/64] &^= 1 << (i % 64) }

func (b bitSet) setAll(list []int32) {
	for _, i := range list {
		b.set(i)
	}
}

// keep leaves what is in both; the two have the same room.
func (b bitSet) keep(other bitSet) {
	for i := range b {
		b[i] &= other[i]
	}
}

func (b bitSet) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// each calls fn with the numbers in the set, the lowest first.
func (b bitSet) each(fn func(i int32)) {
	for at, word := range b {
		for ; word != 0; word &= word - 1 {
			fn(int32(at*64 + bits.TrailingZeros64(word)))
		}
	}
}
