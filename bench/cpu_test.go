package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// Time on the wall says as much about the neighbours as about a variant. The time
// that processors spent on it, in the client and in both servers, is sturdier.

// cpu is processor time, user and system, by who spent it; 0 where the system does
// not tell.
type cpu struct{ client, redis, postgres time.Duration }

func (c cpu) sum() time.Duration { return c.client + c.redis + c.postgres }

func (c cpu) scaled(by float64) cpu {
	times := func(d time.Duration) time.Duration { return time.Duration(float64(d) * by) }
	return cpu{times(c.client), times(c.redis), times(c.postgres)}
}

// serverCPU is what both servers have used since they were started.
func serverCPU(b *testing.B, server *inspecttest.Server, db *reconciletest.Database) cpu {
	b.Helper()
	awaitIdle(b, db)
	return cpu{redis: redisCPU(b, server), postgres: postgresCPU(db)}
}

func redisCPU(b *testing.B, server *inspecttest.Server) (used time.Duration) {
	b.Helper()
	text, err := server.Client().Info(context.Background(), "cpu").Result()
	must(b, err)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "used_cpu_user" && name != "used_cpu_sys" {
			continue
		}
		seconds, err := strconv.ParseFloat(value, 64)
		must(b, err)
		used += time.Duration(seconds * float64(time.Second))
	}
	return used
}

// awaitIdle waits until the backends of the last run have ended.
func awaitIdle(b *testing.B, db *reconciletest.Database) {
	b.Helper()
	const others = `(SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid())`
	for range 500 {
		if db.Value(others) == "0" {
			// The server counts their time as its own once it has waited for
			// them, which is a little later.
			time.Sleep(200 * time.Millisecond)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("a connection of the last run is still open")
}

// clockTick is the unit of /proc/PID/stat, the same on every Linux.
const clockTick = time.Second / 100

// postgresCPU is what the server used together with its ended backends; 0 where
// there is no /proc.
func postgresCPU(db *reconciletest.Database) time.Duration {
	pidFile, err := os.ReadFile(db.Value("current_setting('data_directory')") + "/postmaster.pid")
	if err != nil {
		return 0
	}
	pid, _, _ := bytes.Cut(pidFile, []byte("\n"))
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything, so fields are counted behind
	// it: utime, stime, cutime and cstime are the 14th to 17th (proc_pid_stat(5)).
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0
	}
	var used time.Duration
	for _, field := range fields[11:15] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		used += time.Duration(ticks) * clockTick
	}
	return used
}

// load is the system's load average over the last minute; "unknown" where it
// does not tell.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
