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

// Read returns what Redis has under each name, in the order of names, in one round trip.
func (e *Engine) Read(ctx context.Context, names ...string) ([]Installed, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	if len(names) == 0 {
		return nil, nil
	}
	pipe := e.rdb.Pipeline()
	hashes := make([]*redis.MapStringStringCmd, len(names))
	for i, name := range names {
		if !validName(name) {
			return nil, invalid("name", nameRule)
		}
		hashes[i] = pipe.HGetAll(ctx, e.keys.definition(name))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	found := make([]Installed, len(names))
	for i, name := range names {
		var err error
		if found[i], err = installedOf(name, hashes[i].Val()); err != nil {
			return nil, wrap(err, "read the definition of", name)
		}
	}
	return found, nil
}

// installedOf reads the hash that install.lua or remove.lua wrote.
func installedOf(name string, hash map[string]string) (Installed, error) {
	in := Installed{Present: len(hash) > 0, Definition: Definition{Name: name}}
	if !in.Present {
		return in, nil
	}
	if hash["fmt"] != format {
		in.UnknownFormat = true
		return in, nil
	}
	f := fields{hash: hash}
	in.Deployment = hash["dep"]
	in.Revision = f.int("rev")
	if in.Tombstone = hash["gone"] != ""; in.Tombstone {
		return in, f.err
	}
	d := &in.Definition
	d.Algorithm, d.Partition, d.Mode, d.OnFailure, d.AfterLoss = hash["alg"], hash["part"], hash["mode"], hash["fail"], hash["loss"]
	d.MaxPermits, d.Rate, d.Shards = f.int("max"), f.int("rate"), int(f.int("shards"))
	d.Period = time.Duration(f.int("period")) * time.Microsecond
	d.MaxWait = time.Duration(f.int("wait")) * time.Millisecond
	d.Apps = f.apps()
	in.Generation = f.int("gen")
	if born := f.int("born"); born != 0 {
		in.Born = time.UnixMicro(born).UTC()
	}
	return in, f.err
}

type fields struct {
	hash map[string]string
	err  error
}

func (f *fields) int(name string) int64 {
	n, err := strconv.ParseInt(f.hash[name], 10, 64)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("field %s is not a number: %q", name, f.hash[name])
	}
	return n
}

func (f *fields) apps() []string {
	apps := []string{}
	for field := range f.hash {
		if app, ok := strings.CutPrefix(field, "app:"); ok {
			apps = append(apps, app)
		}
	}
	sort.Strings(apps)
	return apps
}
