package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// holdUntilTold opens the journal, says so, and closes it when its input ends.
func holdUntilTold(path string) error {
	j, err := Open(context.Background(), path, testOptions())
	if err != nil {
		return err
	}
	fmt.Println("held") //nolint:forbidigo // the child speaks to its parent
	<-whenInputEnds()
	return j.Close()
}

const turnsEach = 15

// writeInTurns opens, writes and closes, again and again.
func writeInTurns(path string) error {
	for range turnsEach {
		j, err := Open(context.Background(), path, testOptions())
		if err != nil {
			return err
		}
		run, err := j.Begin(Run{})
		if err != nil {
			return err
		}
		err = j.Intend(intent("1", 100), intent("2", 100))
		err = errors.Join(err, j.End(run), j.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOpenNamesTheProcessThatHoldsTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	c := startChild(t, "hold", path)
	c.line(t)
	opt := testOptions()
	opt.Wait = 0
	_, err := Open(t.Context(), path, opt)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("%v, want HeldError", err)
	}
	if h := held.Holder; h.PID != c.cmd.Process.Pid || h.Host != "host-1" || h.Operator != "ann" || h.Since.IsZero() {
		t.Errorf("holder %+v, want process %d of ann on host-1", h, c.cmd.Process.Pid)
	}
	if h, is, err := HeldBy(path); err != nil || !is || h.PID != c.cmd.Process.Pid {
		t.Errorf("HeldBy: %+v %v %v", h, is, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, path, testOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	c.finish(t)
	if h, is, err := HeldBy(path); err != nil || is {
		t.Errorf("HeldBy after the end: %+v %v %v", h, is, err)
	}
	mustOpen(t, path)
}

func TestOpenWaitsForTheOtherWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	c := startChild(t, "hold", path)
	c.line(t)
	opened := make(chan error, 1)
	go func() {
		opt := testOptions()
		opt.Wait = time.Hour
		j, err := Open(context.Background(), path, opt)
		if err == nil {
			err = j.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(3 * lockPoll):
	}
	c.finish(t)
	must(t, <-opened)
}

func TestTwoWritersOfOneProcessExcludeEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	mustOpen(t, path)
	opt := testOptions()
	opt.Wait = 0
	var held *HeldError
	if _, err := Open(t.Context(), path, opt); !errors.As(err, &held) {
		t.Errorf("%v, want HeldError", err)
	}
}

func TestFightingProcessesNeverShareTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "journal.jsonl") // the folder too is made by one of them
	var children []*child
	for range 4 {
		children = append(children, startChild(t, "turns", path))
	}
	for _, c := range children {
		c.finish(t)
	}
	records := readWhole(t, path) // which sees gaps and repeated numbers
	if want := len(children) * turnsEach * 4; len(records) != want {
		t.Fatalf("%d records, want %d", len(records), want)
	}
	for i := 0; i < len(records); i += 4 {
		for _, r := range records[i : i+4] {
			if r.Run != records[i].Run {
				t.Fatalf("record %d belongs to run %s, in the middle of %s", r.Seq, r.Run, records[i].Run)
			}
		}
	}
}
