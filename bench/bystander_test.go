package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// felt is what others feel of a run: how long a PING took that was sent every
// millisecond on a connection of its own, and how long Redis was busy with single
// commands.
type felt struct {
	pings []time.Duration
	// scripts is what Redis tells of the durations of EVALSHA; empty where none
	// ran or Redis is older than 7.
	scriptP50, scriptP99 time.Duration
	// worst is the longest command of at least a millisecond; 0 when none was.
	worst     time.Duration
	worstName string
}

// watch notes what others feel while f runs.
func watch(b *testing.B, server *inspecttest.Server, f func()) felt {
	b.Helper()
	ctx := context.Background()
	rdb := server.Client()
	must(b, rdb.ConfigSet(ctx, "slowlog-log-slower-than", "1000").Err())
	must(b, rdb.ConfigSet(ctx, "slowlog-max-len", "100000").Err())
	must(b, rdb.Do(ctx, "SLOWLOG", "RESET").Err())
	must(b, rdb.ConfigResetStat(ctx).Err())
	stop := make(chan struct{})
	pings := make(chan []time.Duration, 1)
	conn, err := net.Dial(server.Network, server.Addr)
	must(b, err)
	defer conn.Close()
	go func() { pings <- pingUntil(conn, stop) }()
	f()
	close(stop)
	seen := felt{pings: <-pings}
	if len(seen.pings) == 0 {
		b.Fatal("no PING was answered")
	}
	seen.readSlowlog(b, rdb)
	seen.readLatency(b, rdb)
	return seen
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// pingUntil sends a PING every millisecond. An error ends it early.
func pingUntil(conn net.Conn, stop <-chan struct{}) (took []time.Duration) {
	answers := bufio.NewReader(conn)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return took
		case <-tick.C:
		}
		began := time.Now()
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			return took
		}
		if _, err := answers.ReadString('\n'); err != nil {
			return took
		}
		took = append(took, time.Since(began))
	}
}

func (f *felt) readSlowlog(b *testing.B, rdb *redis.Client) {
	b.Helper()
	entries, err := rdb.SlowLogGet(context.Background(), -1).Result()
	must(b, err)
	for _, e := range entries {
		name := strings.ToUpper(e.Args[0])
		if e.Duration > f.worst && name != "SLOWLOG" && name != "CONFIG" {
			f.worst, f.worstName = e.Duration, name
		}
	}
}

// readLatency reads a line such as
// latency_percentiles_usec_evalsha:p50=103.423,p99=288.767,p99.9=288.767.
func (f *felt) readLatency(b *testing.B, rdb *redis.Client) {
	b.Helper()
	text, err := rdb.Info(context.Background(), "latencystats").Result()
	must(b, err)
	for line := range strings.Lines(text) {
		values, ok := strings.CutPrefix(strings.TrimSpace(line), "latency_percentiles_usec_evalsha:")
		if !ok {
			continue
		}
		for field := range strings.SplitSeq(values, ",") {
			name, value, _ := strings.Cut(field, "=")
			micros, err := strconv.ParseFloat(value, 64)
			must(b, err)
			d := time.Duration(micros * float64(time.Microsecond))
			switch name {
			case "p50":
				f.scriptP50 = d
			case "p99":
				f.scriptP99 = d
			}
		}
	}
}

// merged is the rounds of one variant together.
func merged(rounds []felt) felt {
	var all felt
	for _, f := range rounds {
		all.pings = append(all.pings, f.pings...)
		all.scriptP50 = max(all.scriptP50, f.scriptP50)
		all.scriptP99 = max(all.scriptP99, f.scriptP99)
		if f.worst > all.worst {
			all.worst, all.worstName = f.worst, f.worstName
		}
	}
	return all
}

func (f felt) worstText() string {
	if f.worst == 0 {
		return "< 1 ms"
	}
	return fmt.Sprintf("%s %s", millis(f.worst), f.worstName)
}
