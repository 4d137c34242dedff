package bucket

import "strconv"

// Target is a bucket as one app calls it, with all of a call that stays the same from one to the next. It never changes
// and may be shared.
type Target struct {
	Name, App string
	Facts     *Facts // what the caller believes; nil = nothing learned, so that a call only brings the truth

	shape, revision string
	places          []place
}

// place is one shard: its copy of the definition and what its state keys begin with.
type place struct {
	definition, stem string
	boxed            any // definition as an argument
	slot             int
}

// Target prepares calls of an app on a bucket; facts nil stands for a bucket of which nothing was learned. The error is
// an *InvalidError for names that are none.
func (e *Engine) Target(name, app string, facts *Facts) (*Target, error) {
	switch {
	case e.broken != nil:
		return nil, e.broken
	case !validName(name):
		return nil, invalid("bucket", nameRule)
	case !validName(app):
		return nil, invalid("app", nameRule)
	}
	t := &Target{Name: name, App: app, Facts: facts, revision: "0"}
	if facts == nil {
		t.places = []place{{definition: e.keys.definition(name), boxed: e.keys.definition(name), slot: slotOf(name)}}
		return t, nil
	}
	if facts.Shards < 1 || facts.Shards > ShardsBound {
		return nil, invalid("shards", "must be 1..%d, not %d", ShardsBound, facts.Shards)
	}
	t.shape, t.revision = facts.shape(), strconv.FormatInt(facts.Revision, 10)
	t.places = make([]place, facts.Shards)
	for i := range t.places {
		definition := e.keys.shard(name, facts.Shards, i)
		t.places[i] = place{definition, stateStem(definition, facts.Partition, app), definition, slotOf(tagOf(definition))}
	}
	return t, nil
}

// Shard is the shard that a caller's key falls in, 0 where there is only one. All keys of one call must share it.
func (t *Target) Shard(key string) int { return shardOf(key, len(t.places)) }

// Keyed tells whether calls need a key.
func (t *Target) Keyed() bool { return t.Facts != nil && Keyed(t.Facts.Partition) }

// state is the key of the state that a caller's key falls in.
func (t *Target) state(shard int, key string) string {
	if t.Keyed() {
		return t.places[shard].stem + key
	}
	return t.places[shard].stem
}

// checkKey refuses keys that don't fit the bucket or this shard.
func (t *Target) checkKey(shard int, key string) error {
	switch {
	case shard < 0 || shard >= len(t.places):
		return invalid("shard", "must be 0..%d, not %d", len(t.places)-1, shard)
	case !t.Keyed():
		return nil
	case key == "" || len(key) > KeyBound:
		return invalid("key", "must be 1..%d bytes, not %d", KeyBound, len(key))
	case t.Shard(key) != shard:
		return invalid("key", "falls in shard %d, not %d", t.Shard(key), shard)
	}
	return nil
}

// Slot is the hash slot of Redis Cluster that a shard's keys lie in, 0..Slots-1.
func (t *Target) Slot(shard int) int { return t.places[shard].slot }
