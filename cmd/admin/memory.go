package main

import (
	"math"
	"runtime/debug"
)

// memoryGoal is what the server keeps its memory to, by collecting garbage more often when it comes near: enough for
// 100,000 buckets. It is no hard bound; GOMEMLIMIT sets another one.
const memoryGoal = 210 << 20

// keepSmall sets the goal unless the environment did.
func keepSmall() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(memoryGoal)
	}
}
