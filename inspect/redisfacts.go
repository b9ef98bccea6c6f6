package inspect

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// RedisFacts is what a server says of itself. What it does not say, or an ACL
// hides, is the zero value. In a cluster they are one node's, but for
// EvictedKeys and MaxmemoryPolicy, which speak for all masters.
type RedisFacts struct {
	Mode    string // standalone, sentinel or cluster: how it is spoken to
	Addr    string // without secrets
	Version string
	Valkey  bool
	RunID   string // changes with every start of the server
	Role    string // master, replica or ""

	// MaxmemoryPolicy is such as "noeviction"; "" when it is not visible. Any
	// other policy lets Redis drop tasks and locks.
	MaxmemoryPolicy string
	// EvictedKeys counts keys dropped for want of memory since the start.
	EvictedKeys int64

	User string // ACL WHOAMI
}

// Redis asks the server about itself. Only a connection that fails is an error;
// facts that are refused stay empty.
func (c *Client) Redis(ctx context.Context) (RedisFacts, error) {
	f := RedisFacts{Mode: c.target.mode.String(), Addr: c.target.address()}
	err := c.eachMaster(ctx, f.add)
	if err != nil {
		return f, c.fault(ctx, "asking for server facts", err)
	}
	return f, nil
}

// String is the word that RedisFacts uses.
func (m mode) String() string {
	switch m {
	case modeSentinel:
		return "sentinel"
	case modeCluster:
		return "cluster"
	default:
		return "standalone"
	}
}

// commander is one server, or a client that stands for it.
type commander interface {
	redis.Cmdable
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// eachMaster calls f for every master of a cluster one after the other, or for
// the one server.
func (c *Client) eachMaster(ctx context.Context, f func(context.Context, commander) error) error {
	cluster, ok := c.redis.(*redis.ClusterClient)
	if !ok {
		return f(ctx, c.redis)
	}
	serial := make(chan struct{}, 1)
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		serial <- struct{}{}
		defer func() { <-serial }()
		return f(ctx, node)
	})
}

// add asks for a section at a time: miniredis knows no other form, and an ACL
// refuses all or nothing.
func (f *RedisFacts) add(ctx context.Context, node commander) error {
	for _, section := range []string{"server", "replication", "memory", "stats"} {
		text, err := node.Info(ctx, section).Result()
		if err != nil && !isReply(err) {
			return err
		}
		f.addSection(text)
	}
	user, err := node.Do(ctx, "acl", "whoami").Text()
	if err != nil && !isReply(err) {
		return err
	}
	if err == nil {
		f.User = user
	}
	return nil
}

// addSection reads the lines of one INFO section.
func (f *RedisFacts) addSection(text string) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		switch name {
		case "redis_version":
			if !f.Valkey {
				f.Version = value
			}
		case "valkey_version":
			f.Valkey, f.Version = true, value
		case "run_id":
			f.RunID = value
		case "role":
			f.Role = strings.ReplaceAll(value, "slave", "replica")
		case "maxmemory_policy":
			if f.MaxmemoryPolicy == "" || value != "noeviction" {
				f.MaxmemoryPolicy = value
			}
		case "evicted_keys":
			n, _ := strconv.ParseInt(value, 10, 64)
			f.EvictedKeys += n
		}
	}
}
