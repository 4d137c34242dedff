package bucket

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/redis/go-redis/v9"
)

// Claim makes the deployment the owner of this Redis if it has none, and returns the owner: equal to deployment when
// it is ours.
func (e *Engine) Claim(ctx context.Context, deployment string) (owner string, err error) {
	if err := e.checkDeployment(deployment); err != nil {
		return "", err
	}
	owner, err = e.rdb.Get(ctx, e.keys.owner()).Result()
	if errors.Is(err, redis.Nil) {
		if err := e.rdb.SetNX(ctx, e.keys.owner(), deployment, 0).Err(); err != nil {
			return "", fmt.Errorf("claim Redis: %w", err)
		}
		owner, err = e.rdb.Get(ctx, e.keys.owner()).Result()
	}
	if err != nil {
		return "", fmt.Errorf("read the owner of Redis: %w", err)
	}
	return owner, nil
}

// Owner is the deployment that owns this Redis, "" while none does.
func (e *Engine) Owner(ctx context.Context) (string, error) {
	if e.broken != nil {
		return "", e.broken
	}
	owner, err := e.rdb.Get(ctx, e.keys.owner()).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("read the owner of Redis: %w", err)
	}
	return owner, nil
}

// Adopt makes the deployment the owner of this Redis and of every definition in the index, whoever had them before.
func (e *Engine) Adopt(ctx context.Context, deployment string) error {
	if err := e.checkDeployment(deployment); err != nil {
		return err
	}
	if err := e.rdb.Set(ctx, e.keys.owner(), deployment, 0).Err(); err != nil {
		return fmt.Errorf("adopt Redis: %w", err)
	}
	names, err := e.IndexedNames(ctx)
	if err != nil {
		return err
	}
	var unknown []error
	for _, name := range names {
		known, err := e.adoptOne(ctx, name, deployment)
		if err != nil {
			return wrap(err, "adopt", name)
		}
		if !known {
			unknown = append(unknown, wrap(ErrUnknownFormat, "adopt", name))
		}
	}
	return errors.Join(unknown...)
}

// adoptOne adopts every copy of a definition; known is false when one has a format that this version does not know.
func (e *Engine) adoptOne(ctx context.Context, name, deployment string) (known bool, err error) {
	copies, err := e.copiesOf(ctx, name)
	if err != nil {
		return false, err
	}
	known = true
	for _, definition := range copies {
		reply, err := e.run(ctx, adoptScript, []string{definition}, deployment)
		if err != nil {
			return false, err
		}
		known = known && reply != int64(wireUnknownFormat)
	}
	return known, nil
}

// ErrUnknownFormat means that a newer version wrote what this one was to change.
var ErrUnknownFormat = errors.New("it has a format that this version does not know")

func (e *Engine) checkDeployment(deployment string) error {
	if e.broken != nil {
		return e.broken
	}
	if deployment == "" {
		return invalid("deployment", "must not be empty")
	}
	return nil
}

// IndexedNames returns the names of the installed buckets, sorted. Install and Remove keep the index; a crash between
// the two steps of either can leave a name too many, or of a bucket recreated at that instant one too few until its
// next Install.
func (e *Engine) IndexedNames(ctx context.Context) ([]string, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	names, err := e.rdb.SMembers(ctx, e.keys.index()).Result()
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	sort.Strings(names)
	return names, nil
}
