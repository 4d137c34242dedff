package bucket

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Read returns what Redis has under each name, in the order of names, in one round trip, and a second one where buckets
// have shards.
func (e *Engine) Read(ctx context.Context, names ...string) ([]Installed, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	if len(names) == 0 {
		return nil, nil
	}
	definitions := make([]string, len(names))
	for i, name := range names {
		if !validName(name) {
			return nil, invalid("name", nameRule)
		}
		definitions[i] = e.keys.definition(name)
	}
	hashes, err := e.readHashes(ctx, definitions)
	if err != nil {
		return nil, err
	}
	found := make([]Installed, len(names))
	for i, name := range names {
		found[i] = installedOf(name, hashes[i])
	}
	return found, e.readShards(ctx, found)
}

// ReadReadable is Read, in which a key that is no definition at all costs the others nothing: it is told as absent. The list
// is halved until such a key stands alone.
func (e *Engine) ReadReadable(ctx context.Context, names ...string) ([]Installed, error) {
	found, err := e.Read(ctx, names...)
	switch {
	case !wrongType(err):
		return found, err
	case len(names) == 1:
		return []Installed{{}}, nil
	}
	first, err := e.ReadReadable(ctx, names[:len(names)/2]...)
	if err != nil {
		return nil, err
	}
	second, err := e.ReadReadable(ctx, names[len(names)/2:]...)
	return append(first, second...), err
}

func (e *Engine) readHashes(ctx context.Context, keys []string) ([]map[string]string, error) {
	pipe := e.rdb.Pipeline()
	cmds := make([]*redis.MapStringStringCmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.HGetAll(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	hashes := make([]map[string]string, len(keys))
	for i, cmd := range cmds {
		hashes[i] = cmd.Val()
	}
	return hashes, nil
}

// readShards counts the missing copies of a definition's shards, and marks it as damaged when one is another.
func (e *Engine) readShards(ctx context.Context, found []Installed) error {
	var copies []string
	var owner []int
	for i := range found {
		if found[i].Shards > 1 {
			for shard := range found[i].Shards {
				copies, owner = append(copies, e.keys.shard(found[i].Name, found[i].Shards, shard)), append(owner, i)
			}
		}
	}
	if len(copies) == 0 {
		return nil
	}
	hashes, err := e.readHashes(ctx, copies)
	if err != nil {
		return err
	}
	for n, hash := range hashes {
		whole := &found[owner[n]]
		shard := installedOf(whole.Name, hash)
		if !shard.Present {
			whole.Missing++
			continue
		}
		if shard.Unreadable || shard.Damaged || shard.Deployment != whole.Deployment || !reflect.DeepEqual(shard.Definition, whole.Definition) {
			whole.Damaged = true
		}
	}
	return nil
}

// installedOf reads the hash that install.lua or remove.lua wrote.
func installedOf(name string, hash map[string]string) Installed {
	in := Installed{Present: len(hash) > 0, Definition: Definition{Name: name}}
	if !in.Present {
		return in
	}
	if was, known := hash["fmt"]; was != format {
		in.UnknownFormat, in.Unreadable = known, !known
		return in
	}
	f := fields{hash: hash}
	in.Deployment = hash["dep"]
	if in.Revision = f.int("rev"); in.Revision < 1 || in.Revision > revisionMax {
		f.bad, in.Revision = true, 0
	}
	if in.Tombstone = hash["gone"] != ""; in.Tombstone {
		in.Damaged = hash["head"] != format+" gone "+hash["rev"]
	} else {
		in.readDefinition(&f)
	}
	if f.bad || in.Deployment == "" {
		known := Definition{Name: name, Revision: in.Revision}
		return Installed{Present: true, Unreadable: true, Deployment: in.Deployment, Definition: known}
	}
	return in
}

func (in *Installed) readDefinition(f *fields) {
	hash, d := f.hash, &in.Definition
	d.Algorithm, d.Partition, d.Mode, d.OnFailure, d.AfterLoss = hash["alg"], hash["part"], hash["mode"], hash["fail"], hash["loss"]
	d.MaxPermits, d.Rate, d.Shards = f.int("max"), f.int("rate"), int(f.int("shards"))
	d.Period = time.Duration(f.int("period")) * time.Microsecond
	d.MaxWait = time.Duration(f.int("wait")) * time.Millisecond
	d.Apps = f.apps()
	in.readHead(hash["head"], hash["fast"], hash["hist"])
}

// readHead compares what the scripts act on with what the other fields tell.
func (in *Installed) readHead(head, fast, history string) {
	facts, err := parseHead(head)
	if err != nil {
		in.Damaged = true
		return
	}
	in.Generation = facts.Generation
	words := strings.Split(head, " ")
	if born, err := strconv.ParseInt(words[7], 10, 64); err == nil && born != 0 {
		in.Born = time.UnixMicro(born).UTC()
	}
	told := in.Facts()
	told.Generation = facts.Generation
	packed, _ := fastField(head, in.Apps)
	in.Damaged = *told != *facts || fast != "" && fast != packed || words[15] != strconv.Itoa(olderRules(history))
}

var olderRule = regexp.MustCompile(`^\d+,\d+,\d+,\d+,\d+$`)

// olderRules is how many rules a history keeps; -1 when one of them can't be read.
func olderRules(history string) int {
	if history == "" {
		return 0
	}
	rules := strings.Split(history, ";")
	for _, rule := range rules {
		if !olderRule.MatchString(rule) {
			return -1
		}
	}
	return len(rules)
}

type fields struct {
	hash map[string]string
	bad  bool // one that was asked for is no number
}

func (f *fields) int(name string) int64 {
	n, err := strconv.ParseInt(f.hash[name], 10, 64)
	if err != nil {
		f.bad, n = true, 0
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
