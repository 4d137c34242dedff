package clientprom_test

import (
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/client/clientprom"
)

func ExampleNew() {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(rdb, "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(clientprom.New(c))

	metrics, err := registry.Gather() // what promhttp does at each scrape
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(metrics[0].GetName(), metrics[0].GetMetric()[0].GetGauge().GetValue())
	// Output: headgate_client_breakers 1
}
