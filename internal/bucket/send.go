package bucket

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// once is a command that go-redis does not send again by itself: a script whose answer was lost may have run. MOVED and
// ASK are still followed, for they say that it did not.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// request is one script call. args holds what go-redis sends: "evalsha", the sha, the number of keys, keys, arguments.
type request struct {
	script *script
	args   []any
}

const firstKey = 3 // in request.args

// evalsha is in a box already, which spares every call an allocation; so are other arguments that don't change.
var evalsha any = "evalsha"

func newRequest(s *script, keys, args int) request {
	all := make([]any, firstKey, firstKey+keys+args)
	all[0], all[1], all[2] = evalsha, s.boxedSHA, number(int64(keys))
	return request{script: s, args: all}
}

func (r *request) command(ctx context.Context) *redis.Cmd {
	cmd := redis.NewCmd(ctx, r.args...)
	cmd.SetFirstKeyPos(firstKey)
	return cmd
}

// withText makes it send the text of the script instead of its hash.
func (r *request) withText() {
	r.args[0], r.args[1] = "eval", r.script.text
}

// run calls one script by its hash, and with its text if Redis does not know it yet (or not any more).
func (e *Engine) run(ctx context.Context, s *script, keys []string, args ...any) (any, error) {
	r := newRequest(s, len(keys), len(args))
	for _, key := range keys {
		r.args = append(r.args, key)
	}
	r.args = append(r.args, args...)
	return e.send(ctx, r)
}

func (e *Engine) send(ctx context.Context, r request) (any, error) {
	cmd := r.command(ctx)
	err := e.rdb.Process(ctx, once{cmd})
	if err == nil {
		return cmd.Val(), nil
	}
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		r.withText()
		cmd = r.command(ctx)
		if err = e.rdb.Process(ctx, once{cmd}); err == nil {
			return cmd.Val(), nil
		}
	}
	return nil, err
}

// sent is the answer to one request of several.
type sent struct {
	value any
	err   error
}

// sendAll calls several scripts in one round trip (on Cluster, one for each node that has to do with them), and those
// that Redis did not know once more with their texts.
func (e *Engine) sendAll(ctx context.Context, requests []request) []sent {
	answers := make([]sent, len(requests))
	todo := make([]int, len(requests))
	for i := range requests {
		todo[i] = i
	}
	unknown := e.pipeline(ctx, requests, todo, answers)
	if len(unknown) > 0 {
		for _, i := range unknown {
			requests[i].withText()
		}
		e.pipeline(ctx, requests, unknown, answers)
	}
	return answers
}

// pipeline sends the requests of todo, enters their answers, and returns those whose script Redis does not know.
func (e *Engine) pipeline(ctx context.Context, requests []request, todo []int, answers []sent) (unknown []int) {
	pipe := e.rdb.Pipeline()
	cmds := make([]*redis.Cmd, len(todo))
	for n, i := range todo {
		cmds[n] = requests[i].command(ctx)
		_ = pipe.Process(ctx, once{cmds[n]}) // queues; each command has its own error
	}
	_, _ = pipe.Exec(ctx)
	for n, i := range todo {
		err := cmds[n].Err()
		if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
			unknown = append(unknown, i)
		}
		answers[i] = sent{cmds[n].Val(), err}
	}
	return unknown
}
