//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// summaryOfOnly is the one run of a journal; false as long as there is none.
func summaryOfOnly(path string) (last journal.Summary, ok bool) {
	for s, err := range journal.Runs(path) {
		if err == nil {
			last, ok = s, true
		}
	}
	return last, ok
}

// Whoever stops a run is named in the journal, which accounts for all that was
// planned: by a signal, by the time limit, or by nobody, where it was killed.
func TestJournalNamesWhatEndedARun(t *testing.T) {
	const tasks = 200 // 50 seconds at 4 a second
	n := newJournalNight(t, journalInLedger+"}")
	failed := time.Now().Add(-time.Hour).Unix()
	for _, ref := range n.redis.Fill("default", inspect.StateArchived, tasks, func(i int, m *inspecttest.Message) {
		m.ID, m.Type, m.LastFailedAt = fmt.Sprintf("t%03d", i), "test:task", failed
		m.MaxRetry, m.Retried, m.LastErr = 3, 3, "refused"
	}) {
		if err := n.redis.Client().ZAdd(t.Context(), inspect.ArchiveKey("default"), redis.Z{Score: float64(failed), Member: ref.ID}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	path, err := exec.LookPath("idemctl") // testscript.Main put it there
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal syscall.Signal
		flags  []string
		why    string
		code   int
	}{
		{syscall.SIGTERM, nil, "interrupted (SIGTERM)", exitIncomplete},
		{syscall.SIGINT, nil, "stopped by the operator (Ctrl-C)", exitIncomplete},
		{syscall.SIGHUP, nil, "interrupted (SIGHUP: its terminal was closed)", exitIncomplete},
		{0, []string{"--timeout=15s"}, "its time ran out (--timeout)", exitIncomplete},
		{syscall.SIGKILL, nil, "", -1},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			file := t.TempDir() + "/journal.jsonl"
			args := append([]string{
				"requeue", "--config", n.config, "--journal", file, "-q", "default", "--accept-idle", "default", "--rate", "4", "--yes", "-o", "json",
			}, c.flags...)
			cmd := exec.CommandContext(t.Context(), path, args...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				if s, ok := summaryOfOnly(file); ok && s.Done >= 2 || time.Now().After(end) {
					break
				}
			}
			if c.signal != 0 {
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Fatalf("%v, want exit code %d\n%s", err, c.code, errs.String())
			}
			s, ok := summaryOfOnly(file)
			if !ok || s.Planned == 0 || s.Done < 2 || s.NotBegun == 0 || s.Planned != s.Begun()+s.NotBegun {
				t.Fatalf("the numbers do not add up: %+v", s)
			}
			if s.EndedBy != c.why || s.Complete() || s.Ended.IsZero() != (c.why == "") {
				t.Errorf("it ended by %q at %s (complete: %t), want %q", s.EndedBy, s.Ended, s.Complete(), c.why)
			}
			if c.why != "" {
				sameNumbers(t, out.Bytes(), s)
			}
			again(t, n, s)
		})
	}
}

// sameNumbers fails unless the command printed what the journal has.
func sameNumbers(t *testing.T, printed []byte, s journal.Summary) {
	t.Helper()
	var out struct {
		Problem string         `json:"problem"`
		Counts  map[string]int `json:"counts"`
		Steps   []struct {
			Outcome *string `json:"outcome"`
		} `json:"steps"`
	}
	if err := json.Unmarshal(printed, &out); err != nil {
		t.Fatal(err)
	}
	untried := 0
	for _, step := range out.Steps {
		if step.Outcome == nil {
			untried++
		}
	}
	if out.Problem != s.EndedBy || out.Counts["done"] != s.Done || out.Counts["not begun"] != s.NotBegun || untried != s.NotBegun {
		t.Errorf("printed: %q, %v, %d untried; the journal has %+v", out.Problem, out.Counts, untried, s)
	}
}

// again fails unless the same selection plans what the run never began.
func again(t *testing.T, n *journalNight, s journal.Summary) {
	t.Helper()
	_, out, errs := n.run(t, "requeue", "-q", "default", "--accept-idle", "default", "--dry-run", "-o", "json", "--journal", os.DevNull)
	var plan struct {
		Counts map[string]int `json:"counts"`
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if left := s.NotBegun + s.Pending; plan.Counts["planned"] < s.NotBegun || plan.Counts["planned"] > left {
		t.Errorf("%d are planned again, want the %d that were never begun", plan.Counts["planned"], s.NotBegun)
	}
}
