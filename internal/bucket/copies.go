package bucket

import (
	"context"
	"slices"
	"strconv"
)

// A definition with several shards stands once more beside the state of each; see keys.go. Copies are written before the
// definition itself and dropped before it, so that whoever is interrupted finds in the definition what is left to do.

// shardsOf is how many shards the definition in Redis has, 0 where there is none or just a tombstone, and its revision.
func (e *Engine) shardsOf(ctx context.Context, name string) (shards int, revision int64, err error) {
	fields, err := e.rdb.HMGet(ctx, e.keys.definition(name), "shards", "rev").Result()
	if err != nil {
		return 0, 0, err
	}
	if text, ok := fields[0].(string); ok {
		// What is no number is damage, which the next install mends.
		n, _ := strconv.Atoi(text)
		shards = min(max(n, 1), ShardsBound)
	}
	if text, ok := fields[1].(string); ok {
		revision, _ = strconv.ParseInt(text, 10, 64)
	}
	return shards, revision, nil
}

// dropCopies puts tombstones of a revision in place of the copies that a definition of `before` shards has and one of
// `now` has not.
func (e *Engine) dropCopies(ctx context.Context, name string, before, now int, revision int64, deployment string) error {
	kept := e.keys.definitions(name, now)
	var requests []request
	for _, key := range e.keys.definitions(name, before) {
		if !slices.Contains(kept, key) {
			r := newRequest(removeScript, 1, 2)
			r.args = append(r.args, key, deployment, revision)
			requests = append(requests, r)
		}
	}
	for _, s := range e.sendAll(ctx, requests) {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// tidy drops the copies of a definition that came too late, as far as what is there instead has none.
func (e *Engine) tidy(ctx context.Context, d Definition, deployment string) error {
	shards, revision, err := e.shardsOf(ctx, d.Name)
	if err != nil || revision <= d.Revision {
		return err
	}
	return e.dropCopies(ctx, d.Name, d.Shards, max(1, shards), revision, deployment)
}

// copiesOf are the keys of a definition and of all its copies, itself last. Where it was lost, copies may have survived
// on other nodes: those that stand are looked for.
func (e *Engine) copiesOf(ctx context.Context, name string) ([]string, error) {
	shards, revision, err := e.shardsOf(ctx, name)
	if err != nil || shards > 0 || revision > 0 {
		return e.keys.definitions(name, max(1, shards)), err
	}
	candidates := e.keys.definitions(name, ShardsBound)
	last := len(candidates) - 1
	hashes, err := e.readHashes(ctx, candidates[:last])
	if err != nil {
		return nil, err
	}
	var all []string
	for i, hash := range hashes {
		if len(hash) > 0 {
			all = append(all, candidates[i])
		}
	}
	return append(all, candidates[last]), nil
}
