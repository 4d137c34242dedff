package bucket

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Usage is what one app used of one bucket in one minute, or an amount to be added to it.
type Usage struct {
	Bucket, App   string
	Minute        int64 // whole minutes of Redis time since 1970
	Granted       int64 // permits granted
	Limited       int64 // permits refused
	ShadowLimited int64 // permits that mode shadow let pass although they were limited
}

const usageTTL = 48 * time.Hour

// MinutesBound is the most minutes that one ReadUsage returns.
const MinutesBound = 48 * 60

// ReportUsage adds the amounts to their minutes, in one pipeline, and keeps each minute for 48 hours after its last
// report. Amounts of 0 cost nothing. The pipeline is sent once, since a second time would count twice; after an error
// some may have been added. It begins with the index that UsedNames reads, whose failure alone is no error.
func (e *Engine) ReportUsage(ctx context.Context, usage []Usage) error {
	if e.broken != nil {
		return e.broken
	}
	var amounts []redis.Cmder
	used, keys := map[int64][]any{}, []string{}
	for _, u := range usage {
		if !validName(u.Bucket) || !validName(u.App) {
			return invalid("usage", "bucket and app "+nameRule)
		}
		key := e.keys.usage(u.Bucket, u.Minute)
		touched := false
		for kind, amount := range map[string]int64{"g": u.Granted, "l": u.Limited, "s": u.ShadowLimited} {
			if amount > 0 {
				amounts = append(amounts, once{redis.NewCmd(ctx, "hincrby", key, kind+":"+u.App, amount)})
				touched = true
			}
		}
		if touched {
			keys = append(keys, key)
			used[u.Minute] = append(used[u.Minute], u.Bucket)
		}
	}
	if len(amounts) == 0 {
		return nil
	}
	pipe := e.rdb.Pipeline()
	e.indexUsed(ctx, pipe, used)
	_ = pipe.BatchProcess(ctx, amounts...) // queues; each has its error after Exec
	for _, key := range keys {
		pipe.Expire(ctx, key, usageTTL)
	}
	_, _ = pipe.Exec(ctx)
	for _, amount := range amounts {
		if err := amount.Err(); err != nil {
			return fmt.Errorf("report usage: %w", err)
		}
	}
	return nil
}

// ReadUsage returns the usage of a bucket from minute from to minute to, both included, ordered by minute and app.
// Minutes without usage have no rows, and neither have keys that hold something else. At most MinutesBound minutes may be
// asked for.
func (e *Engine) ReadUsage(ctx context.Context, name string, from, to int64) ([]Usage, error) {
	if !validName(name) {
		return nil, invalid("name", nameRule)
	}
	if err := e.checkMinutes(from, to); err != nil || to < from {
		return nil, err
	}
	pipe := e.rdb.Pipeline()
	minutes := make([]*redis.MapStringStringCmd, 0, to-from+1)
	for m := from; m <= to; m++ {
		minutes = append(minutes, pipe.HGetAll(ctx, e.keys.usage(name, m)))
	}
	_, _ = pipe.Exec(ctx) // each has its error
	var all []Usage
	for i, cmd := range minutes {
		if err := cmd.Err(); err != nil && !wrongType(err) {
			return nil, wrap(err, "read the usage of", name)
		}
		all = append(all, usageOf(name, from+int64(i), cmd.Val())...)
	}
	return all, nil
}

// usageOf gathers the fields "g:APP", "l:APP" and "s:APP" of one minute into a row per app. Any application may add fields
// of its own making; what is no usage is passed over, so that one of them can't hide everybody else's.
func usageOf(name string, minute int64, fields map[string]string) []Usage {
	byApp := map[string]*Usage{}
	for field, value := range fields {
		amount, err := strconv.ParseInt(value, 10, 64)
		kind, app, _ := strings.Cut(field, ":")
		if err != nil || amount < 0 || !validName(app) || kind != "g" && kind != "l" && kind != "s" {
			continue
		}
		u := byApp[app]
		if u == nil {
			u = &Usage{Bucket: name, App: app, Minute: minute}
			byApp[app] = u
		}
		switch kind {
		case "g":
			u.Granted = amount
		case "l":
			u.Limited = amount
		case "s":
			u.ShadowLimited = amount
		}
	}
	rows := make([]Usage, 0, len(byApp))
	for _, u := range byApp {
		rows = append(rows, *u)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].App < rows[j].App })
	return rows
}
