package bucket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// TestLeasesAndHeartbeatsOnACluster: every command's keys share a slot, and one beat reaches all nodes.
func TestLeasesAndHeartbeatsOnACluster(t *testing.T) {
	e := &env{Engine: bucket.New(testenv.Cluster(t, testenv.ClusterReplicas(0)).Client(t), "")}
	d := leased(1, time.Minute)
	d.Partition, d.Shards = bucket.PartitionKey, 8
	e.install(t, d)
	var calls []bucket.LeaseCall
	var questions []bucket.Question
	for i := range 100 {
		calls = append(calls, e.leaseCall(t, d, fmt.Sprint("key-", i), enter("a"), enter("b")))
	}
	for i := range calls {
		questions = append(questions, &calls[i])
	}
	check(t, e.Ask(t.Context(), questions...))
	for i := range calls {
		check(t, calls[i].Err)
		expect(t, "codes", fmt.Sprint(calls[i].Results[0].Code, calls[i].Results[1].Code), "1 -1")
	}

	var locals []string
	for i := range 30 {
		locals = append(locals, fmt.Sprint("b-", i))
	}
	e.beat(t, "one", locals...)
	live := e.beat(t, "two", locals...)
	for _, name := range locals {
		expect(t, "live of "+name, live[name], 2)
	}
	expect(t, "instances", len(e.instances(t)), 2)
	check(t, e.Leave(t.Context(), "one", locals))
	expect(t, "live after a leave", e.beat(t, "two", locals...)["b-29"], 1)
}
