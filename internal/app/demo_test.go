package app

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// The samples are saved by the rules that hold for everybody and show every algorithm and partition; their traffic fits
// them, so that none of it is misuse.
func TestSamplesShowEveryAlgorithmAndPartition(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{SQLitePath: filepath.Join(t.TempDir(), "demo.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := seedDemo(t.Context(), s, auth.NewHasher(auth.Hashing{MemoryKiB: 64, Passes: 1, Threads: 1})); err != nil {
		t.Fatal(err)
	}
	page, err := s.Buckets(t.Context(), model.BucketQuery{})
	if err != nil {
		t.Fatal(err)
	}
	algorithms, partitions := map[model.Algorithm]bool{}, map[model.Partition]bool{}
	for _, b := range page.Items {
		algorithms[b.Algorithm], partitions[b.Partition] = true, true
	}
	if len(algorithms) != len(model.Algorithms) || len(partitions) != 4 {
		t.Errorf("the samples show %v and %v", algorithms, partitions)
	}
	fits := func(app, bucket string, keyed, slots bool) {
		t.Helper()
		i := slices.IndexFunc(page.Items, func(b model.Bucket) bool { return b.Name == bucket })
		if i < 0 {
			t.Fatalf("traffic goes to %s, which is no sample", bucket)
		}
		b := page.Items[i]
		if b.Keyed() != keyed || (b.Algorithm == model.Concurrency) != slots || !slices.Contains(b.Apps, app) && b.Apps[0] != model.AllApps {
			t.Errorf("the traffic of %s does not fit %s", app, bucket)
		}
	}
	for _, flow := range demoFlows {
		fits(flow.app, flow.bucket, flow.keys > 0, false)
	}
	for _, work := range demoWorks {
		fits(work.app, work.bucket, false, true)
	}
}
