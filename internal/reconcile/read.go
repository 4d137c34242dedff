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
	alien bool // something that is no definition at all
}

// read reads what Redis has under the names, in their order. A key that is no definition costs the others nothing: the list
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
	case !isAlien(err):
		return nil, redisTrouble(err)
	case len(names) == 1:
		present := bucket.Installed{Present: true, Definition: bucket.Definition{Name: names[0]}}
		return []reading{{Installed: present, alien: true}}, nil
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

// isAlien tells whether an error says that a key holds a value of another type than Headgate's.
func isAlien(err error) bool { return isReply(err) && strings.Contains(err.Error(), "WRONGTYPE") }

// isReply tells whether Redis answered, with an error, from its not answering.
func isReply(err error) bool {
	var reply interface {
		error
		RedisError() // marks the error replies in go-redis
	}
	return errors.As(err, &reply)
}
