package bucket

import (
	"crypto/sha1" //nolint:gosec // the name by which Redis knows a script, not a protection
	"embed"
	"encoding/hex"
	"strings"
	"sync"
)

// format is the version of definitions and state that this package reads and writes (FORMAT in head.lua).
const format = "2"

//go:embed *.lua
var luaFiles embed.FS

// script is a Lua script as Redis gets it: the shared chunks that it needs, then its own file.
type script struct {
	text, sha string
	boxedSHA  any // sha as an argument
}

// Every algorithm has a chunk that makes a table of the same functions.
const (
	common         = "arith head rules"
	theAlgorithm   = "local algorithm = "
	someAlgorithms = "local algorithms = "
)

var (
	// acquireScripts are one for each algorithm that Acquire decides, so that a call carries no other's chunk.
	acquireScripts = map[string]*script{
		TokenBucket:   compose("token_fast "+common+" token", theAlgorithm+"token", "acquire"),
		FixedWindow:   compose("window_fast fixed_fast "+common+" window fixed", theAlgorithm+"fixed", "acquire"),
		SlidingWindow: compose("window_fast sliding_fast "+common+" window sliding", theAlgorithm+"sliding", "acquire"),
		SlidingLog:    compose("window_fast log_fast "+common+" window log", theAlgorithm+"log", "acquire"),
	}
	// acquireAllScripts are one for each set of algorithms that may come together, a bit for each of algorithms.
	acquireAllScripts = func() (all [1 << 4]func() *script) {
		for set := range all {
			all[set] = sync.OnceValue(func() *script { return composeSet(set, "acquire_all") })
		}
		return all
	}()
	giveBackScripts = map[string]*script{
		TokenBucket:   compose(common+" token", theAlgorithm+"token", "give_back"),
		FixedWindow:   compose(common+" window fixed", theAlgorithm+"fixed", "give_back"),
		SlidingWindow: compose(common+" window sliding", theAlgorithm+"sliding", "give_back"),
		SlidingLog:    compose(common+" window log", theAlgorithm+"log", "give_back"),
	}
	// installScripts carry the definition's algorithm alone: what an earlier one left is of another generation.
	installScripts = map[string]*script{
		TokenBucket:   compose("install_new "+common+" token", someAlgorithms+"{token_bucket = token}", "install"),
		FixedWindow:   compose("install_new "+common+" window fixed", someAlgorithms+"{fixed_window = fixed}", "install"),
		SlidingWindow: compose("install_new "+common+" window sliding", someAlgorithms+"{sliding_window = sliding}", "install"),
		SlidingLog:    compose("install_new "+common+" window log", someAlgorithms+"{sliding_log = log}", "install"),
		Concurrency:   compose("install_new "+common, someAlgorithms+"{concurrency = {}}", "install"),
	}
	leaseScript   = compose(common, "", "lease")
	removeScript  = compose(common, "", "remove")
	restartScript = compose(common, "", "restart")
	adoptScript   = compose(common, "", "adopt")
)

// composeSet makes a script with the algorithms of a set.
func composeSet(set int, own string) *script {
	chunks, tables := common, "local algorithms = {"
	switch {
	case set == 1:
		chunks = "all_fast " + common
	case set > 1:
		chunks += " window"
	}
	for i, table := range []string{"token", "fixed", "sliding", "log"} {
		if set>>i&1 == 1 {
			chunks += " " + table
			tables += algorithms[i] + " = " + table + ", "
		}
	}
	return compose(chunks, tables+"}", own)
}

// compose joins chunks, a line and the script's own file.
func compose(chunks, line, own string) *script {
	var parts []string
	for _, name := range strings.Fields(chunks) {
		parts = append(parts, luaFile(name))
	}
	if line != "" {
		parts = append(parts, line)
	}
	text := strings.Join(append(parts, luaFile(own)), "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	sha := hex.EncodeToString(sum[:])
	return &script{text: text, sha: sha, boxedSHA: sha}
}

func luaFile(name string) string {
	text, err := luaFiles.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // a name above is wrong, which every run of any test shows
	}
	return string(text)
}
