package bucket

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// What is done to many buckets at once travels in few round trips, whose number does not grow with that of the buckets.
// On Cluster each node that has to do with them takes its part.

// BatchInstall is one of many installs.
type BatchInstall struct {
	Definition
	Lost bool // as in InstallOptions
}

// BatchResult is what came of one of many: exactly what came of it alone.
type BatchResult struct {
	InstallResult
	Err error
}

// InstallAll is Install for many definitions, answered in their order. Definitions of several shards are installed one
// after the other.
func (e *Engine) InstallAll(ctx context.Context, deployment string, all []BatchInstall) []BatchResult {
	results := make([]BatchResult, len(all))
	var whole []int // those that stand in one place
	for i := range all {
		d := &all[i]
		results[i].Err = e.checkDeployment(deployment)
		if results[i].Err == nil {
			results[i].Err = d.Validate()
		}
		switch {
		case results[i].Err != nil:
		case d.Shards > 1:
			results[i].InstallResult, results[i].Err = e.Install(ctx, d.Definition, InstallOptions{Deployment: deployment, Lost: d.Lost})
		default:
			whole = append(whole, i)
		}
	}
	if len(whole) == 0 {
		return results
	}
	err := e.index(ctx, all, whole)
	if err == nil {
		e.installWhole(ctx, deployment, all, whole, results)
		err = e.indexAgain(ctx, all, whole, results)
	}
	if err != nil {
		for _, i := range whole {
			results[i] = BatchResult{Err: wrap(err, "index", all[i].Name)}
		}
	}
	return results
}

func (e *Engine) index(ctx context.Context, all []BatchInstall, which []int) error {
	if len(which) == 0 {
		return nil
	}
	names := make([]any, len(which))
	for n, i := range which {
		names[n] = all[i].Name
	}
	return e.rdb.SAdd(ctx, e.keys.index(), names...).Err()
}

// indexAgain is what Install does last: names that were removed meanwhile leave the index, the others are in it for sure.
func (e *Engine) indexAgain(ctx context.Context, all []BatchInstall, which []int, results []BatchResult) error {
	var stay []int
	for _, i := range which {
		switch r := &results[i]; {
		case r.Err == nil && r.Tombstone:
			r.Err = wrap(e.unindex(ctx, all[i].Name), "index", all[i].Name)
		case r.Err == nil:
			stay = append(stay, i)
		}
	}
	return e.index(ctx, all, stay)
}

// installWhole installs definitions of one shard. Where one replaced had more, that is finished one by one.
func (e *Engine) installWhole(ctx context.Context, deployment string, all []BatchInstall, which []int, results []BatchResult) {
	requests := make([]request, len(which))
	for n, i := range which {
		d := &all[i].Definition
		states, args := e.listableStates(d.Name, d.Partition, d.Apps), installArgs(*d, all[i].Lost, deployment)
		r := newRequest(installScripts[d.Algorithm], 1+len(states), len(args))
		r.args = append(r.args, e.keys.definition(d.Name))
		for _, state := range states {
			r.args = append(r.args, state)
		}
		r.args = append(r.args, args...)
		requests[n] = r
	}
	for n, s := range e.sendMany(ctx, requests) {
		i := which[n]
		r := &results[i]
		r.InstallResult, r.Err = s.install()
		if r.Err == nil && r.Status == StatusInstalled && r.replaced > 1 {
			r.Err = e.dropCopies(ctx, all[i].Name, r.replaced, 1, all[i].Revision, deployment)
		}
		r.Err, r.replaced = wrap(r.Err, "install", all[i].Name), 0
	}
}

// BatchRestart is one of many restarts.
type BatchRestart struct {
	Name   string
	Shards int         // that the definition has
	Lost   time.Time   // as in Restart
	In     []SlotRange // as in Restart
}

// RestartAll is Restart for many buckets, answered in their order.
func (e *Engine) RestartAll(ctx context.Context, deployment string, all []BatchRestart) []BatchResult {
	results := make([]BatchResult, len(all))
	var requests []request
	var owner []int
	for i, b := range all {
		results[i].Status = StatusUnchanged
		if results[i].Err = e.checkDeployment(deployment); results[i].Err != nil {
			continue
		}
		if !validName(b.Name) {
			results[i].Err = invalid("name", nameRule)
			continue
		}
		before := strconv.FormatInt(b.Lost.Sub(ruleEpoch).Milliseconds(), 10)
		for _, key := range e.keys.definitions(b.Name, b.Shards) {
			slot := slotOf(tagOf(key))
			if len(b.In) > 0 && !slices.ContainsFunc(b.In, func(r SlotRange) bool { return r.Has(slot) }) {
				continue
			}
			r := newRequest(restartScript, 1, 3)
			r.args = append(r.args, key, deployment, before, "loss")
			requests, owner = append(requests, r), append(owner, i)
		}
	}
	for n, s := range e.sendMany(ctx, requests) {
		result := &results[owner[n]]
		part, err := s.install()
		switch {
		case err != nil:
			result.Err = wrap(err, "restart", all[owner[n]].Name)
		case part.Status != StatusUnchanged || result.Status != StatusInstalled:
			result.InstallResult = part
		}
	}
	return results
}

// sendMany is sendAll for many calls of few scripts: where Redis knows a script no more, its text is sent once, not with
// each call.
func (e *Engine) sendMany(ctx context.Context, requests []request) []sent {
	answers := make([]sent, len(requests))
	if len(requests) == 0 {
		return answers
	}
	todo := indices(len(requests))
	if todo = e.pipeline(ctx, requests, todo, answers); len(todo) == 0 {
		return answers
	}
	taught := map[*script]bool{}
	var first, rest []int
	for _, i := range todo {
		if s := requests[i].script; !taught[s] {
			taught[s] = true
			requests[i].withText()
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	e.pipeline(ctx, requests, first, answers)
	if len(rest) == 0 {
		return answers
	}
	rest = e.pipeline(ctx, requests, rest, answers)
	for _, i := range rest { // at other nodes of a Cluster
		requests[i].withText()
	}
	if len(rest) > 0 {
		e.pipeline(ctx, requests, rest, answers)
	}
	return answers
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
