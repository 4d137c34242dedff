package app

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/bucket"
)

// Headgate holds failed logins off with buckets of its own, which all servers share. They lie under a prefix of their
// own, "headgate:self", where no bucket of users can be, and are installed anew when they are found missing.
const (
	selfPrefix     = ":self"
	selfDeployment = "self"  // whoever installs them: they are the same for every deployment
	selfApp        = "admin" // whom the server asks as
	selfRevision   = 1       // raised whenever auth.AttemptLimits change
)

// Bounds on what a login may wait for Redis.
const (
	selfPatience = 100 * time.Millisecond // for one answer; a permit that is granted later stays taken
	selfPause    = time.Second            // after an answer that did not come, this server counts alone for as long
	selfLater    = 2 * time.Second        // for what no login waits for: the definitions, permits given back
)

// loginLimits is the auth.Limiter of a server. Redis decides, and beside it this process counts its own attempts: they
// are what holds while Redis gives no verdict (the buckets' failure policy local), so that the door is then neither open
// nor locked. It asks the engine and not the SDK's client, for it gives attempts back that did not fail.
type loginLimits struct {
	engine   *bucket.Engine
	alone    *auth.LocalLimiter
	log      *slog.Logger
	patience time.Duration // for one answer of Redis

	targets    [len(auth.AttemptLimits)]atomic.Pointer[bucket.Target]
	away       atomic.Int64 // Unix ns until when Redis is not asked
	isAlone    atomic.Bool  // as the log was told
	installing atomic.Bool
	life       context.Context
	end        context.CancelFunc
	work       struct {
		sync.Mutex
		sync.WaitGroup
		over bool
	}
}

var _ auth.Limiter = (*loginLimits)(nil)

// newLoginLimits makes the limiter and begins to install its buckets. engine is on the server's prefix with selfPrefix.
func newLoginLimits(engine *bucket.Engine, log *slog.Logger) (*loginLimits, error) {
	l := &loginLimits{engine: engine, alone: auth.NewLocalLimiter(time.Now), log: log, patience: selfPatience}
	for i, limit := range auth.AttemptLimits {
		t, err := engine.Target(limit.Name, selfApp, nil)
		if err != nil {
			return nil, err
		}
		l.targets[i].Store(t)
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.install()
	return l, nil
}

// Close ends what is under way; attempts that are still to be given back may stay taken.
func (l *loginLimits) Close() {
	l.end()
	l.work.Lock()
	l.work.over = true
	l.work.Unlock()
	l.work.Wait()
}

// Take implements auth.Limiter.
func (l *loginLimits) Take(ctx context.Context, user, address string) (giveBack func(), err error) {
	alone, err := l.alone.Take(ctx, user, address)
	if err != nil {
		return nil, err // more than this process allows is more than all may together
	}
	asked := l.ask(ctx, auth.AttemptKeys(user, address))
	if asked == nil {
		return alone, nil
	}
	var wait time.Duration
	var granted []bucket.Question
	for i := range asked {
		if asked[i].Reply.Results[0].Code == bucket.CodeGranted {
			granted = append(granted, backOf(&asked[i]))
		} else {
			wait = max(wait, asked[i].Reply.Results[0].RetryAfter, time.Millisecond)
		}
	}
	back := func() {
		alone()
		if len(granted) > 0 {
			l.background(selfLater, func(ctx context.Context) { _ = l.engine.Ask(ctx, granted...) })
		}
	}
	if wait > 0 {
		back()
		return nil, auth.HeldOff(wait)
	}
	return back, nil
}

// ask puts an attempt to all buckets in one trip. nil when Redis gave no verdict in time.
func (l *loginLimits) ask(ctx context.Context, keys [3]string) []bucket.Call {
	if time.Now().UnixNano() < l.away.Load() || ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience)
	defer cancel()
	answer := make(chan []bucket.Call, 1)
	go func() { answer <- l.learnAndAsk(ctx, keys) }() // go-redis may hold on for longer than the context
	select {
	case calls := <-answer:
		return l.judge(calls)
	case <-ctx.Done():
		l.pause(ctx.Err())
		return nil
	}
}

