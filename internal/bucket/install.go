package bucket

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// Status is what came of an install, remove or restart.
type Status int

// The statuses.
const (
	StatusInstalled     Status = 1  // Redis changed as asked
	StatusUnchanged     Status = 2  // Redis has this revision or a newer one; nothing changed, byte for byte
	StatusForeign       Status = -5 // the definition in Redis is another deployment's; nothing changed
	StatusUnknownFormat Status = -4 // the definition in Redis has a format that this version does not know; nothing changed
	StatusAbsent        Status = 0  // restart only: there is no definition, or just a tombstone; nothing changed
)

// InstallOptions go with a definition.
type InstallOptions struct {
	Deployment string // id of the deployment that installs; required
	// Lost says that this name had been installed before, so that its absence from Redis, if it is absent when the
	// definition arrives there, means data loss: its state then starts as AfterLoss says instead of full. Without effect
	// where Redis has a definition or a tombstone.
	Lost bool
}

// InstallResult tells what Redis has now.
type InstallResult struct {
	Status     Status
	Revision   int64  // the revision in Redis; 0 = none or unknown
	Deployment string // whose it is; "" when unknown
	Tombstone  bool   // it is a tombstone

	replaced int // how many shards the definition had that Install replaced; 0 = there was none
}

// Installed is a definition as read from Redis.
type Installed struct {
	Present       bool   // a definition, a tombstone or something of an unknown format is there
	Tombstone     bool   // removed; only Name, Revision, Deployment and Damaged are set
	UnknownFormat bool   // written by a version that this one does not understand; nothing else is set but Name
	Unreadable    bool   // written by no version: it has no format, no owner, or no numbers; nothing is set but Name, and Deployment and Revision if it tells them
	Deployment    string // the deployment that installed it
	Definition
	Generation int64     // changes when the state started anew
	Born       time.Time // the state's start when it started empty; zero when it started full
	Missing    int       // shards whose copy of the definition is not there, as after the loss of one master of a Cluster
	// Damaged says that something else than Install changed the definition: what the scripts act on, or a shard's copy,
	// is not what the other fields tell.
	Damaged bool
}

// Install makes d what Redis enforces, if d.Revision is newer than what is there, and lists d.Name in the index. An
// older or equal revision changes nothing. A changed limit settles the permits of partition shared, and of partition app
// with its apps listed, at once; all other state follows at its next use. A changed algorithm, partition or shards, a
// name recreated under its tombstone, and Lost begin a new generation of state. With several shards each gets its copy,
// so one that lost it gets it again also under an equal revision; the result is that of the definition itself, which
// comes last. Copies of shards that it had and has no more become tombstones before that, so that a caller who still
// believes in them learns the truth.
func (e *Engine) Install(ctx context.Context, d Definition, o InstallOptions) (InstallResult, error) {
	if err := e.checkDeployment(o.Deployment); err != nil {
		return InstallResult{}, err
	}
	if err := d.Validate(); err != nil {
		return InstallResult{}, err
	}
	if err := e.rdb.SAdd(ctx, e.keys.index(), d.Name).Err(); err != nil {
		return InstallResult{}, wrap(err, "index", d.Name)
	}
	result, err := e.installCopies(ctx, d, o)
	if err != nil {
		return InstallResult{}, wrap(err, "install", d.Name)
	}
	if result.Tombstone {
		return result, wrap(e.unindex(ctx, d.Name), "index", d.Name)
	}
	// Once more: a Remove that was under way may have taken the name out between the two steps above.
	return result, wrap(e.rdb.SAdd(ctx, e.keys.index(), d.Name).Err(), "index", d.Name)
}

// installCopies installs the copies of the shards, and when all are there the definition that callers ask first.
func (e *Engine) installCopies(ctx context.Context, d Definition, o InstallOptions) (InstallResult, error) {
	shards, _, err := e.shardsOf(ctx, d.Name)
	if err != nil {
		return InstallResult{}, err
	}
	copies := e.keys.definitions(d.Name, d.Shards)
	last := len(copies) - 1
	// Where the definition stands, a copy that does not was lost.
	args := installArgs(d, o.Lost || shards == d.Shards, o.Deployment)
	requests := make([]request, 0, last)
	for _, key := range copies[:last] {
		r := newRequest(installScripts[d.Algorithm], 1, len(args))
		r.args = append(append(r.args, key), args...)
		requests = append(requests, r)
	}
	for _, s := range e.sendAll(ctx, requests) {
		result, err := s.install()
		if err != nil || result.Status == StatusForeign || result.Status == StatusUnknownFormat {
			return result, err
		}
	}
	if err := e.dropCopies(ctx, d.Name, shards, d.Shards, d.Revision, o.Deployment); err != nil {
		return InstallResult{}, err
	}
	keys := append([]string{copies[last]}, e.listableStates(d.Name, d.Partition, d.Apps)...)
	value, err := e.run(ctx, installScripts[d.Algorithm], keys, installArgs(d, o.Lost, o.Deployment)...)
	result, err := sent{value, err}.install()
	switch {
	case err != nil:
	case result.Status == StatusInstalled && result.replaced != shards:
		// Another one came in between.
		err = e.dropCopies(ctx, d.Name, result.replaced, d.Shards, d.Revision, o.Deployment)
	case result.Status == StatusUnchanged && result.Revision > d.Revision:
		// A newer definition or a tombstone came first, and the copies above may be too many.
		err = e.tidy(ctx, d, o.Deployment)
	}
	result.replaced = 0
	return result, err
}

func (s sent) install() (InstallResult, error) {
	if s.err != nil {
		return InstallResult{}, s.err
	}
	return decodeInstall(s.value)
}

