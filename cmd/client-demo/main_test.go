package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// binary is the program under test, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "client-demo-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "client-demo")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		_, _ = os.Stderr.Write(out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	code := testenv.Main(m)
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// process is a running client-demo.
type process struct {
	*exec.Cmd
	out    *bufio.Reader
	errors bytes.Buffer
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build client-demo: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p := &process{Cmd: exec.CommandContext(ctx, path, args...)}
	p.Env = append(os.Environ(), env...)
	p.Stderr = &p.errors
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// finish reads the rest of the output and returns it with the exit code.
func (p *process) finish(t *testing.T) (string, int) {
	t.Helper()
	out, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	return string(out), p.ProcessState.ExitCode()
}

// install defines a bucket on the shared Redis and returns the URL and prefix for the flags.
func install(t *testing.T, edit func(*bucket.Definition)) (url, prefix string) {
	t.Helper()
	addr, prefix := testenv.Redis(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	installOn(t, rdb, prefix, edit)
	return "redis://" + addr + "/0", prefix
}

func installOn(t *testing.T, rdb redis.UniversalClient, prefix string, edit func(*bucket.Definition)) {
	t.Helper()
	d := bucket.Definition{
		Name: "partner-api", Revision: 1, Apps: []string{"checkout"}, Algorithm: bucket.TokenBucket,
		MaxPermits: 100, Rate: 50, Period: time.Second, Partition: bucket.PartitionShared, Shards: 1,
		Mode: bucket.ModeEnforce, OnFailure: bucket.FailOpen, AfterLoss: bucket.LossFull,
	}
	if edit != nil {
		edit(&d)
	}
	if _, err := bucket.New(rdb, prefix).Install(t.Context(), d, bucket.InstallOptions{Deployment: "demo-tests"}); err != nil {
		t.Fatal(err)
	}
}

type line struct {
	Type                           string
	Elapsed                        float64
	Calls, Granted, Limited, Other int64
	Outcomes                       map[string]int64
	P50                            float64 `json:"p50_ms"`
	P99                            float64 `json:"p99_ms"`
}

func lines(t *testing.T, out string) []line {
	t.Helper()
	var all []line
	decoder := json.NewDecoder(strings.NewReader(out))
	for decoder.More() {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		all = append(all, l)
	}
	return all
}

// With the demand above the limit, a load is granted what the bucket held and what came in meanwhile: max + rate·T.
func TestLoadIsGrantedWhatTheBucketHeldAndWhatCameIn(t *testing.T) {
	url, prefix := install(t, nil)
	p := start(t, nil, "load", "--redis-url", url, "--prefix", prefix, "--app", "checkout", "--bucket", "partner-api",
		"--deadline", "20s", "--rate", "400", "--duration", "3s", "--json")
	out, code := p.finish(t)
	if code != 0 || p.errors.Len() != 0 {
		t.Fatalf("exit code %d: %s", code, p.errors.String())
	}
	all := lines(t, out)
	sum := all[len(all)-1]
	if sum.Type != "summary" || sum.Calls != sum.Granted+sum.Limited || sum.Other != 0 || sum.Elapsed < 2.9 {
		t.Fatalf("%+v", sum)
	}
	const held, rate, sluggish = 100, 50, 0.5 // seconds that a busy machine may take to start and to end
	if g := float64(sum.Granted); g > held+rate*sum.Elapsed || g < held+rate*(sum.Elapsed-sluggish)-1 {
		t.Errorf("granted %v in %v s", g, sum.Elapsed)
	}
	if sum.P50 <= 0 || sum.P99 < sum.P50 {
		t.Errorf("latencies: %+v", sum)
	}
	var granted int64
	for _, l := range all[:len(all)-1] {
		if l.Type != "second" || l.Calls != l.Granted+l.Limited+l.Other {
			t.Errorf("%+v", l)
		}
		granted += l.Granted
	}
	if len(all) < 3 || granted > sum.Granted || granted < sum.Granted-rate-10 {
		t.Errorf("%d seconds tell of %d granted, the summary of %d", len(all)-1, granted, sum.Granted)
	}
}

func TestLoadWritesALineASecondAndEndsWithTheSummaryOnCtrlC(t *testing.T) {
	url, prefix := install(t, nil)
	p := start(t, []string{"HEADGATE_REDIS_URL=" + url}, "load", "--prefix", prefix, "--app", "checkout", "--bucket", "partner-api", "--duration", "0")
	for i, want := range []string{"app checkout", "1s  granted"} {
		text, err := p.out.ReadString('\n')
		if err != nil || !strings.Contains(text, want) {
			t.Fatalf("line %d: %q, %v; %s", i, text, err, p.errors.String())
		}
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	out, code := p.finish(t)
	if code != 0 || !strings.Contains(out, "calls in") || !strings.Contains(out, "p99") {
		t.Fatalf("exit code %d: %s%s", code, out, p.errors.String())
	}
}

func TestLoadSpreadsKeys(t *testing.T) {
	url, prefix := install(t, func(d *bucket.Definition) {
		d.Partition, d.MaxPermits, d.Rate, d.Period = bucket.PartitionKey, 2, 1, time.Hour
	})
	args := []string{"load", "--redis-url", url, "--prefix", prefix, "--app", "checkout", "--bucket", "partner-api",
		"--deadline", "20s", "--rate", "0", "--concurrency", "4", "--duration", "700ms", "--json"}
	out, code := start(t, nil, append(args, "--key-count", "7")...).finish(t)
	all := lines(t, out)
	if sum := all[len(all)-1]; code != 0 || sum.Granted != 14 || sum.Limited < 14 {
		t.Fatalf("7 keys of 2 permits: exit code %d, %+v", code, sum)
	}
	out, _ = start(t, nil, append(args, "--key", "vip")...).finish(t)
	all = lines(t, out)
	if sum := all[len(all)-1]; sum.Granted != 2 {
		t.Fatalf("one key of 2 permits: %+v", sum)
	}
}

// The URLs by which the admin server reaches a Cluster and the master behind Sentinels do for load and serve too.
func TestLoadAndServeRunOnClusterAndSentinels(t *testing.T) {
	cluster, sentinel := testenv.Cluster(t, testenv.ClusterReplicas(0)), testenv.Sentinel(t)
	urlOf := func(addrs []string, query string) string {
		return "redis://" + addrs[0] + "?" + query + "addr=" + strings.Join(addrs[1:], "&addr=")
	}
	for name, c := range map[string]struct {
		url string
		rdb redis.UniversalClient
	}{
		"cluster":   {urlOf(cluster.Addrs(), ""), cluster.Client(t)},
		"sentinels": {urlOf(sentinel.SentinelAddrs(), "master_name="+testenv.SentinelMaster+"&"), sentinel.Client(t)},
	} {
		t.Run(name, func(t *testing.T) {
			installOn(t, c.rdb, client.DefaultPrefix, func(d *bucket.Definition) { d.MaxPermits, d.Rate, d.Period = 20, 1, time.Hour })
			out, code := start(t, []string{"HEADGATE_REDIS_URL=" + c.url}, "load", "--app", "checkout", "--bucket", "partner-api",
				"--deadline", "20s", "--rate", "0", "--concurrency", "4", "--duration", "500ms", "--json").finish(t)
			all := lines(t, out)
			if sum := all[len(all)-1]; code != 0 || sum.Granted != 20 || sum.Other != 0 {
				t.Errorf("20 permits: exit code %d, %+v", code, sum)
			}
			_, work := serving(t, "--redis-url", c.url)
			if response, body := get(t, work, nil); response.StatusCode != http.StatusTooManyRequests || body["code"] != "limited" {
				t.Errorf("serve on what load has emptied: %d %v", response.StatusCode, body)
			}
		})
	}
}

func TestLoadTellsOtherOutcomesApart(t *testing.T) {
	url, prefix := install(t, nil)
	out, code := start(t, nil, "load", "--redis-url", url, "--prefix", prefix, "--app", "checkout", "--bucket", "no-such-bucket",
		"--duration", "300ms").finish(t)
	if code != 0 || !strings.Contains(out, "not_configured") {
		t.Fatalf("exit code %d: %s", code, out)
	}
}

func TestMistakesEndWithOneClearLine(t *testing.T) {
	url, prefix := install(t, func(d *bucket.Definition) { d.Partition = bucket.PartitionKey })
	ok := []string{"--redis-url", url, "--prefix", prefix, "--app", "checkout", "--bucket", "partner-api"}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":       {[]string{"lode"}, "lode"},
		"unknown flag":          {[]string{"load", "--speed", "9"}, "--speed"},
		"no app":                {[]string{"load", "--bucket", "b"}, `"app"`},
		"no bucket":             {[]string{"serve", "--app", "a"}, `"bucket"`},
		"bad rate":              {append([]string{"load", "--rate", "-1"}, ok...), "--rate"},
		"rate no number":        {append([]string{"load", "--rate", "NaN"}, ok...), "--rate"},
		"bad concurrency":       {append([]string{"load", "--concurrency", "0"}, ok...), "--concurrency"},
		"bad duration":          {append([]string{"load", "--duration", "-1s"}, ok...), "--duration"},
		"bad permits":           {append([]string{"load", "--permits", "0"}, ok...), "--permits"},
		"bad key count":         {append([]string{"load", "--key-count", "-1"}, ok...), "--key-count"},
		"key and key count":     {append([]string{"load", "--key-count", "1", "--key", "k"}, ok...), "key"},
		"arguments":             {append([]string{"load", "partner-api"}, ok...), "partner-api"},
		"bad app":               {[]string{"load", "--redis-url", url, "--app", "a b", "--bucket", "b"}, "app"},
		"bad bucket":            {[]string{"load", "--redis-url", url, "--app", "a", "--bucket", "{}"}, "bucket"},
		"bad deadline":          {append([]string{"serve", "--deadline", "0s"}, ok...), "--deadline"},
		"bad prefix":            {[]string{"load", "--redis-url", url, "--app", "a", "--bucket", "b", "--prefix", "{"}, "prefix"},
		"key missing":           {append([]string{"load"}, ok...), "client.Key"},
		"not a URL":             {[]string{"load", "--redis-url", "http://u:secret@x", "--app", "a", "--bucket", "b"}, "--redis-url"},
		"unreachable for load":  {[]string{"load", "--redis-url", "redis://:secret@127.0.0.1:1/0", "--app", "a", "--bucket", "b"}, "can't reach Redis at 127.0.0.1:1"},
		"unreachable for serve": {[]string{"serve", "--listen", "127.0.0.1:0", "--redis-url", "redis://127.0.0.1:1", "--app", "a", "--bucket", "b"}, "can't reach Redis at 127.0.0.1:1"},
		"address not ours":      {append([]string{"serve", "--listen", "203.0.113.7:1"}, ok...), "can't listen on 203.0.113.7:1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, test.args...)
			_, code := p.finish(t)
			text := p.errors.String()
			if code == 0 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "client-demo: ") || !strings.Contains(text, test.want) || strings.Contains(text, "secret") {
				t.Errorf("exit code %d: %q", code, text)
			}
		})
	}
}

