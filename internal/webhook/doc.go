// Package webhook tells operators' endpoints what changed. It delivers straight from the change log, in the order of the
// changes' ids, one by one for each endpoint, but for alerts that come together, which go together. Where an endpoint stands
// is one number in the database, so nothing is queued and an endpoint that is slow or away holds up neither edits nor other
// endpoints. What is delivered is signed; it comes at least once, and its ids tell repetitions.
package webhook