// learnAndAsk asks, and once more where the definitions were not known yet or have changed.
func (l *loginLimits) learnAndAsk(ctx context.Context, keys [3]string) []bucket.Call {
	calls, stale := l.askOnce(ctx, keys)
	if !stale {
		return calls
	}
	var granted []bucket.Question
	for i := range calls {
		if c := &calls[i]; c.Err == nil && c.Reply.Verdict == bucket.VerdictDecided && c.Reply.Results[0].Code == bucket.CodeGranted {
			granted = append(granted, backOf(c))
		}
	}
	if len(granted) > 0 {
		_ = l.engine.Ask(ctx, granted...)
	}
	calls, _ = l.askOnce(ctx, keys)
	return calls
}

// askOnce asks with what is known and learns what was not.
func (l *loginLimits) askOnce(ctx context.Context, keys [3]string) (calls []bucket.Call, stale bool) {
	calls = make([]bucket.Call, len(keys))
	questions := make([]bucket.Question, len(keys))
	for i := range calls {
		calls[i].Target = l.targets[i].Load()
		if calls[i].Target.Facts != nil {
			calls[i].Entries = []bucket.Entry{{Permits: 1, Count: 1, Key: keys[i]}}
		}
		questions[i] = &calls[i]
	}
	_ = l.engine.Ask(ctx, questions...) // each call has its own error
	for i := range calls {
		if calls[i].Err != nil || calls[i].Reply.Verdict != bucket.VerdictStale {
			continue
		}
		stale = true
		if t, err := l.engine.Target(auth.AttemptLimits[i].Name, selfApp, calls[i].Reply.Facts); err == nil {
			l.targets[i].Store(t)
		}
	}
	return calls, stale
}

// judge returns the calls if all were decided; else it does something about it.
func (l *loginLimits) judge(calls []bucket.Call) []bucket.Call {
	for i := range calls {
		switch c := &calls[i]; {
		case c.Err != nil:
			l.pause(c.Err)
			return nil
		case c.Reply.Verdict != bucket.VerdictDecided:
			l.install()
			return nil
		}
	}
	if l.isAlone.CompareAndSwap(true, false) {
		l.log.Info("failed logins are counted together with the other servers again")
	}
	return calls
}

// pause keeps the next logins from waiting for a Redis that has just not answered.
func (l *loginLimits) pause(cause error) {
	l.away.Store(time.Now().Add(selfPause).UnixNano())
	if l.isAlone.CompareAndSwap(false, true) {
		l.log.Warn("Redis gives no verdict on logins; this server counts failed ones alone until it does", "error", cause)
	}
}

// install brings the definitions to Redis in the background, once at a time.
func (l *loginLimits) install() {
	if !l.installing.CompareAndSwap(false, true) {
		return
	}
	l.background(selfLater, func(ctx context.Context) {
		defer l.installing.Store(false)
		for _, limit := range auth.AttemptLimits {
			if _, err := l.engine.Install(ctx, selfDefinition(limit), bucket.InstallOptions{Deployment: selfDeployment}); err != nil {
				l.pause(err)
				return
			}
		}
	})
}

// background runs work that no login waits for, unless the server ends.
func (l *loginLimits) background(within time.Duration, work func(context.Context)) {
	l.work.Lock()
	defer l.work.Unlock()
	if l.work.over {
		return
	}
	l.work.Go(func() {
		ctx, cancel := context.WithTimeout(l.life, within)
		defer cancel()
		work(ctx)
	})
}

// selfDefinition is a limit as a bucket. After a loss of data it starts full: else nobody could log in for a while.
func selfDefinition(limit auth.AttemptLimit) bucket.Definition {
	return bucket.Definition{
		Name: limit.Name, Revision: selfRevision, Apps: []string{selfApp}, Algorithm: bucket.TokenBucket, MaxPermits: limit.Most,
		Rate: 1, Period: limit.Every, Partition: bucket.PartitionKey, Shards: 1, Mode: bucket.ModeEnforce,
		OnFailure: bucket.FailLocal, AfterLoss: bucket.LossFull,
	}
}

// backOf gives back what a decided call took.
func backOf(c *bucket.Call) *bucket.GiveBack {
	return &bucket.GiveBack{
		Target: c.Target, Key: c.Entries[0].Key, Permits: 1, At: c.Reply.Now, RuleID: c.Reply.RuleID,
		ResetAfter: c.Reply.Results[0].ResetAfter, Mark: c.Reply.Results[0].Mark,
	}
}
