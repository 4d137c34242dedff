package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Heartbeats: how often clients beat, and for how long a beat counts.
const (
	BeatEvery     = 5 * time.Second
	LiveFor       = 15 * time.Second // as one of those that share a limit of policy local
	InstancesSeen = 30 * time.Second // as one that Instances lists
)

// Bounds of what an instance tells of itself. Beat cuts what is longer.
const (
	HostBound    = 255 // bytes
	VersionBound = 64  // bytes
	BucketsBound = 1000
)

// Instance is a live client.
type Instance struct {
	ID      string // made by the client, so that no two are the same: 1..64 of A-Za-z0-9_-
	App     string
	Host    string
	Version string        // of the SDK
	Uptime  time.Duration // at the beat, by the client's own clock: whole seconds are kept
	// Buckets are the buckets in use, with the revision that the client decides by: at most BucketsBound, the first ones
	// by name.
	Buckets map[string]int64
	More    int       // buckets in use beyond those; set by Beat
	Seen    time.Time // the Redis time of the last beat; set by Instances
}

// Started is when the client began, as Redis's clock has it: Seen less Uptime.
func (i *Instance) Started() time.Time { return i.Seen.Add(-i.Uptime) }

// instanceText is what an instance tells of itself, as it is stored.
type instanceText struct {
	App     string           `json:"app"`
	Host    string           `json:"host,omitempty"`
	Version string           `json:"version,omitempty"`
	Uptime  int64            `json:"up"` // s
	Buckets map[string]int64 `json:"buckets,omitempty"`
	More    int              `json:"more,omitempty"`
}

var (
	beatScript      = compose("head", "", "beat")
	liveScript      = compose("head", "", "live")
	instancesScript = compose("head", "", "instances")
)

// Beat says that the instance is alive, and that it uses the buckets named in locals, whose limit the live instances
// share while Redis is away. live has for each of them how many instances used it within LiveFor, this one included. All
// of it is one round trip (on Cluster: one for each node that has to do with it). After an error live has what was
// answered.
func (e *Engine) Beat(ctx context.Context, i Instance, locals []string) (live map[string]int64, err error) {
	text, err := e.tell(&i, locals)
	if err != nil {
		return nil, err
	}
	requests := make([]request, 0, 1+len(locals))
	beat := newRequest(beatScript, 1, 2)
	beat.args = append(beat.args, e.keys.clients(), i.ID, text)
	requests = append(requests, beat)
	for _, name := range locals {
		r := newRequest(liveScript, 1, 2)
		r.args = append(r.args, e.keys.instances(name), i.ID, LiveFor.Milliseconds())
		requests = append(requests, r)
	}
	answers := e.sendAll(ctx, requests)
	live = make(map[string]int64, len(locals))
	failed := answers[0].err
	for n, name := range locals {
		count, ok := answers[1+n].value.(int64)
		switch {
		case answers[1+n].err != nil:
			failed = errors.Join(failed, answers[1+n].err)
		case !ok || count < 1:
			failed = errors.Join(failed, errReply)
		default:
			live[name] = count
		}
	}
	if failed != nil {
		return live, fmt.Errorf("beat: %w", failed)
	}
	return live, nil
}

// tell checks an instance and its buckets, and writes what is stored of it.
func (e *Engine) tell(i *Instance, locals []string) (string, error) {
	if err := e.checkInstance(i.ID, locals); err != nil {
		return "", err
	}
	if !validName(i.App) {
		return "", invalid("app", nameRule)
	}
	t := instanceText{
		App: i.App, Host: cut(i.Host, HostBound), Version: cut(i.Version, VersionBound),
		Uptime: int64(max(0, i.Uptime) / time.Second), Buckets: i.Buckets,
	}
	if len(i.Buckets) > BucketsBound {
		t.Buckets, t.More = firstBuckets(i.Buckets), len(i.Buckets)-BucketsBound
	}
	if err := t.check(); err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	return string(text), err
}

func (e *Engine) checkInstance(id string, locals []string) error {
	if e.broken != nil {
		return e.broken
	}
	if !validID(id) {
		return invalid("instance", idRule)
	}
	for _, name := range locals {
		if !validName(name) {
			return invalid("bucket", nameRule)
		}
	}
	return nil
}

func (t *instanceText) check() error {
	for name, revision := range t.Buckets {
		if !validName(name) {
			return invalid("bucket", nameRule)
		}
		if revision < 0 || revision > revisionMax {
			return invalid("revision", "must be 0..%d, not %d", revisionMax, revision)
		}
	}
	return nil
}

func firstBuckets(all map[string]int64) map[string]int64 {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	first := make(map[string]int64, BucketsBound)
	for _, name := range names[:BucketsBound] {
		first[name] = all[name]
	}
	return first
}

// cut shortens s to at most n bytes of whole characters, and replaces bytes that are none.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Leave says that an instance ends, so that it counts no more: neither among the instances nor for the buckets named.
func (e *Engine) Leave(ctx context.Context, id string, locals []string) error {
	if err := e.checkInstance(id, locals); err != nil {
		return err
	}
	pipe := e.rdb.Pipeline()
	pipe.HDel(ctx, e.keys.clients(), id)
	for _, name := range locals {
		pipe.ZRem(ctx, e.keys.instances(name), id)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// Instances returns the instances that beat within InstancesSeen, by app, host and id. Entries that this version can't
// read are left out.
func (e *Engine) Instances(ctx context.Context) ([]Instance, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	value, err := e.run(ctx, instancesScript, []string{e.keys.clients()})
	if err != nil {
		return nil, fmt.Errorf("read the instances: %w", err)
	}
	t := tupleOf(value)
	now := time.UnixMicro(t.int()).UTC()
	all := []Instance{}
	for t.err == nil && len(t.items) > 0 {
		i, ok := instanceOf(t.string(), t.string())
		if ok && now.Sub(i.Seen) < InstancesSeen && i.Seen.Sub(now) <= tolerance {
			all = append(all, i)
		}
	}
	if err := t.end(); err != nil {
		return nil, fmt.Errorf("read the instances: %w", err)
	}
	sort.Slice(all, func(a, b int) bool {
		x, y := &all[a], &all[b]
		return x.App < y.App || x.App == y.App && (x.Host < y.Host || x.Host == y.Host && x.ID < y.ID)
	})
	return all, nil
}

// tolerance is how far Redis's clock may lie behind what it once said before that is disbelieved (TOLERANCE in head.lua).
const tolerance = time.Second

// instanceOf reads an entry of the clients, as beat.lua wrote it.
func instanceOf(id, value string) (Instance, bool) {
	version, rest, _ := strings.Cut(value, " ")
	seen, text, ok := strings.Cut(rest, " ")
	us, err := strconv.ParseInt(seen, 10, 64)
	if !ok || err != nil || version != format || !validID(id) {
		return Instance{}, false
	}
	var t instanceText
	if json.Unmarshal([]byte(text), &t) != nil || !validName(t.App) || t.check() != nil || t.More < 0 || len(t.Buckets) > BucketsBound ||
		t.Uptime < 0 || t.Uptime > int64((1<<63-1)/time.Second) {
		return Instance{}, false
	}
	return Instance{
		ID: id, App: t.App, Host: cut(t.Host, HostBound), Version: cut(t.Version, VersionBound), Uptime: time.Duration(t.Uptime) * time.Second,
		Buckets: t.Buckets, More: t.More, Seen: time.UnixMicro(us).UTC(),
	}, true
}
