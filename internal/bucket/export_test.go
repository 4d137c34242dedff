package bucket

import "context"

// What the black-box tests need to see of the inside.

// ArithLua and StateLua are the chunks with the arithmetic and with what it works on.
var (
	ArithLua = luaFile("arith")
	StateLua = luaFile("head") + luaFile("rules") + luaFile("token")
)

// StateKey is the key of a state of a bucket with one shard.
func (e *Engine) StateKey(name, partition, app, key string) string {
	return e.ShardStateKey(name, partition, 1, app, key)
}

// ShardStateKey is the key of a state of a bucket with so many shards.
func (e *Engine) ShardStateKey(name, partition string, shards int, app, key string) string {
	stem := stateStem(e.keys.shard(name, shards, shardOf(key, shards)), partition, app)
	if Keyed(partition) {
		return stem + key
	}
	return stem
}

// DefinitionKey is the key of a definition.
func (e *Engine) DefinitionKey(name string) string { return e.keys.definition(name) }

// DefinitionKeys are the keys of all copies of a definition, that of DefinitionKey last.
func (e *Engine) DefinitionKeys(name string, shards int) []string {
	return e.keys.definitions(name, shards)
}

// UsageKey is the key of a minute of usage.
func (e *Engine) UsageKey(name string, minute int64) string { return e.keys.usage(name, minute) }

// LimitedKey is the key of a minute of what was limited most.
func (e *Engine) LimitedKey(name string, minute int64) string { return e.keys.limited(name, minute) }

// UsedKey is the key of the index of a minute.
func (e *Engine) UsedKey(minute int64) string { return e.keys.used(minute) }

// IndexKey is the key of the index.
func (e *Engine) IndexKey() string { return e.keys.index() }

// RawAcquire runs the acquire script of an algorithm with arguments of any kind, past the checks in Go.
func (e *Engine) RawAcquire(ctx context.Context, algorithm string, keys []string, args ...any) (any, error) {
	return e.run(ctx, acquireScripts[algorithm], keys, args...)
}

// RawAcquireAll runs acquire_all for token buckets alone, or for all algorithms, with arguments of any kind, past the
// checks in Go.
func (e *Engine) RawAcquireAll(ctx context.Context, tokenOnly bool, keys []string, args ...any) (any, error) {
	set := 1<<4 - 1
	if tokenOnly {
		set = 1
	}
	return e.run(ctx, acquireAllScripts[set](), keys, args...)
}

// RawGiveBack runs give_back of an algorithm with arguments of any kind, past the checks in Go.
func (e *Engine) RawGiveBack(ctx context.Context, algorithm string, keys []string, args ...any) (any, error) {
	return e.run(ctx, giveBackScripts[algorithm], keys, args...)
}

// DecodeReply is the decoder of acquire's answers.
func DecodeReply(reply any, c *Call) (Reply, error) { return c.decode(reply) }

// ShapeOf is the shape that a caller with these facts believes in.
func ShapeOf(f *Facts) string { return f.shape() }

// ParseHead is the reader of heads.
func ParseHead(head string) (*Facts, error) { return parseHead(head) }

// FastField is what a definition's field "fast" must be.
func FastField(head string, apps []string) (string, bool) { return fastField(head, apps) }

// DecodeInstall is the decoder of install's, remove's and restart's answers.
func DecodeInstall(reply any) (InstallResult, error) { return decodeInstall(reply) }

// DecodeInstalled is the decoder of a definition's hash.
func DecodeInstalled(name string, hash map[string]string) Installed {
	return installedOf(name, hash)
}

// Scripts are the texts that Redis gets.
func Scripts() map[string]string {
	all := map[string]string{
		"acquire_all": acquireAllScripts[1<<4-1]().text, "acquire_all token_bucket": acquireAllScripts[1]().text, "lease": leaseScript.text,
		"remove": removeScript.text, "restart": restartScript.text, "adopt": adoptScript.text, "epoch": epochScript.text,
	}
	for algorithm, s := range acquireScripts {
		all["acquire "+algorithm] = s.text
		all["give_back "+algorithm] = giveBackScripts[algorithm].text
	}
	for algorithm, s := range installScripts {
		all["install "+algorithm] = s.text
	}
	return all
}

// MarkKey is the key of the mark at a slot.
func (e *Engine) MarkKey(slot int) string { return e.keys.mark(slot) }

// SlotOfKey is the slot that a key of ours falls in.
func SlotOfKey(key string) int { return slotOf(tagOf(key)) }
