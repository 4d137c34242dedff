package bucket

import "context"

// What the black-box tests need to see of the inside.

// ArithLua and StateLua are the chunks that all scripts share.
var (
	ArithLua = arithLua
	StateLua = stateLua
)

// StateKey, DefinitionKey and UsageKey form keys.
func (e *Engine) StateKey(name, partition, app, key string) string {
	return e.keys.state(name, partition, app, key)
}

// DefinitionKey is the key of a definition.
func (e *Engine) DefinitionKey(name string) string { return e.keys.definition(name) }

// UsageKey is the key of a minute of usage.
func (e *Engine) UsageKey(name string, minute int64) string { return e.keys.usage(name, minute) }

// IndexKey is the key of the index.
func (e *Engine) IndexKey() string { return e.keys.index() }

// RawAcquire runs the script with arguments of any kind, past the checks in Go.
func (e *Engine) RawAcquire(ctx context.Context, keys []string, args ...any) (any, error) {
	return e.run(ctx, acquireScript, keys, args...)
}

// DecodeReply is the decoder of acquire's answers.
func DecodeReply(reply any, entries int) (Reply, error) { return decodeReply(reply, entries) }

// DecodeInstall is the decoder of install's, remove's and restart's answers.
func DecodeInstall(reply any) (InstallResult, error) { return decodeInstall(reply) }

// DecodeInstalled is the decoder of a definition's hash.
func DecodeInstalled(name string, hash map[string]string) (Installed, error) {
	return installedOf(name, hash)
}

// Scripts are the texts that Redis gets.
func Scripts() map[string]string {
	return map[string]string{
		"acquire": acquireScript.text, "install": installScript.text, "remove": removeScript.text,
		"restart": restartScript.text, "adopt": adoptScript.text,
	}
}