func installArgs(d Definition, lost bool, deployment string) []any {
	num, den := d.limit()
	args := make([]any, 0, 15+len(d.Apps))
	args = append(args, deployment, flag(lost), d.Revision, d.Algorithm, d.MaxPermits, d.Rate, d.Period.Microseconds(),
		num, den, d.Partition, d.Shards, d.Mode, d.MaxWait.Milliseconds(), d.OnFailure, d.AfterLoss)
	for _, app := range d.Apps {
		args = append(args, app)
	}
	return args
}

// listableStates returns the state keys that are known without searching: not those of callers' keys, nor of "all apps".
func (e *Engine) listableStates(name, partition string, apps []string) []string {
	definition := e.keys.definition(name)
	switch partition {
	case PartitionShared:
		return []string{stateStem(definition, partition, "")}
	case PartitionApp:
		states := make([]string, 0, len(apps))
		for _, app := range apps {
			if app != AllApps {
				states = append(states, stateStem(definition, partition, app))
			}
		}
		return states
	default:
		return nil
	}
}

// unindex takes a name out of the index, and puts it back if it is found installed afterwards: another server may have
// recreated it meanwhile.
func (e *Engine) unindex(ctx context.Context, name string) error {
	if err := e.rdb.SRem(ctx, e.keys.index(), name).Err(); err != nil {
		return err
	}
	found, err := e.Read(ctx, name)
	if err != nil || !found[0].Present || found[0].Tombstone {
		return err
	}
	return e.rdb.SAdd(ctx, e.keys.index(), name).Err()
}

// Remove replaces the definition by a tombstone that keeps the revision for 7 days, so that a late Install of an older
// revision can't revive the name, and takes the name out of the index. It leaves a tombstone also where nothing was.
// The copies of shards go first, each for a tombstone of its own.
func (e *Engine) Remove(ctx context.Context, name string, revision int64, deployment string) (InstallResult, error) {
	if err := e.checkDeployment(deployment); err != nil {
		return InstallResult{}, err
	}
	if revision < 1 || revision > revisionMax {
		return InstallResult{}, invalid("revision", "must be 1..%d, not %d", revisionMax, revision)
	}
	// What is read here only tells which shards and state there are; the script decides on what it finds itself.
	found, err := e.Read(ctx, name)
	if err != nil {
		return InstallResult{}, err
	}
	copies, err := e.copiesOf(ctx, name)
	if err != nil {
		return InstallResult{}, wrap(err, "remove", name)
	}
	var result InstallResult
	for i, definition := range copies {
		keys := []string{definition}
		if i == len(copies)-1 {
			keys = append(keys, e.listableStates(name, found[0].Partition, found[0].Apps)...)
		}
		value, err := e.run(ctx, removeScript, keys, deployment, revision)
		if result, err = (sent{value, err}).install(); err != nil {
			return InstallResult{}, wrap(err, "remove", name)
		}
	}
	if result.Tombstone {
		err = e.unindex(ctx, name)
	}
	return result, wrap(err, "index", name)
}

// ruleEpoch is the instant from which rule ids count ms (EPOCH in head.lua).
var ruleEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Restart begins a new generation because state of before lost was lost though the definition stands: state starts now
// as AfterLoss says. The revision stays. A generation that began after lost is left as it is (StatusUnchanged), so that
// a restart done twice is a restart done once. StatusAbsent when there is nothing to restart.
//
// With ranges only what lies in one of them is restarted, of several shards maybe a part, since a Cluster's master may lose
// its state alone; without, all is. The result is that of the last part that had to be restarted.
func (e *Engine) Restart(ctx context.Context, name, deployment string, lost time.Time, in ...SlotRange) (InstallResult, error) {
	return e.restart(ctx, name, deployment, strconv.FormatInt(lost.Sub(ruleEpoch).Milliseconds(), 10), "loss", in...)
}

// Reset makes all state of a bucket start anew, full, in every partition: a new generation. The revision stays.
// StatusAbsent when there is no such bucket.
func (e *Engine) Reset(ctx context.Context, name, deployment string) (InstallResult, error) {
	return e.restart(ctx, name, deployment, strconv.FormatInt(revisionMax, 10), "full")
}

func (e *Engine) restart(ctx context.Context, name, deployment, before, start string, in ...SlotRange) (InstallResult, error) {
	if err := e.checkDeployment(deployment); err != nil {
		return InstallResult{}, err
	}
	if !validName(name) {
		return InstallResult{}, invalid("name", nameRule)
	}
	copies, err := e.copiesOf(ctx, name)
	if err != nil {
		return InstallResult{}, wrap(err, "restart", name)
	}
	result := InstallResult{Status: StatusUnchanged}
	for _, definition := range copies {
		slot := slotOf(tagOf(definition))
		if len(in) > 0 && !slices.ContainsFunc(in, func(r SlotRange) bool { return r.Has(slot) }) {
			continue
		}
		value, err := e.run(ctx, restartScript, []string{definition}, deployment, before, start)
		part, err := sent{value, err}.install()
		if err != nil {
			return InstallResult{}, wrap(err, "restart", name)
		}
		if part.Status != StatusUnchanged || result.Status != StatusInstalled {
			result = part
		}
	}
	return result, nil
}

// ResetKey deletes the state of one partition: the app's, the key's, or both, as the target's partition has it. It then
// counts as any partition that was not used yet.
func (e *Engine) ResetKey(ctx context.Context, t *Target, key string) error {
	shard := t.Shard(key)
	if t.Facts == nil {
		return invalid("facts", "must be known to find the state of a key")
	}
	if err := t.checkKey(shard, key); err != nil {
		return err
	}
	return wrap(e.rdb.Del(ctx, t.state(shard, key)).Err(), "reset", t.Name)
}
