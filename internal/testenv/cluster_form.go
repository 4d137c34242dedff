package testenv

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	clusterSlots  = 16384
	clusterUpWait = 40 * time.Second // seen: 3 s; a busy machine takes longer
)

// form makes the nodes one cluster: the first ones masters with a part of the slots each, the others replicas of them
// in turn.
func (c *RedisCluster) form(masters int) error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterUpWait)
	defer cancel()
	ids := make([]string, len(c.Nodes))
	for i, s := range c.Nodes {
		var err error
		if ids[i], err = c.admins[s].ClusterMyID(ctx).Result(); err != nil {
			return err
		}
		// Nodes of the same epoch would first have to settle whose slots count.
		if err := c.admins[s].Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			return err
		}
		if i < masters {
			if err := c.admins[s].ClusterAddSlotsRange(ctx, i*clusterSlots/masters, (i+1)*clusterSlots/masters-1).Err(); err != nil {
				return err
			}
		}
		for _, earlier := range c.Nodes[:i] { // everyone meets everyone, since gossip alone takes seconds
			if err := c.admins[s].ClusterMeet(ctx, "127.0.0.1", strconv.Itoa(earlier.port)).Err(); err != nil {
				return err
			}
		}
	}
	for i := masters; i < len(c.Nodes); i++ {
		err := poll(clusterUpWait, func(ctx context.Context) error { // until the two have met
			return c.admins[c.Nodes[i]].ClusterReplicate(ctx, ids[i%masters]).Err()
		})
		if err != nil {
			return err
		}
	}
	return c.waitWhole()
}

// waitWhole waits until every node knows all the others, finds all slots served, and replicas follow their masters.
func (c *RedisCluster) waitWhole() error {
	for _, s := range c.Nodes {
		err := poll(clusterUpWait, func(ctx context.Context) error {
			info, err := c.admins[s].ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			facts := infoFields(info)
			if facts["cluster_state"] != "ok" || facts["cluster_known_nodes"] != strconv.Itoa(len(c.Nodes)) || facts["cluster_slots_ok"] != strconv.Itoa(clusterSlots) {
				return fmt.Errorf("%s: %s", s.Addr, info)
			}
			return replicates(ctx, c.admins[s])
		})
		if err != nil {
			return err
		}
	}
	for _, s := range c.Nodes {
		if err := poll(clusterUpWait, func(ctx context.Context) error { return streams(ctx, c.admins[s]) }); err != nil {
			return err
		}
	}
	return nil
}

// infoFields reads the "name:value" lines of INFO and CLUSTER INFO.
func infoFields(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[name] = value
		}
	}
	return facts
}
