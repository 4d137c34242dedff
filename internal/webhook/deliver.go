package webhook

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Store is what delivering needs of the database. Errors are *model.Error.
type Store interface {
	// LeaseWebhooks returns the endpoints that owner is to deliver to until the given time; no two owners get the same.
	LeaseWebhooks(ctx context.Context, owner string, now, until time.Time) ([]model.Webhook, error)
	// AdvanceWebhook notes how far an endpoint was told. CodeStale when it is not owner's to deliver to any more.
	AdvanceWebhook(ctx context.Context, owner string, from, to model.Webhook, until time.Time) error
	// FailWebhook notes a failed attempt. CodeStale as AdvanceWebhook.
	FailWebhook(ctx context.Context, owner string, w model.Webhook, failed model.WebhookState, until time.Time) error
	// ReleaseWebhooks ends all of owner's leases.
	ReleaseWebhooks(ctx context.Context, owner string) error
	NoteWebhookAttempt(ctx context.Context, name string, a model.WebhookAttempt) error
	// ChangesAfter reads up to limit changes with ids behind after, the oldest first.
	ChangesAfter(ctx context.Context, after int64, limit int) ([]Change, error)
	// CheckpointsAfter reads up to limit checkpoints of later rows than after, the oldest first.
	CheckpointsAfter(ctx context.Context, after int64, limit int) ([]Checkpoint, error)
}

// Defaults of a Config.
const (
	defaultPoll  = time.Second
	defaultLease = time.Minute // several times what one delivery takes at most
	giveUpAfter  = 72 * time.Hour
	longestPause = time.Hour
	batch        = 200 // changes read at once, and so the most alerts that one delivery tells of
	afterStop    = 2 * time.Second
)

// Config is what New needs.
type Config struct {
	Store Store
	Owner string // names this server among those side by side; different at each start
	Guard Guard
	Log   *slog.Logger     // nil: slog.Default()
	Now   func() time.Time // nil: time.Now
	Poll  time.Duration    // how often to look for changes; 0 = 1 s
	Lease time.Duration    // how long an endpoint stays this server's when it dies; 0 = 1 min

	Gather time.Duration // how long alerts wait for others that start or end with them; 0 = 5 s
}

// Deliverer delivers changes to endpoints.
type Deliverer struct {
	Config
	sender *Sender
	wake   chan struct{}

	mu   sync.Mutex
	busy map[string]bool // endpoints that a goroutine works on, and whether Run looked meanwhile
}

// New makes a deliverer. Run starts it.
func New(c Config) *Deliverer {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Poll == 0 {
		c.Poll = defaultPoll
	}
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	if c.Gather == 0 {
		c.Gather = defaultGather
	}
	return &Deliverer{Config: c, sender: NewSender(c.Guard, c.Now), wake: make(chan struct{}, 1), busy: map[string]bool{}}
}

// Wake has Run look at once.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends, and returns when every delivery under way has ended and the leases are let go.
func (d *Deliverer) Run(ctx context.Context) {
	var deliveries sync.WaitGroup
	tick := time.NewTicker(d.Poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		d.start(ctx, &deliveries)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-d.wake:
		}
	}
	deliveries.Wait()
	d.sender.Close()
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterStop)
	defer cancel()
	if err := d.Store.ReleaseWebhooks(release, d.Owner); err != nil {
		d.Log.Warn("webhooks not released; another server takes them over in a minute", "error", err)
	}
}

// start leases what is due and sets a goroutine on each endpoint, so that a slow one holds up no other.
func (d *Deliverer) start(ctx context.Context, deliveries *sync.WaitGroup) {
	// Who is busy now is left alone even if it ends meanwhile: what is read below may be from before its last delivery.
	busy := d.askedFor()
	now := d.Now()
	leased, err := d.Store.LeaseWebhooks(ctx, d.Owner, now, now.Add(d.Lease))
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Warn("webhooks could not be read; trying again", "error", err)
		}
		return
	}
	for _, w := range leased {
		if busy[w.Name] {
			continue
		}
		d.begin(w.Name)
		deliveries.Go(func() {
			defer d.end(w.Name)
			if err := d.deliver(ctx, w); err != nil && ctx.Err() == nil && model.CodeOf(err) != model.CodeStale {
				d.Log.Warn("a webhook's state could not be written; what was delivered may come again", "webhook", w.Name, "error", err)
			}
		})
	}
}

// askedFor returns the endpoints that are busy, and has Run look again as soon as one of them ends.
func (d *Deliverer) askedFor() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.busy {
		d.busy[name] = true
	}
	return maps.Clone(d.busy)
}

func (d *Deliverer) begin(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[name] = false
}

