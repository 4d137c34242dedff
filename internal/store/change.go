package store

import (
	"context"

	"github.com/headgate/headgate/internal/model"
)

// AppendChange adds a change row for what is no write of the store itself: a login, a refused attempt, an export. The
// store sets ID, and At when it is zero; texts beyond their bounds are cut.
func (s *Store) AppendChange(ctx context.Context, c model.Change) error { return errNotYet }

// Changes lists the history, newest first. CodeInvalid naming the field of the query.
func (s *Store) Changes(ctx context.Context, q model.ChangeQuery) (model.Page[model.Change], error) {
	return model.Page[model.Change]{}, errNotYet
}
