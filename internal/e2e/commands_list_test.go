package e2e_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// form is one way in which a Redis command may be sent.
//
// args has a word for each argument: key, num (a whole number), score (a number, or a bound such as "(5" and "-inf"),
// any; a word in capitals stands for itself, with ? behind it it may be left out, and … at the end is any number of
// further ones, or none.
type form struct {
	command string
	since   string // the Redis that first understood it in this form, options included
	args    string
}

// knownForms is all that Headgate may send to Redis, scripts included: what Redis 6.2 understands already, and so Redis 7
// and 8, and Valkey, which began as a copy of Redis 7.2. What a newer option would add has a line of its own in the
// manual of each command; one that is younger than 6.2 (EXPIRE's NX and GT, SET's GET with NX, INFO with several
// sections, all of 7.0) has no business here.
var knownForms = []form{
	// The connection, mostly by go-redis.
	{"hello", "6.0.0", "num any…"},
	{"ping", "1.0.0", ""},
	{"select", "1.0.0", "num"},
	{"client|setname", "2.6.9", "any"},
	{"info", "1.0.0", "any"},
	{"time", "2.6.0", ""},

	// Scripts.
	{"eval", "2.6.0", "any num any…"},
	{"evalsha", "2.6.0", "any num any…"},

	{"exists", "1.0.0", "key"},
	{"del", "1.0.0", "key"},
	{"expire", "1.0.0", "key num"},
	{"pexpire", "2.6.0", "key num"},
	{"persist", "2.2.0", "key"},

	{"get", "1.0.0", "key"},
	{"mget", "1.0.0", "key…"},
	{"set", "1.0.0", "key any"},
	{"set", "2.6.12", "key any NX"},
	{"set", "2.6.12", "key any PX num"},
	{"psetex", "2.6.0", "key num any"},

	{"hget", "2.0.0", "key any"},
	{"hmget", "2.0.0", "key any…"},
	{"hgetall", "2.0.0", "key"},
	{"hkeys", "2.0.0", "key"},
	{"hvals", "2.0.0", "key"},
	{"hexists", "2.0.0", "key any"},
	{"hset", "4.0.0", "key any any…"},
	{"hdel", "2.4.0", "key any…"},
	{"hincrby", "2.0.0", "key any num"},
	{"hrandfield", "6.2.0", "key num"},

	{"sadd", "2.4.0", "key any…"},
	{"srem", "2.4.0", "key any…"},
	{"smembers", "1.0.0", "key"},

	{"lrange", "1.0.0", "key num num"},
	{"lset", "1.0.0", "key num any"},
	{"ltrim", "1.0.0", "key num num"},
	{"rpush", "2.4.0", "key any…"},

	{"zadd", "2.4.0", "key score any…"},
	{"zcard", "1.2.0", "key"},
	{"zcount", "2.0.0", "key score score"},
	{"zrange", "1.2.0", "key num num WITHSCORES?"},
	{"zrangebyscore", "2.2.0", "key score score WITHSCORES?"},
	{"zrem", "2.4.0", "key any…"},
	{"zremrangebyscore", "1.2.0", "key score score"},
	{"zscore", "1.2.0", "key any"},
}

// clusterForms are sent to the nodes of a Cluster besides.
var clusterForms = []form{
	{"command", "2.8.13", ""},
	{"cluster|slots", "3.0.0", ""},
	{"asking", "3.0.0", ""},
	{"readonly", "3.0.0", ""},
}

// refusedForms are younger, and sent all the same: whoever sends them goes on when the server refuses.
var refusedForms = []form{
	{"client|setinfo", "7.2.0", "any any"}, // go-redis says its name and version
}

var argumentForms = map[string]*regexp.Regexp{
	"key":   regexp.MustCompile(`(?s)^.*$`),
	"any":   regexp.MustCompile(`(?s)^.*$`),
	"num":   regexp.MustCompile(`^-?\d+$`),
	"score": regexp.MustCompile(`^\(?-?\d+(\.\d+)?(e[+-]?\d+)?$|^[+-]inf$`),
}

// admits tells whether a command's arguments have this form.
func (f form) admits(args []string) bool {
	for _, want := range strings.Fields(f.args) {
		if kind, more := strings.CutSuffix(want, "…"); more {
			return len(args) == 0 || argumentForms[kind].MatchString(args[0])
		}
		option, mayLack := strings.CutSuffix(want, "?")
		if pattern, isArgument := argumentForms[want]; isArgument {
			if len(args) == 0 || !pattern.MatchString(args[0]) {
				return false
			}
		} else if len(args) == 0 || !strings.EqualFold(args[0], option) {
			if mayLack {
				continue
			}
			return false
		}
		args = args[1:]
	}
	return len(args) == 0
}

// formOf finds the form of a command among lists of them.
func formOf(sent redisCommand, lists ...[]form) (form, error) {
	named := false
	for _, list := range lists {
		for _, f := range list {
			if f.command != sent.name {
				continue
			}
			named = true
			if sent.unread || f.admits(sent.args) {
				return f, nil
			}
		}
	}
	if named {
		return form{}, fmt.Errorf("%s is sent with arguments that are not in the list of what every server knows: %.200q", sent.name, sent.args)
	}
	return form{}, fmt.Errorf("%s is not in the list of what every server knows (arguments %.200q)", sent.name, sent.args)
}

// laterThan62 tells whether a version is newer than the oldest Redis that is supported.
func laterThan62(version string) bool {
	parts := strings.Split(version, ".")
	major, err := strconv.Atoi(parts[0])
	if err != nil || len(parts) != 3 {
		return true
	}
	minor, err := strconv.Atoi(parts[1])
	return err != nil || major > 6 || major == 6 && minor > 2
}
