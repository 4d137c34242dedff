package bucket

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// usagePipe is how many minutes of buckets ReadUsages asks for in one round trip.
const usagePipe = 4000

// checkMinutes refuses a span of more than MinutesBound minutes.
func (e *Engine) checkMinutes(from, to int64) error {
	switch {
	case e.broken != nil:
		return e.broken
	case to-from >= MinutesBound:
		return invalid("minutes", "must be at most %d", MinutesBound)
	}
	return nil
}

// ReadUsages returns the usage of several buckets from minute from to minute to, both included, by bucket in the order
// of names, minute and app, as ReadUsage does for one. It takes a round trip for every few thousand minutes of buckets.
// Keys at the places of usage that hold something else are passed over, and named in strange. At most MinutesBound
// minutes may be asked for.
func (e *Engine) ReadUsages(ctx context.Context, names []string, from, to int64) (usage []Usage, strange []string, err error) {
	if err := e.checkMinutes(from, to); err != nil || to < from {
		return nil, nil, err
	}
	usage, err = inPipes(names, from, to, func(part []string) ([]Usage, error) {
		rows, keys, err := e.readUsages(ctx, part, from, to)
		strange = append(strange, keys...)
		return rows, err
	})
	return usage, strange, err
}

// wrongType tells whether Redis refused to read a key since it holds another kind of value. Whoever may write keys can
// put one anywhere, and one must not hide what all others hold.
func wrongType(err error) bool { return err != nil && redis.HasErrorPrefix(err, "WRONGTYPE") }

// inPipes reads so many buckets at a time as one round trip is to ask for.
func inPipes(names []string, from, to int64, read func(part []string) ([]Usage, error)) ([]Usage, error) {
	var all []Usage
	for part := range slices.Chunk(names, max(1, usagePipe/int(to-from+1))) {
		rows, err := read(part)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (e *Engine) readUsages(ctx context.Context, names []string, from, to int64) (all []Usage, strange []string, err error) {
	pipe := e.rdb.Pipeline()
	cmds := make([]*redis.MapStringStringCmd, 0, len(names)*int(to-from+1))
	for _, name := range names {
		if !validName(name) {
			return nil, nil, invalid("name", nameRule)
		}
		for minute := from; minute <= to; minute++ {
			cmds = append(cmds, pipe.HGetAll(ctx, e.keys.usage(name, minute)))
		}
	}
	if len(cmds) == 0 {
		return nil, nil, nil
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	minutes := int(to - from + 1)
	for i, cmd := range cmds {
		name, minute := names[i/minutes], from+int64(i%minutes)
		switch err := cmd.Err(); {
		case wrongType(err):
			strange = append(strange, e.keys.usage(name, minute))
		case err != nil:
			return nil, nil, fmt.Errorf("read the usage of %d buckets: %w", len(names), err)
		case len(cmd.Val()) > 0:
			all = append(all, usageOf(name, minute, cmd.Val())...)
		}
	}
	return all, strange, nil
}

// ReadAppUsages is ReadUsages for what one app used alone: it has Redis send three fields a minute and bucket, however many
// apps use the bucket. Minutes in which the app used nothing have no rows, and neither have keys that hold something else.
func (e *Engine) ReadAppUsages(ctx context.Context, app string, names []string, from, to int64) ([]Usage, error) {
	if !validName(app) {
		return nil, invalid("app", nameRule)
	}
	if err := e.checkMinutes(from, to); err != nil || to < from {
		return nil, err
	}
	return inPipes(names, from, to, func(part []string) ([]Usage, error) { return e.readAppUsages(ctx, app, part, from, to) })
}

func (e *Engine) readAppUsages(ctx context.Context, app string, names []string, from, to int64) ([]Usage, error) {
	pipe := e.rdb.Pipeline()
	cmds := make([]*redis.SliceCmd, 0, len(names)*int(to-from+1))
	granted, limited, shadowLimited := "g:"+app, "l:"+app, "s:"+app
	for _, name := range names {
		if !validName(name) {
			return nil, invalid("name", nameRule)
		}
		for minute := from; minute <= to; minute++ {
			cmds = append(cmds, pipe.HMGet(ctx, e.keys.usage(name, minute), granted, limited, shadowLimited))
		}
	}
	_, _ = pipe.Exec(ctx) // each has its error
	var all []Usage
	minutes := int(to - from + 1)
	for i, cmd := range cmds {
		if err := cmd.Err(); wrongType(err) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read what an app used of %d buckets: %w", len(names), err)
		}
		v := cmd.Val()
		u := Usage{Bucket: names[i/minutes], App: app, Minute: from + int64(i%minutes), Granted: amount(v[0]), Limited: amount(v[1]), ShadowLimited: amount(v[2])}
		if u.Granted > 0 || u.Limited > 0 || u.ShadowLimited > 0 {
			all = append(all, u)
		}
	}
	return all, nil
}

// amount reads a field of usage; what is none counts as 0, as in usageOf.
func amount(field any) int64 {
	text, _ := field.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
