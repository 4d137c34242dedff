package topology_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/bucket"
	"github.com/headgate/headgate/internal/testenv"
)

// A bucket that counts by key is spread over the masters by its shards: of the calls for a thousand random keys each of
// three masters runs at least a fifth, and every key keeps its own limit.
func TestShardsSpreadTheKeysOfABucketOverAllMasters(t *testing.T) {
	for _, partition := range []string{bucket.PartitionKey, bucket.PartitionAppKey} {
		t.Run(partition, func(t *testing.T) {
			c := testenv.Cluster(t, testenv.ClusterReplicas(0))
			w := at(t, c.Client(t), patient)
			d := keyed("b", 2, 1, time.Hour)
			d.Partition, d.Shards = partition, 64
			w.install(d)
			before := c.CommandCounts(t)
			const keys = 1000
			for range keys {
				key := client.Key(fmt.Sprintf("user:%x", rand.Uint64()))
				wants(t, w.acquire("b", key, client.Permits(2)), client.Granted, true)
				wants(t, w.acquire("b", key), client.Limited, false)
			}
			var total int64
			ran := c.CommandCounts(t)
			for addr := range ran {
				ran[addr] -= before[addr]
				total += ran[addr]
			}
			if len(ran) != 3 || total == 0 {
				t.Fatalf("script calls by master: %v", ran)
			}
			for addr, n := range ran {
				if n*5 < total {
					t.Errorf("%s ran %d of %d script calls", addr, n, total)
				}
			}
		})
	}
}
