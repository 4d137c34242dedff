package model

// SyncHead is what reconcile needs to know of a bucket that it need not compare: SyncRow without the bucket.
type SyncHead struct {
	Name              string
	Revision          int64
	Deleted           bool
	Shards            int
	InstalledRevision int64
	Mark              int64
}

// Installed says that Redis has a revision of a bucket, and which marking of the outbox that settles.
type Installed struct {
	Name     string
	Revision int64
	Mark     int64
}
