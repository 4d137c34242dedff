package bucket

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bounds of what is told about the keys that are limited most.
const (
	LimitedKeysBound    = 20 // keys that one instance tells of in one minute of one bucket; further ones are left out
	LimitedMinutesBound = 60 // minutes that are kept, and that may be read at once
)

const limitedTTL = (LimitedMinutesBound + 5) * time.Minute

// LimitedKey says how much a key was limited.
type LimitedKey struct {
	Key     string
	Limited int64 // permits refused, or let pass by mode shadow only: never too low, too high by Excess at most
	Excess  int64
}

// LimitedKeys is what an instance tells of one minute of one bucket: the keys that were limited most.
type LimitedKeys struct {
	Bucket string
	Minute int64        // of Redis time since 1970
	Keys   []LimitedKey // the most limited first
}

// ReportLimited stores what an instance knows so far of some minutes, in one pipeline. A report replaces the instance's
// last one of that minute, so it may be sent again at will. It is kept for a little over an hour.
func (e *Engine) ReportLimited(ctx context.Context, instance string, reports []LimitedKeys) error {
	if len(reports) == 0 {
		return nil
	}
	if err := e.checkInstance(instance, nil); err != nil {
		return err
	}
	pipe := e.rdb.Pipeline()
	for _, r := range reports {
		if !validName(r.Bucket) {
			return invalid("bucket", nameRule)
		}
		text, err := writeLimited(r.Keys)
		if err != nil {
			return err
		}
		key := e.keys.limited(r.Bucket, r.Minute)
		pipe.HSet(ctx, key, instance, text)
		pipe.PExpire(ctx, key, limitedTTL)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("report limited keys: %w", err)
	}
	return nil
}

// ReadLimited sums what all instances told of a bucket from minute from to minute to, both included, the most limited
// key first; equal ones by key. What has another form than ReportLimited writes is passed over: any application may write
// some, and must not hide what the others told. At most LimitedMinutesBound minutes may be asked for.
func (e *Engine) ReadLimited(ctx context.Context, name string, from, to int64) ([]LimitedKey, error) {
	switch {
	case e.broken != nil:
		return nil, e.broken
	case !validName(name):
		return nil, invalid("name", nameRule)
	case to < from:
		return nil, nil
	case to-from >= LimitedMinutesBound:
		return nil, invalid("minutes", "must be at most %d", LimitedMinutesBound)
	}
	pipe := e.rdb.Pipeline()
	minutes := make([]*redis.StringSliceCmd, 0, to-from+1)
	for m := from; m <= to; m++ {
		minutes = append(minutes, pipe.HVals(ctx, e.keys.limited(name, m)))
	}
	_, _ = pipe.Exec(ctx) // each has its error
	sums := map[string]LimitedKey{}
	for _, cmd := range minutes {
		if err := cmd.Err(); err != nil && !wrongType(err) {
			return nil, wrap(err, "read the limited keys of", name)
		}
		for _, text := range cmd.Val() {
			if one := map[string]LimitedKey{}; addLimited(one, text) == nil {
				for key, k := range one {
					sum := sums[key]
					sums[key] = LimitedKey{Key: key, Limited: sum.Limited + k.Limited, Excess: sum.Excess + k.Excess}
				}
			}
		}
	}
	return mostLimited(sums), nil
}

func mostLimited(sums map[string]LimitedKey) []LimitedKey {
	all := make([]LimitedKey, 0, len(sums))
	for _, one := range sums {
		all = append(all, one)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Limited != all[j].Limited {
			return all[i].Limited > all[j].Limited
		}
		return all[i].Key < all[j].Key
	})
	return all
}

// writeLimited encodes keys as LIMITED ":" EXCESS ":" LENGTH ":" KEY, one after the other: numbers in decimal, the length
// in bytes, and so the key may hold any.
func writeLimited(keys []LimitedKey) (string, error) {
	var b strings.Builder
	for _, k := range keys[:min(len(keys), LimitedKeysBound)] {
		if len(k.Key) < 1 || len(k.Key) > KeyBound || k.Limited < 0 || k.Excess < 0 {
			return "", invalid("keys", "each must be 1..%d bytes, with counts of at least 0", KeyBound)
		}
		_, _ = fmt.Fprintf(&b, "%d:%d:%d:%s", k.Limited, k.Excess, len(k.Key), k.Key)
	}
	return b.String(), nil
}

var errLimited = errors.New("what an instance told of limited keys has an unknown form")

// addLimited adds the keys of one instance's text to sums.
func addLimited(sums map[string]LimitedKey, text string) error {
	for text != "" {
		var numbers [3]int64
		for i := range numbers {
			digits, rest, found := strings.Cut(text, ":")
			n, err := strconv.ParseUint(digits, 10, 50)
			if !found || err != nil {
				return errLimited
			}
			numbers[i], text = int64(n), rest //nolint:gosec // of at most 50 bits
		}
		length := numbers[2]
		if length < 1 || length > KeyBound || length > int64(len(text)) {
			return errLimited
		}
		key := text[:length]
		text = text[length:]
		sum := sums[key]
		sums[key] = LimitedKey{Key: key, Limited: sum.Limited + numbers[0], Excess: sum.Excess + numbers[1]}
	}
	return nil
}
