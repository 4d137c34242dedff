// Package alert tells the owners of buckets when a share that they set is reached for as long as they set, and when that is
// over: it judges each whole minute of usage. What it finds the store keeps and tells, in one transaction, so that of
// several servers side by side one tells; webhooks deliver it from the change log.
package alert
