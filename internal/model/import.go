package model

import "encoding/json"

// Wanted says what apps and buckets there shall be.
type Wanted struct {
	Apps    []WantedApp
	Buckets []WantedBucket
	Prune   bool // what is not named is deleted; else it is left alone
}

// WantedApp is an app as it shall be. Members are those that people give; what groups of the single sign-on give is
// left alone.
type WantedApp struct {
	Name        string
	Description string
	Members     []Member
}

// WantedBucket is a bucket as it shall be.
type WantedBucket struct {
	Name       string
	Definition Definition
}

// ImportStep is what an import did, or would do, to one app or bucket.
type ImportStep struct {
	Kind          TargetKind
	Name          string
	Action        Action
	Revision      int64           // after the step
	Before, After json.RawMessage // of an app or a bucket, with its members; null where there is nothing
}
