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

// read reads what Redis has under the names, in their order. One that can't be read costs the others nothing: they are
// then read one by one.
func (r *Reconciler) read(ctx context.Context, names ...string) ([]reading, error) {
	ctx, cancel := context.WithTimeout(ctx, r.pushTimeout)
	defer cancel()
	list := make([]reading, len(names))
	found, err := r.engine.Read(ctx, names...)
	if err == nil {
		for i := range found {
			list[i].Installed = found[i]
		}
		return list, nil
	}
	if !mayBeDamage(err) {
		return nil, redisTrouble(err)
	}
	for i, name := range names {
		if list[i], err = r.readOne(ctx, name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readOne takes an error for damage only when it comes again word for word from a Redis that answers otherwise, for
// what is damaged is going to be overwritten.
func (r *Reconciler) readOne(ctx context.Context, name string) (reading, error) {
	found, first := r.engine.Read(ctx, name)
	if first == nil {
		return reading{Installed: found[0]}, nil
	}
	if _, err := r.engine.Time(ctx); err != nil {
		return reading{}, redisTrouble(err)
	}
	found, second := r.engine.Read(ctx, name)
	switch {
	case second == nil:
		return reading{Installed: found[0]}, nil
	case !mayBeDamage(second) || first.Error() != second.Error():
		return reading{}, redisTrouble(second)
	}
	alien := isReply(second)
	present := bucket.Installed{Present: true, Definition: bucket.Definition{Name: name}}
	return reading{Installed: present, damaged: !alien, alien: alien}, nil
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
