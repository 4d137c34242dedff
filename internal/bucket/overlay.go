package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Overlay lies over all definitions without changing any: where it covers an app, that app's clients take mode enforce for
// shadow. It stands in one key, which clients look at once a second, so it costs decisions nothing and reaches 10,000
// buckets as fast as one.
type Overlay struct {
	All  bool     // covers every app
	Apps []string // covered by name, sorted
}

// Covers tells whether the calls of an app are covered.
func (o Overlay) Covers(app string) bool { return o.All || slices.Contains(o.Apps, app) }

// Equal tells whether two overlays cover the same, in the same words.
func (o Overlay) Equal(other Overlay) bool {
	return o.All == other.All && slices.Equal(o.Apps, other.Apps)
}

// overlayFormat is the version of the key's text. A client keeps to what it knew when it finds another.
const overlayFormat = 1

type overlayText struct {
	Format int      `json:"v"`
	All    bool     `json:"all"`
	Apps   []string `json:"apps,omitempty"`
}

// ReadOverlay returns the overlay that Redis has. stands is false where Redis has none: nobody ever set one, or it was
// lost; then what was known before still holds, for the end of an overlay is written too. A text that this version does
// not know is an error.
func (e *Engine) ReadOverlay(ctx context.Context) (o Overlay, stands bool, err error) {
	if e.broken != nil {
		return Overlay{}, false, e.broken
	}
	text, err := e.rdb.Get(ctx, e.keys.overlay()).Result()
	if errors.Is(err, redis.Nil) {
		return Overlay{}, false, nil
	}
	if err != nil {
		return Overlay{}, false, fmt.Errorf("read the overlay: %w", err)
	}
	var t overlayText
	if json.Unmarshal([]byte(text), &t) != nil || t.Format != overlayFormat {
		return Overlay{}, false, fmt.Errorf("read the overlay: %w", ErrUnknownFormat)
	}
	return Overlay{All: t.All, Apps: t.Apps}, true, nil
}

// WriteOverlay makes o the overlay; an empty one says that none is in force. Apps must be names.
func (e *Engine) WriteOverlay(ctx context.Context, o Overlay) error {
	if e.broken != nil {
		return e.broken
	}
	for _, app := range o.Apps {
		if !validName(app) {
			return invalid("app", nameRule)
		}
	}
	text, err := json.Marshal(overlayText{overlayFormat, o.All, o.Apps})
	if err != nil {
		return err
	}
	if err := e.rdb.Set(ctx, e.keys.overlay(), text, 0).Err(); err != nil {
		return fmt.Errorf("write the overlay: %w", err)
	}
	return nil
}
