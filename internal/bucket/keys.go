package bucket

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// This file is the only place where Redis keys are formed. P is the prefix, "headgate" unless changed:
//
//	P:{NAME}                    hash    the definition, or its tombstone
//	P:{NAME}:s                  any     state of partition shared
//	P:{NAME}:s:a=APP            any     state of partition app
//	P:{NAME}:s:k=KEY            any     state of partition key
//	P:{NAME}:s:a=APP:k=KEY      any     state of partition app_key
//	P:{NAME}:u:MINUTE           hash    usage in one minute of Redis time, decimal minutes since 1970
//	P:{NAME}:t:MINUTE           hash    the keys that were limited most in one minute, as each live client counted them
//	P:{NAME}:i                  zset    live clients that use a bucket of policy local, by their last heartbeat
//	P:clients                   hash    every live client, by its id
//	P:used:MINUTE               set     names of the buckets that were used in one minute
//	P:index                     set     names of the installed buckets
//	P:overlay                   string  whose clients take mode enforce for shadow, as JSON
//	P:owner                     string  id of the deployment that owns this Redis
//	P:epoch                     string  the mark that shows data loss, decimal µs since 1970
//	P:epoch:{TAG}               string  on Cluster in its place, one for each range of slots that a master serves
//
// With more than one shard the tag is {NAME/SS} for the state keys and for the copy of the definition beside them: SS is
// FNV-1a of KEY modulo the number of shards, two decimal digits. P:{NAME} then holds the definition too, for whoever has
// yet to learn of the shards, and usage.
//
// Redis Cluster hashes only what stands between the first "{" and the next "}". Prefix and names hold no braces, so
// that is NAME or NAME/SS, whatever bytes KEY has. Names hold no ":" nor "/" either and KEY comes last, so two different
// (APP, KEY) never share a key, nor do two buckets.

// DefaultPrefix is what every key starts with unless New is given another prefix.
const DefaultPrefix = "headgate"

// KeyBound is the longest key of a caller, in bytes.
const KeyBound = 512

const prefixBound = 128

const nameRule = "must be 1..128 of A-Z a-z 0-9 . _ - and start with a letter or digit"

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// validName tells whether s may name a bucket or an app.
func validName(s string) bool { return namePattern.MatchString(s) }

// CheckPrefix returns an *InvalidError unless prefix may start the keys: at most 128 bytes, no braces. "" stands for
// DefaultPrefix.
func CheckPrefix(prefix string) error {
	if len(prefix) > prefixBound || strings.ContainsAny(prefix, "{}") {
		return invalid("prefix", "must be at most %d bytes without braces", prefixBound)
	}
	return nil
}

type keys struct{ prefix string }

func (k keys) index() string   { return k.prefix + ":index" }
func (k keys) owner() string   { return k.prefix + ":owner" }
func (k keys) clients() string { return k.prefix + ":clients" }
func (k keys) overlay() string { return k.prefix + ":overlay" }

// mark is the mark at a slot, NoSlot where Redis is no Cluster.
func (k keys) mark(slot int) string {
	if slot == NoSlot {
		return k.prefix + ":epoch"
	}
	return k.prefix + ":epoch:{" + slotTags()[slot] + "}"
}

func (k keys) definition(name string) string { return k.prefix + ":{" + name + "}" }

// shard is the definition's copy at a shard of 0..shards-1; a bucket of one shard has none but the definition itself.
func (k keys) shard(name string, shards, shard int) string {
	if shards <= 1 {
		return k.definition(name)
	}
	return fmt.Sprintf("%s:{%s/%02d}", k.prefix, name, shard)
}

// definitions are all copies of a definition: that of each shard, and last the one that callers ask first.
func (k keys) definitions(name string, shards int) []string {
	var all []string
	for shard := range shards {
		if shards > 1 {
			all = append(all, k.shard(name, shards, shard))
		}
	}
	return append(all, k.definition(name))
}

func (k keys) usage(name string, minute int64) string {
	return k.definition(name) + ":u:" + strconv.FormatInt(minute, 10)
}

// used is an index of usage, so that whoever reads it need not ask for the buckets that nobody used.
func (k keys) used(minute int64) string { return k.prefix + ":used:" + strconv.FormatInt(minute, 10) }

func (k keys) limited(name string, minute int64) string {
	return k.definition(name) + ":t:" + strconv.FormatInt(minute, 10)
}

func (k keys) instances(name string) string { return k.definition(name) + ":i" }

// stateStem is what the state keys of an app begin with, beside one copy of the definition: the whole key, but for the
// key partitions, where KEY follows.
func stateStem(definition, partition, app string) string {
	switch partition {
	case PartitionApp:
		return definition + ":s:a=" + app
	case PartitionKey:
		return definition + ":s:k="
	case PartitionAppKey:
		return definition + ":s:a=" + app + ":k="
	default:
		return definition + ":s"
	}
}

// shardOf is the shard that a caller's key falls in: 32-bit FNV-1a (RFC 9923) modulo the number of shards.
func shardOf(key string, shards int) int {
	if shards <= 1 {
		return 0
	}
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	return int(h % uint32(shards)) //nolint:gosec // 2..64
}

// Keyed tells whether callers of a bucket with this partition must hand a key.
func Keyed(partition string) bool {
	return partition == PartitionKey || partition == PartitionAppKey
}
