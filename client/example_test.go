package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
)

// The first call: one permit of a bucket that holds two and gets another every hour.
func Example() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("partner-api")})
	defer func() { _ = rdb.Close() }()

	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	for range 3 {
		d, err := c.Acquire(ctx, "partner-api")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Outcome, d.Allowed, d.Remaining, "of", d.Limit)
	}
	// Output:
	// granted true 1 of 2
	// granted true 0 of 2
	// limited false 0 of 2
}

// A bucket with partition key gives every key permits of its own.
func ExampleClient_Acquire_key() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("login")})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	for _, user := range []string{"user:42", "user:42", "user:7"} {
		d, err := c.Acquire(ctx, "login", client.Key(user), client.Permits(2))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user, d.Outcome)
	}
	// Output:
	// user:42 granted
	// user:42 limited
	// user:7 granted
}

// What to do with each outcome.
func ExampleDecision() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("partner-api")})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	for _, permits := range []int64{1, 2, 3} {
		d, err := c.Acquire(ctx, "partner-api", client.Permits(permits))
		if err != nil {
			log.Fatal(err) // misuse, or ctx is done
		}
		switch d.Outcome {
		case client.Granted:
			fmt.Println("go on")
		case client.Limited:
			fmt.Println("try again in", d.RetryAfter.Round(time.Minute))
		case client.TooMany:
			fmt.Println("never: the bucket holds at most", d.Limit)
		case client.NotConfigured:
			fmt.Println("no such bucket for this app")
		case client.Unavailable:
			fmt.Println("Redis gave no verdict:", d.Err, "so the policy decided:", d.Allowed)
		}
	}
	// Output:
	// go on
	// try again in 1h0m0s
	// never: the bucket holds at most 2
}

// Peek looks without taking.
func ExampleClient_Peek() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("partner-api")})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	for range 2 {
		d, err := c.Peek(ctx, "partner-api")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Outcome, d.Remaining, "left")
	}
	// Output:
	// granted 2 left
	// granted 2 left
}

// Preload at the start lets the buckets' own failure policies hold from the first call on.
func ExampleClient_Preload() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: exampleRedis("partner-api")})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(rdb, "checkout",
		client.WithDeadline(50*time.Millisecond),
		client.WithUnknownPolicy(client.Closed),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	fmt.Println(c.Preload(ctx, "partner-api"))
	fmt.Println(errors.Is(c.Preload(ctx, "no-such-bucket"), client.ErrNotConfigured))
	// Output:
	// <nil>
	// true
}
