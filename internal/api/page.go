package api

import (
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Paged is embedded in the input of lists.
type Paged struct {
	Cursor string `query:"cursor" maxLength:"1000" doc:"next of the page before, under the same filters and order"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"the most items of one page"`
}

// List is one page of a list.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next" doc:"cursor of the next page; empty on the last"`
}

// listed is the answer with one page.
type listed[T any] struct{ Body List[T] }

// listOf shows each item of a page.
func listOf[T, V any](page model.Page[T], show func(T) V) *listed[V] {
	items := make([]V, len(page.Items))
	for i, item := range page.Items {
		items[i] = show(item)
	}
	return &listed[V]{Body: List[V]{Items: items, Next: page.Next}}
}

// versioned is an answer with one resource and its revision as ETag.
type versioned[T any] struct {
	ETag string `header:"ETag" doc:"the revision in quotes, for If-Match"`
	Body T
}

// Named is embedded in the input of everything about one named thing.
type Named struct {
	Name string `path:"name"`
}

// utc brings a stored time into the one form of the API: RFC 3339 in UTC.
func utc(t time.Time) time.Time { return t.UTC() }
