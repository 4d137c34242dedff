package client

import (
	"slices"

	"github.com/headgate/headgate/internal/bucket"
)

// sketch counts by key in bounded memory: the algorithm Space-Saving (Metwally, Agrawal and El Abbadi, "Efficient
// Computation of Frequent and Top-k Elements in Data Streams", 2005). A key that finds no room takes that of the least
// counted one, with its count. So no count is too low, none is too high by more than the sum of all over sketchKeys, and
// every key that has more than that is there.
type sketch struct {
	heap []KeyCount     // the least counted first
	at   map[string]int // where in the heap a key stands
	news bool           // something was counted that Redis was not told
}

const sketchKeys = 100

func newSketch() *sketch {
	return &sketch{heap: make([]KeyCount, 0, sketchKeys), at: make(map[string]int, sketchKeys)}
}

// add counts n more of a key, in O(log sketchKeys) and without allocating.
func (s *sketch) add(key string, n int64) {
	s.news = true
	if i, ok := s.at[key]; ok {
		s.heap[i].Limited += n
		s.sink(i)
		return
	}
	if len(s.heap) < sketchKeys {
		s.heap = append(s.heap, KeyCount{Key: key, Limited: n})
		s.at[key] = len(s.heap) - 1
		s.rise(len(s.heap) - 1)
		return
	}
	least := s.heap[0]
	delete(s.at, least.Key)
	s.heap[0] = KeyCount{Key: key, Limited: least.Limited + n, Excess: least.Limited}
	s.at[key] = 0
	s.sink(0)
}

// most are the n keys with the highest counts.
func (s *sketch) most(n int) []bucket.LimitedKey {
	all := slices.Clone(s.heap)
	slices.SortFunc(all, byLimited)
	keys := make([]bucket.LimitedKey, min(n, len(all)))
	for i := range keys {
		keys[i] = bucket.LimitedKey(all[i])
	}
	return keys
}

// clear forgets all; a sketch that was never made is clear.
func (s *sketch) clear() {
	if s == nil {
		return
	}
	clear(s.heap)
	s.heap = s.heap[:0]
	clear(s.at)
	s.news = false
}

// sink puts the count at i, which has grown, where it belongs.
func (s *sketch) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if s.heap[child].Limited < s.heap[least].Limited {
				least = child
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}

// rise puts the count at i, which is new, where it belongs.
func (s *sketch) rise(i int) {
	for i > 0 && s.heap[i].Limited < s.heap[(i-1)/2].Limited {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *sketch) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.at[s.heap[i].Key], s.at[s.heap[j].Key] = i, j
}
