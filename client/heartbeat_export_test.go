package client

import "time"

// BeatEvery makes a client beat more often than every 5 s.
func BeatEvery(d time.Duration) Option { return func(o *options) { o.beat = d } }
