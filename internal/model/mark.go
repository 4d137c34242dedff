package model

import "time"

// NoSlot names the mark of a Redis that is no Cluster.
const NoSlot = -1

// Mark is what the database remembers of a mark in Redis: a key that was last written with the time At, so that its
// absence, or an older time, shows that the master which serves the slots From..To has lost what it had.
type Mark struct {
	Slot     int       // of the key; NoSlot where Redis is no Cluster
	From, To int       // the slots that its master served in a row when it was written, Slot among them
	At       time.Time // by the clock of that master, µs; the zero time = none was written yet
}
