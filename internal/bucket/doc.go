// Package bucket owns Redis: the keys, the Lua scripts and what they mean. Both the client and the admin server lean on
// it; nobody else forms a key or reads a field. docs/redis-protocol.md describes the same for other languages.
//
// A definition is installed under a revision and never replaced by an older or equal one. An acquire is one script call
// that takes the time from Redis, so callers' clocks do not matter, and whose arithmetic is exact: no fraction of a
// permit is lost or invented, whatever the polling pattern.
//
// The package never repeats a script call whose answer was lost: a call that failed may have taken permits.
package bucket