func TestHelpShowsExamples(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"load", "--help"}, {"serve", "--help"}} {
		out, code := start(t, nil, args...).finish(t)
		if code != 0 || !strings.Contains(out, "Examples:") || !strings.Contains(out, "--app checkout") {
			t.Errorf("%v: exit code %d: %s", args, code, out)
		}
	}
}

// serving starts serve and returns the URL that it protects.
func serving(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	p := start(t, nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--deadline", "20s", "--app", "checkout", "--bucket", "partner-api"}, args...)...)
	text, err := p.out.ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(text), "listening on ")
	if err != nil || !found {
		t.Fatalf("%q, %v; %s", text, err, p.errors.String())
	}
	return p, url
}

func get(t *testing.T, url string, header http.Header) (*http.Response, map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var body map[string]any
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return response, body
}

func TestServeAnswers429WithRetryAfterOnceThePermitsAreGone(t *testing.T) {
	url, prefix := install(t, func(d *bucket.Definition) { d.MaxPermits, d.Rate, d.Period = 2, 1, time.Minute })
	p, work := serving(t, "--redis-url", url, "--prefix", prefix)
	for range 2 {
		if response, body := get(t, work, nil); response.StatusCode != http.StatusOK || body["outcome"] != "granted" {
			t.Fatalf("%d %v", response.StatusCode, body)
		}
	}
	response, body := get(t, work, nil)
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Content-Type") != "application/problem+json" || body["code"] != "limited" || body["status"] != 429.0 {
		t.Fatalf("%d %v %v", response.StatusCode, response.Header, body)
	}
	if retry := response.Header.Get("Retry-After"); retry != "60" && retry != "59" {
		t.Errorf("Retry-After: %q", retry)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if out, code := p.finish(t); code != 0 || out != "" || p.errors.Len() != 0 {
		t.Fatalf("stopped with exit code %d: %s%s", code, out, p.errors.String())
	}
}

func TestServeCountsByTheKeyOfAHeader(t *testing.T) {
	url, prefix := install(t, func(d *bucket.Definition) {
		d.Partition, d.MaxPermits, d.Rate, d.Period = bucket.PartitionKey, 1, 1, time.Hour
	})
	_, work := serving(t, "--redis-url", url, "--prefix", prefix, "--key-header", "X-User")
	for i, step := range []struct {
		user string
		want int
	}{{"42", 200}, {"42", 429}, {"7", 200}, {"", 400}, {strings.Repeat("x", 600), 400}} {
		if response, body := get(t, work, http.Header{"X-User": {step.user}}); response.StatusCode != step.want {
			t.Errorf("step %d: %d %v", i, response.StatusCode, body)
		}
	}
}

func TestServeRefusesWith503WhereNoBucketIsConfigured(t *testing.T) {
	url, prefix := install(t, func(d *bucket.Definition) { d.Apps = []string{"billing"} })
	_, work := serving(t, "--redis-url", url, "--prefix", prefix)
	response, body := get(t, work, nil)
	if response.StatusCode != http.StatusServiceUnavailable || body["code"] != "not_configured" {
		t.Fatalf("%d %v", response.StatusCode, body)
	}
}
