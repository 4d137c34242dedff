package client

import (
	"container/list"
	"sync"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

const (
	// longestDenial bounds how long this process refuses by itself, so that a changed limit is in force everywhere soon.
	longestDenial = 250 * time.Millisecond
	// maxDenials bounds the keys for which refusals are remembered; the oldest are forgotten.
	maxDenials = 10_000
)

// denial is what Redis said when it refused: calls for as many permits or more need not be put to it before `until`.
type denial struct {
	permits   int64
	until     int64 // ns since the client's start
	retryAt   int64 // ns: when Redis would grant
	resetAt   int64
	remaining int64
	facts     *bucket.Facts
}

// covers tells whether a call is to be refused by what is remembered.
func (d *denial) covers(permits, now int64) bool {
	return d != nil && permits >= d.permits && now < d.until
}

// decision refuses a call, unless in shadow.
func (d *denial) decision(name string, now int64, shadow bool) Decision {
	return Decision{
		Outcome: Limited, Allowed: shadow, Bucket: name, Limit: d.facts.MaxPermits, Remaining: d.remaining,
		RetryAfter: time.Duration(d.retryAt - now), ResetAfter: time.Duration(max(0, d.resetAt-now)),
		Revision: d.facts.Revision, Source: SourceDenial, Shadow: shadow,
	}
}

// denials remembers refusals by bucket and key.
type denials struct {
	mu     sync.Mutex
	byKey  map[localKey]*list.Element
	recent *list.List // of denialOf, the newest first
}

type denialOf struct {
	key localKey
	*denial
}

func newDenials() *denials {
	return &denials{byKey: map[localKey]*list.Element{}, recent: list.New()}
}

// find returns what is remembered of a call's bucket and key.
func (d *denials) find(k *known, key string) *denial {
	if key == "" {
		return k.denial.Load()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.byKey[localKey{k.name, key}]; ok {
		return e.Value.(denialOf).denial
	}
	return nil
}

// remember notes a refusal; one for fewer permits that still holds covers more and stays.
func (d *denials) remember(k *known, key string, news *denial, now int64) {
	if old := d.find(k, key); old.covers(news.permits, now) {
		return
	}
	if key == "" {
		k.denial.Store(news)
		return
	}
	at := localKey{k.name, key}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.byKey[at]; ok {
		e.Value = denialOf{at, news}
		d.recent.MoveToFront(e)
		return
	}
	d.byKey[at] = d.recent.PushFront(denialOf{at, news})
	if d.recent.Len() > maxDenials {
		oldest := d.recent.Remove(d.recent.Back()).(denialOf)
		delete(d.byKey, oldest.key)
	}
}

// forget ends the refusing of a bucket and key.
func (d *denials) forget(k *known, key string) {
	if key == "" {
		k.denial.Store(nil)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.byKey[localKey{k.name, key}]; ok {
		d.recent.Remove(e)
		delete(d.byKey, localKey{k.name, key})
	}
}
