package reconcile

import (
	"context"
	"errors"
	"strings"

	"github.com/headgate/headgate/internal/bucket"
)

// reading is what Redis has under a name.
type reading struct {
	bucket.Installed
	damaged bool // a definition that can't be understood: somebody wrote to it by hand
	alien   bool // something that is no definition at all
}

// read reads what Redis has under the names, in their order. One that can't be read costs the others nothing: the list
// is halved until it stands alone.
func (r *Reconciler) read(ctx context.Context, names ...string) ([]reading, error) {
	found, err := r.ask(ctx, names...)
	switch {
	case err == nil:
		list := make([]reading, len(found))
		for i := range found {
			list[i].Installed = found[i]
		}
		return list, nil
	case !mayBeDamage(err):
		return nil, redisTrouble(err)
	case len(names) == 1:
		return r.askAgain(ctx, names[0], err)
	}
	first, err := r.read(ctx, names[:len(names)/2]...)
	if err != nil {
		return nil, err
	}
	second, err := r.read(ctx, names[len(names)/2:]...)
	return append(first, second...), err
}

// ask is the engine's Read with a bound of its own.
func (r *Reconciler) ask(ctx context.Context, names ...string) ([]bucket.Installed, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	return r.engine.Read(ctx, names...)
}

// askAgain takes an error for damage only when it comes again word for word from a Redis that answers otherwise, for
// what is damaged is going to be overwritten.
func (r *Reconciler) askAgain(ctx context.Context, name string, first error) ([]reading, error) {
	if _, err := r.engine.Time(ctx); err != nil {
		return nil, redisTrouble(err)
	}
	found, second := r.ask(ctx, name)
	switch {
	case second == nil:
		return []reading{{Installed: found[0]}}, nil
	case !mayBeDamage(second) || first.Error() != second.Error():
		return nil, redisTrouble(second)
	}
	alien := isReply(second)
	present := bucket.Installed{Present: true, Definition: bucket.Definition{Name: name}}
	return []reading{{Installed: present, damaged: !alien, alien: alien}}, nil
}

// mayBeDamage tells the errors that the content of a key can cause from those that certainly have another cause. Of
// the replies of Redis only WRONGTYPE speaks of the content.
func mayBeDamage(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	return !isReply(err) || strings.Contains(err.Error(), "WRONGTYPE")
}

// isReply tells whether Redis answered, with an error, from its not answering.
func isReply(err error) bool {
	var reply interface {
		error
		RedisError() // marks the error replies in go-redis
	}
	return errors.As(err, &reply)
}
