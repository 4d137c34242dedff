package bucket

import (
	"regexp"
	"strconv"
	"strings"
)

// This file is the only place where Redis keys are formed. P is the prefix, "headgate" unless changed:
//
//	P:{NAME}                    hash    the definition, or its tombstone
//	P:{NAME}:s                  string  state of partition shared
//	P:{NAME}:s:a=APP            string  state of partition app
//	P:{NAME}:s:k=KEY            string  state of partition key
//	P:{NAME}:s:a=APP:k=KEY      string  state of partition app_key
//	P:{NAME}:u:MINUTE           hash    usage in one minute of Redis time, decimal minutes since 1970
//	P:index                     set     names of the installed buckets
//	P:owner                     string  id of the deployment that owns this Redis
//	P:epoch                     string  the mark that shows data loss, decimal µs since 1970
//
// Redis Cluster hashes only what stands between the first "{" and the next "}". Prefix and names hold no braces, so
// that is NAME for all keys of one bucket, whatever bytes KEY has. Names hold no ":" either and KEY comes last, so two
// different (APP, KEY) never share a key.

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

func (k keys) index() string { return k.prefix + ":index" }
func (k keys) owner() string { return k.prefix + ":owner" }
func (k keys) epoch() string { return k.prefix + ":epoch" }

func (k keys) definition(name string) string { return k.prefix + ":{" + name + "}" }

func (k keys) usage(name string, minute int64) string {
	return k.definition(name) + ":u:" + strconv.FormatInt(minute, 10)
}

// state returns the key of the partition that (app, key) falls in; partition is one of the four.
func (k keys) state(name, partition, app, key string) string {
	base := k.definition(name) + ":s"
	switch partition {
	case PartitionApp:
		return base + ":a=" + app
	case PartitionKey:
		return base + ":k=" + key
	case PartitionAppKey:
		return base + ":a=" + app + ":k=" + key
	default:
		return base
	}
}

// Keyed tells whether callers of a bucket with this partition must hand a key.
func Keyed(partition string) bool {
	return partition == PartitionKey || partition == PartitionAppKey
}