func (d *Deliverer) end(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[name] {
		d.Wake()
	}
	delete(d.busy, name)
}

// deliver tells one endpoint everything that is new, in order, until it fails or nothing is left.
func (d *Deliverer) deliver(ctx context.Context, w model.Webhook) error {
	if good, err := d.deliverChanges(ctx, &w); !good || err != nil {
		return err
	}
	if !w.Checkpoints {
		return nil
	}
	return d.deliverCheckpoints(ctx, &w)
}

// deliverChanges returns false when an attempt failed, or alerts wait for others.
func (d *Deliverer) deliverChanges(ctx context.Context, w *model.Webhook) (bool, error) {
again:
	for ctx.Err() == nil {
		changes, err := d.Store.ChangesAfter(ctx, w.State.Cursor, batch)
		if err != nil || len(changes) == 0 {
			return true, err
		}
		// After each failure half as many, in case that the endpoint can't take as much at once.
		most := max(1, batch>>w.State.Failures)
		deliveries := together(w, changes, most)
		for i, delivery := range deliveries {
			if i == len(deliveries)-1 && len(changes) < batch && d.gathering(delivery) {
				return false, nil
			}
			event, err := ofChanges(delivery)
			if err != nil {
				return false, err
			}
			last := delivery[len(delivery)-1].ID
			if good, err := d.tell(ctx, w, event, last, w.State.Checkpoint); !good || err != nil {
				return false, err
			}
			if most < batch {
				continue again
			}
		}
		if last := changes[len(changes)-1].ID; last > w.State.Cursor { // the end of the batch did not concern it
			if err := d.advance(ctx, w, last, w.State.Checkpoint); err != nil {
				return false, err
			}
		}
	}
	return false, ctx.Err()
}

func (d *Deliverer) deliverCheckpoints(ctx context.Context, w *model.Webhook) error {
	for ctx.Err() == nil {
		checkpoints, err := d.Store.CheckpointsAfter(ctx, w.State.Checkpoint, batch)
		if err != nil || len(checkpoints) == 0 {
			return err
		}
		for i := range checkpoints {
			event, err := ofCheckpoint(&checkpoints[i])
			if err != nil {
				return err
			}
			if good, err := d.tell(ctx, w, event, w.State.Cursor, checkpoints[i].Seq); !good || err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// tell makes one attempt and notes its outcome; it returns whether the endpoint took it.
func (d *Deliverer) tell(ctx context.Context, w *model.Webhook, e Event, cursor, checkpoint int64) (bool, error) {
	attempt := d.sender.send(ctx, w, e)
	if ctx.Err() != nil {
		return false, ctx.Err() // this server stops; whoever comes next tells it again
	}
	if err := d.Store.NoteWebhookAttempt(ctx, w.Name, attempt); err != nil {
		return false, err
	}
	if attempt.Error == "" {
		return true, d.advance(ctx, w, cursor, checkpoint)
	}
	failed := d.failed(w.State, attempt)
	if failed.Failing {
		d.Log.Error("a webhook is given up: every attempt failed", "webhook", w.Name, "since", failed.FailedAt, "error", attempt.Error)
	} else {
		d.Log.Warn("a webhook failed and will be tried again", "webhook", w.Name, "failures", failed.Failures, "next", failed.NextAt, "error", attempt.Error)
	}
	return false, d.Store.FailWebhook(ctx, d.Owner, *w, failed, d.Now().Add(d.Lease))
}

func (d *Deliverer) advance(ctx context.Context, w *model.Webhook, cursor, checkpoint int64) error {
	to := *w
	to.State.Cursor, to.State.Checkpoint = cursor, checkpoint
	if err := d.Store.AdvanceWebhook(ctx, d.Owner, *w, to, d.Now().Add(d.Lease)); err != nil {
		return err
	}
	to.State.Failures, to.State.FailedAt = 0, time.Time{}
	*w = to
	return nil
}

// failed is an endpoint's state after one more failed attempt: tried again after 1 s, then 2 s, 4 s … up to an hour, and
// given up when three days have passed since the first.
func (d *Deliverer) failed(s model.WebhookState, attempt model.WebhookAttempt) model.WebhookState {
	now := d.Now()
	if s.Failures == 0 || s.FailedAt.IsZero() {
		s.FailedAt = now
	}
	pause := min(time.Second<<min(s.Failures, 20), longestPause)
	s.Failures++
	s.NextAt = now.Add(pause + rand.N(pause/10+1)) // not all endpoints of one host at the same instant
	s.LastError = attempt.Error
	s.Failing = now.Sub(s.FailedAt) >= giveUpAfter
	return s
}
