package bucket_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/internal/bucket"
)

// The document is written for clients in other languages; these tests are the first of them. They know of the protocol
// only what the document says.

// protocolPage is docs/redis-protocol.md.
func protocolPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "redis-protocol.md"))
	check(t, err)
	return string(page)
}

// section is the part of the page under a heading, up to the next heading of the same or a higher level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no heading %q", heading)
	}
	level := strings.Count(strings.Fields(heading)[0], "#")
	if end := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(level) + `} `).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// rows are the cells of the tables in a part of the page, without the heads of the tables.
func rows(part string) [][]string {
	var all [][]string
	lines := strings.Split(part, "\n")
	for i, line := range lines {
		isHead := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if !strings.HasPrefix(line, "| ") || isHead {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, cells)
	}
	return all
}

var backticked = regexp.MustCompile("`([^`]*)`")

// quoted is what stands in backticks in a cell.
func quoted(cell string) []string {
	var all []string
	for _, m := range backticked.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// documentedScripts are the scripts as the page says that they are put together, by the names that it gives them.
func documentedScripts(t *testing.T, page string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, row := range rows(section(t, page, "### How a script is put together")) {
		if len(row) != 4 {
			t.Fatalf("a script must have four cells: %q", row)
		}
		var parts []string
		chunk := func(name string) {
			text, err := os.ReadFile(name + ".lua")
			check(t, err)
			parts = append(parts, string(text))
		}
		for _, name := range strings.Fields(strings.Join(quoted(row[1]), " ")) {
			chunk(name)
		}
		parts = append(parts, quoted(row[2])...)
		chunk(quoted(row[3])[0])
		all[quoted(row[0])[0]] = strings.Join(parts, "\n")
	}
	return all
}

func TestPageSaysHowScriptsArePutTogether(t *testing.T) {
	documented := documentedScripts(t, protocolPage(t))
	for name, text := range bucket.Scripts() {
		name = strings.ReplaceAll(name, " ", ".")
		if documented[name] != text {
			t.Errorf("the page puts %s together in another way than the engine", name)
		}
		delete(documented, name)
	}
	// The texts of the others are not exported, but Redis knows those that it was sent.
	e := realEnv(t)
	_, err := e.Beat(t.Context(), bucket.Instance{ID: "c1", App: "shop"}, []string{"partner-api"})
	check(t, err)
	_, err = e.Instances(t.Context())
	check(t, err)
	for name, text := range documented {
		if !e.rdb.ScriptExists(t.Context(), redis.NewScript(text).Hash()).Val()[0] {
			t.Errorf("the page has %s, which the engine does not send", name)
		}
	}
	if len(documented) != 3 {
		t.Errorf("the page has %d scripts for heartbeats, want 3", len(documented))
	}
}

func TestPageNamesTheWordsOfAHead(t *testing.T) {
	chunk, err := os.ReadFile("head.lua")
	check(t, err)
	want := strings.Fields(regexp.MustCompile(`(?m)^--\s+(FORMAT REV .*)$`).FindStringSubmatch(string(chunk))[1])
	var got []string
	for i, row := range rows(section(t, protocolPage(t), "### Head")) {
		if row[0] != strconv.Itoa(i) {
			t.Errorf("word %d is numbered %s", i, row[0])
		}
		got = append(got, quoted(row[1])[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the words %v, head.lua %v", got, want)
	}
}

// example is a command of the page with its reply.
type example struct{ command, reply string }

func examples(page string) []example {
	var all []example
	for _, block := range regexp.MustCompile("(?s)```redis\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for _, one := range strings.Split("\n"+block[1], "\n> ")[1:] {
			command, reply, _ := strings.Cut(one, "\n")
			all = append(all, example{command, strings.TrimSpace(reply)})
		}
	}
	return all
}

// reader carries out the page: it knows the scripts, and what each <name> of a reply stood for last.
type reader struct {
	rdb    *redis.Client
	prefix string
	stands map[string]string
}

func newReader(t *testing.T, page string) *reader {
	t.Helper()
	e := realEnv(t)
	options := *e.rdb.Options()
	options.Protocol = 2 // as redis-cli -2
	r := &reader{rdb: redis.NewClient(&options), stands: map[string]string{}}
	t.Cleanup(func() { _ = r.rdb.Close() })
	r.prefix, _, _ = strings.Cut(e.IndexKey(), ":")
	for name, text := range documentedScripts(t, page) {
		sha, err := r.rdb.ScriptLoad(t.Context(), text).Result()
		check(t, err)
		r.stands[name] = sha
	}
	return r
}

var (
	argument    = regexp.MustCompile(`'[^']*'|\S+`)
	placeholder = regexp.MustCompile(`<([a-z][a-z0-9_.]*)(?: (\d+)\.\.(\d+))?>`)
)

// run sends a command of the page and returns the reply as redis-cli -2 --json prints it.
func (r *reader) run(t *testing.T, command string) string {
	t.Helper()
	command = placeholder.ReplaceAllStringFunc(command, func(name string) string {
		value, known := r.stands[strings.Trim(name, "<>")]
		if !known {
			t.Fatalf("%s: %s stands for nothing yet", command, name)
		}
		return value
	})
	var args []any
	for _, arg := range argument.FindAllString(command, -1) {
		arg = strings.Trim(arg, "'")
		if rest, ours := strings.CutPrefix(arg, "headgate:"); ours {
			arg = r.prefix + ":" + rest
		}
		args = append(args, arg)
	}
	value, err := r.rdb.Do(t.Context(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Sprintf("error:%q", err.Error())
	}
	var out bytes.Buffer
	printer := json.NewEncoder(&out)
	printer.SetEscapeHTML(false)
	check(t, printer.Encode(value))
	return strings.TrimSpace(out.String())
}

// compare tells how a reply differs from the one on the page, "" = not, and notes what the names stand for.
func (r *reader) compare(want, got string) string {
	pattern, at := "^", 0
	names := map[string]string{}
	var found [][]string
	for _, span := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern += regexp.QuoteMeta(want[at:span[0]]) + `([^",\[\]]+?)`
		found = append(found, placeholder.FindStringSubmatch(want[span[0]:span[1]]))
		at = span[1]
	}
	rest := regexp.QuoteMeta(want[at:])
	if before, isCut := strings.CutSuffix(rest, "…"); isCut {
		rest = before + ".*"
	}
	values := regexp.MustCompile(pattern + rest + "$").FindStringSubmatch(got)
	if values == nil {
		return "another form"
	}
	for i, one := range found {
		name, value := one[1], values[i+1]
		if before, twice := names[name]; twice && before != value {
			return fmt.Sprintf("<%s> stands for %s and for %s", name, before, value)
		}
		names[name] = value
		if one[2] == "" {
			continue
		}
		least, _ := strconv.ParseInt(one[2], 10, 64)
		most, _ := strconv.ParseInt(one[3], 10, 64)
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < least || n > most {
			return fmt.Sprintf("<%s> is %s, not %d..%d", name, value, least, most)
		}
	}
	for name, value := range names {
		r.stands[name] = value
	}
	return ""
}

func TestExamplesOfThePageAreTrue(t *testing.T) {
	page := protocolPage(t)
	r := newReader(t, page)
	all := examples(page)
	if len(all) < 50 {
		t.Fatalf("found %d examples only", len(all))
	}
	used := ""
	for _, one := range all {
		used += one.command
		got := r.run(t, one.command)
		if differs := r.compare(one.reply, got); differs != "" {
			t.Errorf("> %s\npage:  %s\nredis: %s\n%s", one.command, one.reply, got, differs)
		}
	}
	for name := range documentedScripts(t, page) {
		if !strings.Contains(used, "<"+name+">") {
			t.Errorf("there is no example for %s", name)
		}
	}
	r.compareKeys(t, page)
	r.compareFields(t, page)
}

// compareKeys compares the keys that the examples made, and whether they end, with the page's table of keys.
func (r *reader) compareKeys(t *testing.T, page string) {
	t.Helper()
	words := strings.NewReplacer("NAME", "[a-z-]+", "APP", "[a-z]+", "KEY", ".+", "MINUTE", "[0-9]+", "TAG", "[0-9]+", "SS", "[0-9]{2}", "{", `\{`, "}", `\}`)
	kinds, stay := map[string]*regexp.Regexp{}, map[string]bool{}
	for _, row := range rows(section(t, page, "## Keys")) {
		kind := strings.TrimPrefix(quoted(row[0])[0], "P:")
		kinds[kind] = regexp.MustCompile("^" + words.Replace(kind) + "$")
		stay[kind] = row[3] == "never"
	}
	keys, err := r.rdb.Keys(t.Context(), r.prefix+":*").Result()
	check(t, err)
	seen := map[string]bool{}
	for _, key := range keys {
		ttl := r.rdb.TTL(t.Context(), key).Val()
		key = strings.TrimPrefix(key, r.prefix+":")
		known := false
		for kind, pattern := range kinds {
			if pattern.MatchString(key) {
				known, seen[kind] = true, true
				if isState := strings.Contains(kind, ":s"); stay[kind] && ttl > 0 || isState && ttl <= 0 {
					t.Errorf("key %s ends in %s, which is not what the table of keys says", key, ttl)
				}
			}
		}
		if !known {
			t.Errorf("key %s is in no row of the table of keys", key)
		}
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no example makes a key P:%s", kind)
		}
	}
}

// compareFields compares the fields of the definitions that the examples left with the page's table of fields.
func (r *reader) compareFields(t *testing.T, page string) {
	t.Helper()
	part, _, _ := strings.Cut(section(t, page, "## The definition"), "\n### ")
	documented := map[string]bool{}
	for _, row := range rows(part) {
		for _, field := range quoted(row[0]) {
			documented[field] = false
		}
	}
	definitions, err := r.rdb.Keys(t.Context(), r.prefix+":{*}").Result()
	check(t, err)
	for _, key := range definitions {
		fields, err := r.rdb.HKeys(t.Context(), key).Result()
		check(t, err)
		for _, field := range fields {
			if strings.HasPrefix(field, "app:") {
				field = "app:APP"
			}
			if _, known := documented[field]; !known {
				t.Errorf("field %s of %s is in no row of the table of fields", field, key)
			}
			documented[field] = true
		}
	}
	for field, seen := range documented {
		if !seen {
			t.Errorf("no definition has the field %s", field)
		}
	}
}
