package figures_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/figures"
	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/store"
)

// unindexed is what a reporter does that does not know the index.
func (w *world) unindexed(name string, ago, granted int64) {
	w.t.Helper()
	w.ok(w.rdb.HIncrBy(w.t.Context(), fmt.Sprintf("headgate:{%s}:u:%d", name, w.now-ago), "g:checkout", granted).Err())
}

// walked makes whole walks until there is nothing to read, and returns how many steps that took.
func (w *world) walked(r *figures.Roller) (steps int) {
	w.t.Helper()
	for whole := false; !whole; steps++ {
		var err error
		whole, err = r.Walk(w.t.Context())
		w.ok(err)
	}
	return steps
}

// walkedTo has the walks be over up to a minute, as another server left them.
func (w *world) walkedTo(ago int64) {
	w.t.Helper()
	w.ok(w.store.SetUsageMarks(w.t.Context(), map[string]int64{"all.2h": w.now - ago}))
}

// What is missing in the index is found by the walk through all buckets, also of deleted ones, and is counted once.
func TestUsageThatIsNotInTheIndexIsFound(t *testing.T) {
	w := newWorld(t)
	w.unindexed("a", 125, 5)
	w.unindexed("b", 121, 7)
	w.report("b", "mobile", 125, 1, 0)
	_, err := w.store.DeleteBucket(t.Context(), "a", 1, byRoot)
	w.ok(err)
	w.walkedTo(130)
	for range 2 {
		r := w.roller(w.store)
		w.roll(r)
		w.walked(r)
		w.wantKept("a", 5, 0)
		w.wantKept("b", 8, 0)
	}
}

// The first walk of all begins with the present: minutes that are older were read by who was there before.
func TestTheFirstWalkDoesNotReadTwoDays(t *testing.T) {
	w := newWorld(t)
	w.unindexed("a", 40*60, 5)
	w.unindexed("a", 120, 3)
	if steps := w.walked(w.roller(w.store)); steps > 6 { // a step that reads, one that ends the walk; a minute may begin meanwhile
		t.Errorf("%d steps", steps)
	}
	w.wantKept("a", 3, 0)
}

// A server that dies during a walk leaves it to be begun again, and no minute is passed over. Walks that are far behind go on
// by larger steps.
func TestAWalkThatIsBrokenOffIsBegunAgain(t *testing.T) {
	w := newWorld(t)
	const many = 3000
	w.insertMany(many)
	w.walkedTo(180)
	w.unindexed("many-00001", 179, 1)
	w.unindexed("many-02999", 121, 1)
	dying := &brittle{Store: w.store}
	dying.left.Store(2)
	r := w.roller(dying)
	for {
		if _, err := r.Walk(t.Context()); err != nil {
			break
		}
	}
	w.wantKept("many-02999", 0, 0)
	if steps := w.walked(w.roller(w.store)); steps > 45 { // 59 minutes of 3,000 buckets at 6,000 a step; at 2,000 it would be 90
		t.Errorf("%d steps", steps)
	}
	w.wantKept("many-00001", 1, 0)
	w.wantKept("many-02999", 1, 0)
}

// Buckets that nobody uses cost a reading nothing, neither in Redis nor in the database, however many there are.
func TestIdleBucketsCostNothing(t *testing.T) {
	w := newWorld(t)
	w.insertMany(5000)
	w.report("a", "checkout", 0, 1, 0)
	asked := &counting{Store: w.store}
	r := w.roller(asked)
	w.ok(r.Read(t.Context()))
	before := w.commands()
	w.ok(r.Read(t.Context()))
	if n := w.commands() - before; n > 20 {
		t.Errorf("a reading took %d commands", n)
	}
	if asked.most > 1 {
		t.Errorf("%d buckets were asked for in the database, 1 was used", asked.most)
	}
}

// counting notes the most buckets that were read at once.
type counting struct {
	*store.Store
	most int
}

func (c *counting) UsageBuckets(ctx context.Context, names []string, since time.Time) ([]model.Bucket, error) {
	c.most = max(c.most, len(names))
	return c.Store.UsageBuckets(ctx, names, since)
}

var processed = regexp.MustCompile(`total_commands_processed:(\d+)`)

// commands is how many Redis has carried out.
func (w *world) commands() int {
	w.t.Helper()
	info, err := w.rdb.Info(w.t.Context(), "stats").Result()
	w.ok(err)
	n, err := strconv.Atoi(processed.FindStringSubmatch(info)[1])
	w.ok(err)
	return n
}
