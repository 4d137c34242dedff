package bucket

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name by which Redis knows a script, not a protection
	_ "embed"
	"encoding/hex"

	"github.com/redis/go-redis/v9"
)

// format is the version of definitions and state that this package reads and writes.
const format = "1"

//go:embed arith.lua
var arithLua string

//go:embed state.lua
var stateLua string

//go:embed acquire.lua
var acquireLua string

//go:embed install.lua
var installLua string

//go:embed remove.lua
var removeLua string

//go:embed restart.lua
var restartLua string

//go:embed adopt.lua
var adoptLua string

// script is a Lua script as Redis gets it: the shared chunks, then its own file.
type script struct{ text, sha string }

var (
	acquireScript = newScript(acquireLua)
	installScript = newScript(installLua)
	removeScript  = newScript(removeLua)
	restartScript = newScript(restartLua)
	adoptScript   = newScript(adoptLua)
)

func newScript(body string) script {
	text := arithLua + "\n" + stateLua + "\n" + body
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// once is a command that go-redis does not send again by itself: a script whose answer was lost may have run. MOVED and
// ASK are still followed, for they say that it did not.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// run calls the script by its hash, and with its text if Redis does not know it yet (or not any more).
func (e *Engine) run(ctx context.Context, s script, keys []string, args ...any) (any, error) {
	reply, err := e.send(ctx, "evalsha", s.sha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return e.send(ctx, "eval", s.text, keys, args)
	}
	return reply, err
}

func (e *Engine) send(ctx context.Context, command, script string, keys []string, args []any) (any, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	all = append(all, args...)
	cmd := redis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	if err := e.rdb.Process(ctx, once{cmd}); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}
