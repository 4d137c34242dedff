package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
)

// exampleClient connects a client to a Redis that has the given buckets and, full, that of two permits called
// "partner-api". Call end when done.
func exampleClient(definitions ...bucket.Definition) (c *client.Client, end func()) {
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("partner-api")})
	for _, d := range definitions {
		if _, err := bucket.New(rdb, "").Install(context.Background(), d, bucket.InstallOptions{Deployment: deployment}); err != nil {
			log.Fatal(err)
		}
	}
	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		_ = rdb.Close()
	}
}

// Wait takes its turn. A token bucket with max_permits 1 is a leaky bucket: what goes through does so at a constant rate,
// here one in 20 ms.
func ExampleClient_Wait() {
	ctx := context.Background()
	c, end := exampleClient(waiting("sms", 1, 20*time.Millisecond, 10*time.Second))
	defer end()

	began := time.Now()
	for i := range 3 {
		d, err := c.Wait(ctx, "sms", client.MaxWait(5*time.Second))
		if err != nil {
			log.Fatal(err) // misuse, or ctx is done
		}
		fmt.Println(d.Outcome, time.Since(began) >= time.Duration(i)*19*time.Millisecond)
	}
	// Output:
	// granted true
	// granted true
	// granted true
}

// A turn that can't come in time is refused at once, and costs nothing.
func ExampleMaxWait() {
	ctx := context.Background()
	c, end := exampleClient(waiting("reports", 1, time.Hour, 10*time.Second))
	defer end()

	for range 2 {
		d, err := c.Wait(ctx, "reports", client.MaxWait(2*time.Second))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Outcome, "next in", d.RetryAfter.Round(time.Minute))
	}
	// Output:
	// granted next in 0s
	// limited next in 1h0m0s
}

// Two limits on one call: so many of everybody together, and so many of each user. If one refuses, nothing is taken of
// the other.
func ExampleClient_AcquireAll() {
	ctx := context.Background()
	perUser := definition("per-user", 2, 1, time.Hour)
	perUser.Partition = bucket.PartitionKey
	c, end := exampleClient(definition("everybody", 3000, 300, time.Second), perUser)
	defer end()

	for range 3 {
		ds, err := c.AcquireAll(ctx, client.Request{Bucket: "everybody"}, client.Request{Bucket: "per-user", Key: "user:42"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(client.AllAllowed(ds))
		for _, d := range ds {
			if d.Bucket == "per-user" {
				fmt.Println(" ", d.Bucket, d.Outcome, d.Remaining, "of", d.Limit)
			}
		}
	}
	// Output:
	// true
	//   per-user granted 1 of 2
	// true
	//   per-user granted 0 of 2
	// false
	//   per-user limited 0 of 2
}

// At most so many exports at once, in all processes together.
func ExampleClient_Enter() {
	ctx := context.Background()
	c, end := exampleClient(leased("exports", 1, 30*time.Second))
	defer end()

	lease, d, err := c.Enter(ctx, "exports")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Outcome)
	_, second, err := c.Enter(ctx, "exports")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Outcome, second.Remaining, "of", second.Limit, "free")

	lease.Release()
	<-lease.Context().Done() // the work's context, for it ends also when the lease is lost
	fmt.Println(context.Cause(lease.Context()))
	// Output:
	// granted
	// limited 0 of 1 free
	// headgate: the lease was released
}

// MaxWait makes Enter wait for a slot.
func ExampleClient_Enter_wait() {
	ctx := context.Background()
	c, end := exampleClient(leased("exports", 1, 30*time.Second))
	defer end()

	first, _, err := c.Enter(ctx, "exports")
	if err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, first.Release)
	second, d, err := c.Enter(ctx, "exports", client.MaxWait(5*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Outcome)
	second.Release()
	// Output:
	// granted
}

// Reject refuses at once.
func ExampleReject() {
	ctx := context.Background()
	c, end := exampleClient()
	defer end()

	work := func(context.Context) error { fmt.Println("called the partner"); return nil }
	for range 3 {
		err := c.Do(ctx, "partner-api", work, client.Reject())
		var limited *client.LimitedError
		if errors.As(err, &limited) {
			fmt.Println(limited.Decision.Outcome, "for", limited.Decision.RetryAfter.Round(time.Hour))
		}
	}
	// Output:
	// called the partner
	// called the partner
	// limited for 1h0m0s
}

// WaitUpTo queues: the work is done at its turn.
func ExampleWaitUpTo() {
	ctx := context.Background()
	c, end := exampleClient(waiting("sms", 1, 10*time.Millisecond, 10*time.Second))
	defer end()

	for i := range 3 {
		send := func(context.Context) error { fmt.Println("sent", i); return nil }
		if err := c.Do(ctx, "sms", send, client.WaitUpTo(5*time.Second)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// sent 0
	// sent 1
	// sent 2
}

// Fallback degrades.
func ExampleFallback() {
	ctx := context.Background()
	c, end := exampleClient()
	defer end()

	fresh := func(context.Context) error { fmt.Println("the price of now"); return nil }
	cached := func(context.Context) error { fmt.Println("the price of a minute ago"); return nil }
	for range 3 {
		if err := c.Do(ctx, "partner-api", fresh, client.Fallback(cached)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// the price of now
	// the price of now
	// the price of a minute ago
}

// Custom lets a function of one's own decide by the Decision.
func ExampleCustom() {
	ctx := context.Background()
	c, end := exampleClient()
	defer end()

	work := func(context.Context) error { fmt.Println("done"); return nil }
	later := func(_ context.Context, d client.Decision) error {
		fmt.Println("put off by", d.RetryAfter.Round(time.Hour))
		return nil
	}
	for range 3 {
		if err := c.Do(ctx, "partner-api", work, client.Custom(later)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// done
	// done
	// put off by 1h0m0s
}

// Stats tells what this client asked and how Redis is.
func ExampleClient_Stats() {
	ctx := context.Background()
	c, end := exampleClient()
	defer end()

	for range 3 {
		if _, err := c.Acquire(ctx, "partner-api"); err != nil {
			log.Fatal(err)
		}
	}
	used := c.Stats().Buckets["partner-api"]
	fmt.Println(used.Granted, "granted,", used.Limited, "limited, by revision", used.Revision)
	// Output:
	// 2 granted, 1 limited, by revision 1
}
