package inspecttest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/tied"
)

const (
	clusterNodes = 3
	clusterSlots = 16384
)

// Cluster is a Redis Cluster of three masters.
type Cluster struct {
	Addrs []string

	t      testing.TB
	client *redis.ClusterClient
}

// StartCluster starts the nodes and waits until each finds the cluster whole.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	buses := make([]int, clusterNodes)
	for i := range buses {
		c.Addrs = append(c.Addrs, c.startNode(&buses[i]))
	}
	nodes := make([]*redis.Client, clusterNodes)
	for i, addr := range c.Addrs {
		nodes[i] = redis.NewClient(&redis.Options{Addr: addr})
	}
	defer func() {
		for _, node := range nodes {
			_ = node.Close()
		}
	}()
	c.join(nodes, buses)
	c.await(nodes)
	c.client = redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs, DialTimeout: answerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
	})
	t.Cleanup(func() { _ = c.client.Close() })
	return c
}

// startNode names the bus port, which would otherwise be the port plus 10,000
// and might not exist.
func (c *Cluster) startNode(bus *int) string {
	c.t.Helper()
	proc, port, err := onFreePort(func(port int) (*process, error) {
		var err error
		if *bus, err = tied.FreePort(); err != nil {
			return nil, err
		}
		// A node that is silent while the machine stands still is not to be given up.
		return startOn(port, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(*bus), "--cluster-node-timeout", "60000")
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return owned(c.t, &Server{Network: "tcp", Addr: loopback(port)}, proc).Addr
}

// join gives every node its slots and makes it meet those before it.
func (c *Cluster) join(nodes []*redis.Client, buses []int) {
	c.t.Helper()
	ctx := context.Background()
	for i, node := range nodes {
		from, to := i*clusterSlots/clusterNodes, (i+1)*clusterSlots/clusterNodes-1
		c.must(node.ClusterAddSlotsRange(ctx, from, to).Err())
		c.must(node.Do(ctx, "cluster", "set-config-epoch", i+1).Err())
		for earlier := range i {
			host, port := split(c.t, c.Addrs[earlier])
			c.must(node.Do(ctx, "cluster", "meet", host, port, buses[earlier]).Err())
		}
	}
}

func (c *Cluster) await(nodes []*redis.Client) {
	c.t.Helper()
	ctx := context.Background()
	c.must(eventually(func() error {
		for i, node := range nodes {
			info, err := node.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			if state, known := infoField(info, "cluster_state"), infoField(info, "cluster_known_nodes"); state != "ok" || known != strconv.Itoa(clusterNodes) {
				return fmt.Errorf("node %d: state %s, %s nodes known", i, state, known)
			}
		}
		return nil
	}))
}

func (c *Cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// Client is a plain client of the cluster.
func (c *Cluster) Client() *redis.ClusterClient { return c.client }

// Options is how package inspect reaches the cluster.
func (c *Cluster) Options() inspect.Options {
	return inspect.Options{Cluster: true, ClusterAddrs: c.Addrs, DialTimeout: answerLimit, ReadTimeout: answerLimit}
}

// AsynqOpt is how asynq reaches the cluster.
func (c *Cluster) AsynqOpt() asynq.RedisConnOpt {
	return asynq.RedisClusterClientOpt{Addrs: c.Addrs, DialTimeout: answerLimit, ReadTimeout: answerLimit, WriteTimeout: answerLimit}
}
