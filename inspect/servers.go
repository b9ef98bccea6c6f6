package inspect

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/encoding/protowire"
)

// Server is a running asynq server, as its last heartbeat described it (at most
// 5 s ago; asynq heartbeat.go).
type Server struct {
	ID             string
	Host           string
	PID            int
	Concurrency    int
	Queues         map[string]int // priorities by queue
	StrictPriority bool
	Status         string // active, stopped or closed; a server that is not active takes no tasks
	StartedAt      time.Time
	ActiveWorkers  int // as the server counts; Workers are what could be read of them
	ExpiresAt      time.Time
	Workers        []Worker
}

// Worker is an attempt under way.
type Worker struct {
	Server    string // ID
	Ref       Ref
	Type      string
	StartedAt time.Time
	Deadline  time.Time // zero: none
}

// Servers lists the running servers and what they work on, sorted by ID. It
// reads what Inspector.Servers reads, which also removes entries that have
// expired; those are left out here, and left alone. Entries that cannot be decoded
// are left out too, as asynq does.
func (c *Client) Servers(ctx context.Context) ([]Server, error) {
	servers, err := c.servers(ctx)
	return servers, c.fault(ctx, "listing servers", err)
}

func (c *Client) servers(ctx context.Context) ([]Server, error) {
	entries, err := c.unexpired(ctx, keyServers)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	pipe := c.redis.Pipeline()
	details := make([]*redis.StringCmd, len(entries))
	workers := make([]*redis.StringSliceCmd, len(entries))
	for i, e := range entries {
		details[i] = pipe.Get(ctx, e.key)
		workers[i] = pipe.HVals(ctx, strings.Replace(e.key, keyServers, keyWorkers, 1))
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	var servers []Server
	for i, e := range entries {
		s, err := decodeServer([]byte(details[i].Val()))
		if details[i].Err() != nil || err != nil {
			continue
		}
		s.ExpiresAt = e.expires
		s.Workers = decodeWorkers(workers[i].Val())
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b Server) int { return cmp.Compare(a.ID, b.ID) })
	return servers, nil
}

// entry is a member of asynq:servers or asynq:schedulers.
type entry struct {
	key     string
	expires time.Time
}

// unexpired lists the members of a set that is scored by expiry. Its scores are
// by the clocks of the servers; entries vanish by Redis's own.
func (c *Client) unexpired(ctx context.Context, set string) ([]entry, error) {
	now, err := c.redis.Time(ctx).Result()
	if refused(err) {
		now, err = time.Now(), nil
	}
	if err != nil {
		return nil, err
	}
	members, err := c.redis.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
		Key: set, ByScore: true, Start: strconv.FormatInt(now.Unix(), 10), Stop: "+inf",
	}).Result()
	if failure(err) {
		return nil, err
	}
	var entries []entry
	for _, z := range members {
		// A member names a key; one that is not asynq's is not asked for.
		if key, _ := z.Member.(string); strings.HasPrefix(key, set+":{") {
			entries = append(entries, entry{key: key, expires: time.Unix(int64(z.Score), 0)})
		}
	}
	return entries, nil
}

// decodeServer reads a ServerInfo (asynq internal/proto/asynq.proto).
func decodeServer(b []byte) (Server, error) {
	s := Server{Queues: make(map[string]int)}
	err := eachField(b, func(number protowire.Number, n uint64, v []byte) (err error) {
		switch number {
		case 1:
			s.Host = string(v)
		case 2:
			s.PID = int(int32(n))
		case 3:
			s.ID = string(v)
		case 4:
			s.Concurrency = int(int32(n))
		case 5:
			err = s.addQueue(v)
		case 6:
			s.StrictPriority = n != 0
		case 7:
			s.Status = string(v)
		case 8:
			s.StartedAt, err = timestamp(v)
		case 9:
			s.ActiveWorkers = int(int32(n))
		}
		return err
	})
	return s, err
}

// addQueue reads one entry of the map of priorities.
func (s *Server) addQueue(b []byte) error {
	var name string
	var priority int
	err := eachField(b, func(number protowire.Number, n uint64, v []byte) error {
		switch number {
		case 1:
			name = string(v)
		case 2:
			priority = int(int32(n))
		}
		return nil
	})
	s.Queues[name] = priority
	return err
}

// decodeWorkers reads WorkerInfos, but for those that cannot be read.
func decodeWorkers(values []string) []Worker {
	var workers []Worker
	for _, v := range values {
		if w, err := decodeWorker([]byte(v)); err == nil {
			workers = append(workers, w)
		}
	}
	slices.SortFunc(workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(a.Ref.Queue, b.Ref.Queue), cmp.Compare(a.Ref.ID, b.Ref.ID))
	})
	return workers
}

func decodeWorker(b []byte) (Worker, error) {
	var w Worker
	err := eachField(b, func(number protowire.Number, _ uint64, v []byte) (err error) {
		switch number {
		case 3:
			w.Server = string(v)
		case 4:
			w.Ref.ID = string(v)
		case 5:
			w.Type = string(v)
		case 7:
			w.Ref.Queue = string(v)
		case 8:
			w.StartedAt, err = timestamp(v)
		case 9:
			w.Deadline, err = timestamp(v)
		}
		return err
	})
	return w, err
}
