package api_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	sdk "github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/api"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/testenv"
)

const appStream = "/api/v1/stream?app=checkout"

// sdkOf is a real client of an app, in the world's Redis.
func (w *world) sdkOf(app string) *sdk.Client {
	w.t.Helper()
	c, err := sdk.New(w.rdb, app, sdk.Prefix(w.prefix))
	must(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// rated waits for the first sample that has rates.
func (s *streaming) rated() (sample api.StreamAppSample) {
	s.t.Helper()
	for {
		if s.next("sample", &sample); sample.Rates != nil {
			return sample
		}
	}
}

// using waits for the first sample in which something was used.
func (s *streaming) using() api.StreamAppSample {
	s.t.Helper()
	for range 60 { // some may be from before
		if sample := s.rated(); len(sample.Buckets) > 0 {
			return sample
		}
	}
	s.t.Fatal("nothing is told")
	return api.StreamAppSample{}
}

// shareOf is what a sample tells of one bucket.
func shareOf(sample api.StreamAppSample, name string) api.StreamRates {
	for _, b := range sample.Buckets {
		if b.Name == name {
			return b.StreamRates
		}
	}
	return api.StreamRates{}
}

// What SDKs are granted and refused in two buckets is told within two seconds, and summed over the samples it is, bucket by
// bucket, exactly what the SDKs counted.
func TestAppStreamTellsExactlyWhatTheSDKsCounted(t *testing.T) {
	w := onSQLite(t)
	w.bucket("second", []string{"checkout", "other"}, []string{otto})
	w.install(theBucket)
	w.install("second")
	s := w.as(vic).mustOpen(appStream)
	var wrong string
	for range 4 { // on a machine too busy to hand on a sample a second one is left out, which can't be made up for
		if wrong = w.countedLive(s); wrong == "" {
			return
		}
	}
	t.Fatal(wrong)
}

// countedLive uses two buckets, and tells in which way what is told of them differs from what the SDK counted.
func (w *world) countedLive(s *streaming) (wrong string) {
	w.t.Helper()
	c := w.sdkOf("checkout")
	last := s.rated()
	told := map[string]model.Used{}
	sums := [2]api.StreamRates{} // in all, and over the buckets
	var began time.Time
	after, quiet := time.Duration(0), 0
	for n := 0; quiet < 3; n++ {
		switch {
		case n < 4:
			for i := range 60 { // more than the buckets hold
				_, err := c.Acquire(w.t.Context(), []string{theBucket, "second"}[i%2], sdk.Permits(5))
				must(w.t, err)
			}
		case n == 4:
			must(w.t, c.Close()) // reports the rest
		}
		if n == 0 {
			began = time.Now()
		}
		sample := s.rated()
		seconds := float64(sample.RedisTimeUS-last.RedisTimeUS) / 1e6
		if last = sample; sample.Rates.Granted > 0 && after == 0 {
			after = time.Since(began)
		}
		if n > 4 && len(sample.Buckets) == 0 {
			quiet++
		}
		for _, b := range sample.Buckets {
			told[b.Name] = told[b.Name].Plus(permits(b.StreamRates, seconds))
			sums[1] = plus(sums[1], b.StreamRates)
		}
		sums[0] = plus(sums[0], *sample.Rates)
	}
	if after == 0 || after > 2*time.Second {
		return fmt.Sprintf("told after %v", after)
	}
	if math.Abs(sums[0].Granted-sums[1].Granted) > 0.01 || math.Abs(sums[0].Limited-sums[1].Limited) > 0.01 {
		return fmt.Sprintf("in all %+v, over the buckets %+v", sums[0], sums[1])
	}
	for _, name := range []string{theBucket, "second"} {
		counted := c.Stats().Buckets[name]
		if want := (model.Used{Granted: counted.Granted, Limited: counted.Limited}); told[name] != want || want.Granted == 0 || want.Limited == 0 {
			return fmt.Sprintf("%s: told %+v, the SDK counted %+v", name, told[name], want)
		}
	}
	return ""
}

func permits(r api.StreamRates, seconds float64) model.Used {
	whole := func(rate float64) int64 { return int64(math.Round(rate * seconds)) }
	return model.Used{Granted: whole(r.Granted), Limited: whole(r.Limited), ShadowLimited: whole(r.ShadowLimited)}
}

func plus(a, b api.StreamRates) api.StreamRates {
	return api.StreamRates{Granted: a.Granted + b.Granted, Limited: a.Limited + b.Limited, ShadowLimited: a.ShadowLimited + b.ShadowLimited}
}

// What an app uses of a bucket that a reader may not see is in no figure that the reader gets: not in the sum, not by name
// and not among the others. Who sees all buckets gets it.
func TestAppStreamLeavesOutWhatMayNotBeSeen(t *testing.T) {
	w := onSQLite(t)
	w.bucket("hidden", []string{"other"}, []string{otto})
	w.bucket("everyones", []string{model.AllApps}, []string{root})
	w.report("hidden", "checkout", w.minute(), 1, 0) // it was listed until just now
	w.rollUp()
	limited, whole := w.as(vic).mustOpen(appStream), w.as(aud).mustOpen(appStream)
	limited.rated()
	whole.rated()
	must(t, w.engine.ReportUsage(t.Context(), []bucket.Usage{
		{Bucket: "hidden", App: "checkout", Minute: w.minute(), Granted: 1000},
		{Bucket: theBucket, App: "checkout", Minute: w.minute(), Granted: 10}, {Bucket: theBucket, App: "other", Minute: w.minute(), Granted: 500},
		{Bucket: "everyones", App: "checkout", Minute: w.minute(), Limited: 20},
	}))
	seen := limited.using()
	if r := *seen.Rates; len(seen.Buckets) != 2 || seen.Buckets[0].Name != "everyones" || seen.Others != nil || math.Abs(2*r.Granted-r.Limited) > 0.01 || r.Granted > 100 {
		t.Errorf("told %+v of %+v", r, seen.Buckets)
	}
	all := whole.using()
	if hidden := shareOf(all, "hidden").Granted; len(all.Buckets) != 3 || hidden < 99*shareOf(all, theBucket).Granted || all.Rates.Granted < hidden {
		t.Errorf("who sees all is told %+v", all)
	}
}

// A bucket that begins to list the app is followed without coming again, and one that ceases to is not: within seconds, and
// not only when the rights are looked at.
func TestAppStreamFollowsItsListOfBuckets(t *testing.T) {
	w := onSQLite(t)
	s := w.as(vic).mustOpen(appStream)
	s.rated()
	since := w.edited(func() { w.bucket("newcomer", []string{"checkout"}, []string{bob}) })
	for samples := 0; ; {
		w.report("newcomer", "checkout", w.minute(), 1, 0)
		sample := s.rated()
		if shareOf(sample, "newcomer").Granted > 0 {
			break
		}
		if sample.RedisTimeUS > since {
			samples++
		}
		if samples == 5 { // without its list it would look again after 8 s
			t.Fatal("it is not told of")
		}
	}
	others := model.Definition{Apps: []string{"other"}, Owners: []string{bob}, MaxPermits: 100, Rate: 50}
	others.SetDefaults()
	since = w.edited(func() {
		_, err := w.store.UpdateBucket(t.Context(), "newcomer", 1, others, byRoot)
		must(t, err)
	})
	for samples := 0; samples < 5; {
		w.report("newcomer", "checkout", w.minute(), 1, 0)
		sample := s.rated()
		if sample.RedisTimeUS > since {
			samples++
		}
		if samples > 2 && len(sample.Buckets) > 0 {
			t.Fatalf("it is told of still: %+v", sample)
		}
	}
}

// edited makes an edit, and tells after which µs of Redis's clock it is in force.
func (w *world) edited(edit func()) int64 {
	w.t.Helper()
	edit()
	now, err := w.engine.Time(w.t.Context())
	must(w.t, err)
	return now.UnixMicro()
}

// Who may not see the app any more hears no more of it, nor does anybody of one that was deleted.
func TestAppStreamEndsWithTheAppAndTheRightsToIt(t *testing.T) {
	w := onSQLite(t)
	_, err := w.store.CreateApp(t.Context(), model.App{Name: "idle"}, byRoot)
	must(t, err)
	removed, deleted, out := w.as(vic).mustOpen(appStream), w.as(aud).mustOpen("/api/v1/stream?app=idle"), w.as(ann)
	ended, stays := out.mustOpen(appStream), w.as(root).mustOpen(appStream)
	for _, s := range []*streaming{removed, deleted, ended, stays} {
		s.rated()
	}
	began := time.Now()
	must(t, w.store.RemoveMember(t.Context(), "checkout", vic, byRoot))
	must(t, w.store.DeleteApp(t.Context(), "idle", 1, byRoot))
	out.do("POST", "/api/v1/auth/logout", nil).want(t, http.StatusNoContent)
	var gone api.StreamGone
	var end api.StreamEnd
	for s, app := range map[*streaming]string{removed: "checkout", deleted: "idle"} {
		if s.next("gone", &gone); gone.Name != app {
			t.Errorf("gone is %q, want %q", gone.Name, app)
		}
		if s.next("end", &end); end.Reason != "gone" {
			t.Errorf("reason %q", end.Reason)
		}
		s.ended()
	}
	if ended.next("end", &end); end.Reason != "session" {
		t.Errorf("reason %q", end.Reason)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	stays.rated()
}

// A stream is of one app or of some buckets, for those alone who may see the app, and counts with all other streams.
func TestAppStreamsAreCheckedAndBoundedAsAllAre(t *testing.T) {
	w := onSQLite(t)
	c := w.as(vic)
	for path, field := range map[string]string{"?app=checkout&buckets=" + theBucket: "app", "": "buckets", "?app=": "buckets", "?app=" + strings.Repeat("a", 129): "app"} {
		p := c.do("GET", "/api/v1/stream"+path, nil).problem(t, http.StatusUnprocessableEntity)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%q: %+v", path, p.Errors)
		}
	}
	for who, want := range map[string]int{nemo: 404, bob: 404, otto: 404, vic: 200, ann: 200, aud: 200, root: 200} {
		s, refused := w.as(who).openStream(appStream)
		if refused.StatusCode != want {
			t.Errorf("%s: %d, want %d", who, refused.StatusCode, want)
		}
		if s != nil {
			s.close()
			s.ended()
		}
	}
	c.do("GET", "/api/v1/stream?app=other", nil).problem(t, http.StatusNotFound)
	var open []*streaming
	testenv.Eventually(t, 10*time.Second, "room for ten", func() bool { // the one from above may still be leaving
		for range 10 - len(open) {
			if s, _ := c.openStream([]string{appStream, streamPath}[len(open)%2]); s != nil {
				open = append(open, s)
			}
		}
		return len(open) == 10
	})
	if _, refused := c.openStream(appStream); refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("Retry-After") == "" {
		t.Errorf("status %d", refused.StatusCode)
	}
}

// countedApps counts the readings of an app's buckets.
type countedApps struct {
	api.Figures
	others, apps, names atomic.Int64
}

func (c *countedApps) Sample(ctx context.Context, names []string) ([]model.Sample, time.Time, error) {
	c.others.Add(1)
	return c.Figures.Sample(ctx, names)
}

func (c *countedApps) SampleApp(ctx context.Context, app string, buckets []string) (model.AppSample, error) {
	c.apps.Add(1)
	c.names.Add(int64(len(buckets)))
	return c.Figures.SampleApp(ctx, app, buckets)
}

// However many watch an app, each of its buckets is read once a second, and other apps' buckets are not; when the last
// leaves, no more.
func TestAnAppIsReadOnceASecondHoweverManyWatch(t *testing.T) {
	counted := &countedApps{}
	w := onSQLite(t, func(c *api.Config) { counted.Figures, c.Figures = c.Figures, counted })
	w.bucket("second", []string{"checkout"}, []string{otto})
	w.bucket("foreign", []string{"other"}, []string{otto})
	var streams []*streaming
	for _, who := range []string{vic, ann, root, aud} {
		c := w.as(who)
		for range 4 {
			streams = append(streams, c.mustOpen(appStream))
		}
	}
	for _, s := range streams {
		s.rated()
	}
	before, names, began := counted.apps.Load(), counted.names.Load(), time.Now()
	for range 3 {
		streams[0].rated()
	}
	most := int64(time.Since(began)/time.Second) + 2
	if read := counted.apps.Load() - before; read > most {
		t.Errorf("%d readings of the one app, want at most %d", read, most)
	}
	if read := counted.names.Load() - names; read > 2*most {
		t.Errorf("%d readings of its two buckets, want at most %d", read, 2*most)
	}
	if counted.others.Load() > 0 {
		t.Error("nobody watches a bucket, but it is read")
	}
	for _, s := range streams {
		s.close()
	}
	at := counted.apps.Load()
	testenv.Eventually(t, 10*time.Second, "the readings to stop", func() bool {
		was := at
		at = counted.apps.Load()
		<-time.After(1500 * time.Millisecond)
		return was == at && at == counted.apps.Load()
	})
}

// Of an app with very many buckets those are read that Redis's index has; what it uses of one that it begins to use is told
// from the first second on. The most used are told by name, all others together.
func TestOfVeryManyBucketsThoseInUseAreRead(t *testing.T) {
	counted := &countedApps{}
	w := onSQLite(t, func(c *api.Config) { counted.Figures, c.Figures = c.Figures, counted })
	const many, inUse = 2001, 25
	w.bucketsOfCheckout(many)
	use := func(permits int64) {
		var usage []bucket.Usage
		for i := range int64(inUse) {
			usage = append(usage, bucket.Usage{Bucket: fmt.Sprintf("many-%04d", i), App: "checkout", Minute: w.minute(), Granted: permits * (i + 1)})
		}
		must(t, w.engine.ReportUsage(t.Context(), usage))
	}
	s := w.as(vic).mustOpen(appStream)
	s.rated()
	if counted.names.Load() > 0 {
		t.Errorf("%d were read that nobody uses", counted.names.Load())
	}
	names, apps := counted.names.Load(), counted.apps.Load()
	use(10)
	sample := s.using()
	if asked := 10.0 * inUse * (inUse + 1) / 2; math.Abs(sample.Rates.Granted-asked) > asked/4 {
		t.Errorf("%v permits a second are told of the first second, in which %v were asked for", sample.Rates.Granted, asked)
	}
	if sample.Others == nil || len(sample.Buckets) != 20 || sample.Others.Buckets != 5 || sample.Buckets[0].Name != "many-0024" || sample.Buckets[19].Name != "many-0005" {
		t.Fatalf("told %+v", sample)
	}
	if others := sample.Others.Granted; math.Abs(25*others-15*sample.Buckets[0].Granted) > 1 { // 10+20+30+40+50 to 250
		t.Errorf("the others have %v, the first %v", others, sample.Buckets[0].Granted)
	}
	if read, most := counted.names.Load()-names, inUse*(counted.apps.Load()-apps); read > most {
		t.Errorf("%d buckets were read in %d samples", read, counted.apps.Load()-apps)
	}
}

// bucketsOfCheckout makes very many buckets in the names of ann.
func (w *world) bucketsOfCheckout(n int) {
	w.t.Helper()
	d := model.Definition{Apps: []string{"checkout"}, Owners: []string{ann}, MaxPermits: 100, Rate: 50}
	d.SetDefaults()
	wanted := model.Wanted{}
	for i := range n {
		wanted.Buckets = append(wanted.Buckets, model.WantedBucket{Name: fmt.Sprintf("many-%04d", i), Definition: d})
	}
	_, err := w.store.Import(w.t.Context(), wanted, byRoot, false)
	must(w.t, err)
}

// While Redis is away an app's stream goes on and says so, and has figures again when it is back.
func TestAppStreamGoesOnThroughAnOutageOfRedis(t *testing.T) {
	server := testenv.OwnRedis(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = rdb.Close() })
	w := onSQLite(t, func(c *api.Config) { c.Figures = figures.Reader{Engine: bucket.New(rdb, "")} })
	s := w.as(vic).mustOpen(appStream)
	until := func(answers bool) (sample api.StreamAppSample) {
		for {
			if s.next("sample", &sample); sample.Redis == answers {
				return sample
			}
		}
	}
	s.rated()
	server.Stop()
	if sample := until(false); sample.App != "checkout" || sample.Rates != nil || sample.RedisTimeUS != 0 || len(sample.Buckets) != 0 {
		t.Errorf("without Redis: %+v", sample)
	}
	server.Start(t)
	if sample := until(true); sample.Rates != nil {
		t.Errorf("a rate right after the gap: %+v", sample)
	}
	s.rated()
}
