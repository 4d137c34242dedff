package api

import (
	"context"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// Label is one label with the number of buckets that have it, of those that the caller may see.
type Label struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Buckets int64  `json:"buckets"`
}

// Labels are the labels by key and value.
type Labels struct {
	Items    []Label `json:"items"`
	Complete bool    `json:"complete" doc:"there are no others; false: search to find the rest"`
}

func (s *server) bucketLabels(ctx context.Context, in *struct {
	Search string `query:"search" doc:"part of the key, of the value, or of both as key=value"`
	Limit  int    `query:"limit" minimum:"1" maximum:"499" default:"200"`
}) (*struct{ Body Labels }, error) {
	// One more than shown tells whether there are more.
	found, err := s.Store.BucketLabels(ctx, model.LabelQuery{
		Viewer: viewer(principalOf(ctx), auth.BucketSee), Search: in.Search, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	shown := found[:min(len(found), in.Limit)]
	body := Labels{Items: make([]Label, len(shown)), Complete: len(found) <= in.Limit}
	for i, l := range shown {
		body.Items[i] = Label{Key: l.Key, Value: l.Value, Buckets: l.Buckets}
	}
	return &struct{ Body Labels }{body}, nil
}
