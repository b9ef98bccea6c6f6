//go:build unix

package reconcile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/idemctl/idemctl/reconcile"
)

// limitFiles has the system refuse what would make a file longer, as a full disk
// does.
func limitFiles(limit uint64) error {
	if limit == 0 {
		return nil
	}
	signal.Ignore(unix.SIGXFSZ)
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit})
}

func isFull(err error) bool { return errors.Is(err, unix.EFBIG) }

// The disk is full at any byte: within the run's beginning, an intent, a result
// or the end. Nothing is moved whose intent did not fit, and what was moved is
// found once there is room.
func TestApplyOnAFullDiskStopsBeforeTheChange(t *testing.T) {
	const tasks = 4
	w := newWorkshop(t)
	full, resumed := 0, 0
	apply := func(n int, limit uint64) (size int64) {
		k := &killing{w: w, path: filepath.Join(t.TempDir(), "journal.jsonl")}
		queue := fmt.Sprintf("full-%02d", n)
		k.stock = stocked(t, w.redis, queue, tasks, nil)
		k.moves = reconcile.Moves{Action: reconcile.ActionRun, Idle: []string{queue}}
		k.pushed = k.pushes()
		p := w.start(t, operator{Journal: k.path, Queue: queue, Moves: k.moves, Limit: limit})
		if _, code := p.end(); code == stoppedByFull {
			full++
		} else if limit > 0 {
			t.Errorf("nobody said that the disk was full at %d bytes", limit)
		}
		if moved := count(k.places(), "pending"); limit > 0 && moved > 0 {
			resumed++
		}
		stat, err := os.Stat(k.path)
		w.must(err)
		k.foreseen(k.path)
		k.resumeAll()
		return stat.Size()
	}
	const limits, least, slack = 16, 40, 100 // times in the journal are not all of one length
	part := (uint64(apply(0, 0)) - least - slack) / limits
	for n := range limits {
		apply(n+1, least+uint64(n)*part+rand.Uint64N(part))
		if t.Failed() {
			t.Fatal("limit", n)
		}
	}
	if full == 0 || resumed == 0 {
		t.Errorf("the disk was full %d times, %d times after a move: nothing was tested", full, resumed)
	}
}
