// Package clientotel shows what a client did to OpenTelemetry: as metrics, and on traces.
//
//	_, err := clientotel.Register(provider.Meter("headgate"), c)
//
// The figures are those of [client.Client.Stats], read when metrics are collected; calls pay nothing for them. All have
// the attribute headgate.app. The attribute headgate.bucket takes the names of buckets that exist for that app, and
// nothing that a caller hands over, such as a key, ever is an attribute, of a metric or of a span.
package clientotel
