// Package clientprom shows what a client did as Prometheus metrics.
//
//	prometheus.MustRegister(clientprom.New(c))
//
// The figures are those of [client.Client.Stats], read when they are scraped; calls pay nothing for them. All have the
// constant label app. The label bucket takes the names of buckets that exist for that app, and nothing that a caller
// hands over, such as a key, ever is a label; for the keys that are limited most see [client.Client.TopLimited].
//
// Several clients of one app in one registry need a label that tells them apart: prometheus.WrapRegistererWith.
package clientprom
