// Package client acquires permits from Headgate's buckets. It talks to Redis directly; the admin server is not involved.
//
//	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
//	defer rdb.Close()
//	c, err := client.New(rdb, "checkout") // the app's name in Headgate
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer c.Close()
//
//	d, err := c.Acquire(ctx, "partner-api", client.Permits(1), client.Key("user:42"))
//	switch {
//	case err != nil: // misuse, or ctx is done
//		return err
//	case !d.Allowed:
//		return fmt.Errorf("%s: %s, try again in %v", d.Bucket, d.Outcome, d.RetryAfter)
//	}
//
// A Decision is the answer to every question about a limit; a limit, a bucket that nobody configured and a Redis that is
// away are no errors. Errors mean misuse (a *MisuseError that says what to do) or a context that is done.
//
// When Redis gives no verdict within the deadline (100 ms unless WithDeadline says otherwise, whatever the Redis client's
// own timeouts are), the bucket's failure policy answers: open, closed, or local, by which this process enforces its
// share of the limit itself. After three calls in a row without an answer Redis is not asked any more, calls are answered
// within microseconds, and a probe in the background finds out when it is back. A script that may have run is never sent
// again, so no permit is taken twice; one whose answer came too late may have taken permits that nobody used.
//
// Beside Acquire there are Wait, which waits for its turn; AcquireAll, which takes permits of several buckets or of none;
// Enter, which holds a slot of a bucket that limits concurrent work; and Do, which wraps work in any of these with a
// Strategy for refusals. All options are values.
//
// Calls that are made at the same time travel together, and what Redis has just refused is refused in this process, for
// at most 250 ms.
//
// Use one Client a process and app, and Close it at the end: it reports usage once a second and Close reports the rest,
// releases the leases and says that the process is gone.
package client
