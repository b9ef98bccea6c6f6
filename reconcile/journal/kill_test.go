package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	smallPayload = 300
	largePayload = 2 * flushSize // an intent of this size is a write of its own
)

// payloadOf is the size of an item's payload.
func payloadOf(item string) int {
	if strings.HasPrefix(item, "large") {
		return largePayload
	}
	return smallPayload
}

const aboutToWrite = "about to write a large group"

// writeForever intends and settles until it is killed, and says what was
// acknowledged.
func writeForever(path string) error {
	j, err := Open(context.Background(), path, testOptions())
	if err != nil {
		return err
	}
	run, err := j.Begin(Run{})
	if err != nil {
		return err
	}
	ended := whenInputEnds()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return j.Close()
		default:
		}
		for range rand.IntN(3) {
			if err := writeGroup(j, run, "small", n, 1+rand.IntN(3)); err != nil {
				return err
			}
			n++
		}
		fmt.Println(aboutToWrite) //nolint:forbidigo // the child speaks to its parent
		if err := writeGroup(j, run, "large", n, 4); err != nil {
			return err
		}
	}
}

func writeGroup(j *Journal, run, kind string, n, size int) error {
	var group []Record
	for i := range size {
		item := fmt.Sprintf("%s-%d-%d", kind, n, i)
		group = append(group, intent(item, payloadOf(item)))
	}
	if err := j.Intend(group...); err != nil {
		return err
	}
	for _, r := range group {
		fmt.Println(run, r.Item) //nolint:forbidigo // the child speaks to its parent
	}
	return j.Settle(Record{Item: group[0].Item, Outcome: OutcomeDone})
}

func TestIntentAcknowledgedBeforeKillIsNeverLost(t *testing.T) {
	const rounds, checkEvery = 200, 50
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	acknowledged := map[[2]string]bool{}
	for round := 1; round <= rounds; round++ {
		c := startChild(t, "write", path)
		for large := 1 + rand.IntN(2); large > 0; {
			if line := c.line(t); line == aboutToWrite {
				large--
			} else {
				noteAcknowledged(t, acknowledged, line)
			}
		}
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		must(t, c.cmd.Process.Kill())
		for c.out.Scan() { // what was said before the kill and not read yet
			if line := c.out.Text(); line != aboutToWrite {
				noteAcknowledged(t, acknowledged, line)
			}
		}
		_ = c.cmd.Wait()
		if round%checkEvery == 0 {
			checkAcknowledged(t, path, acknowledged)
		}
	}
	must(t, mustOpen(t, path).Close())
	all := items(readWhole(t, path), KindIntent)
	torn, err := filepath.Glob(path + ".torn-*")
	must(t, err)
	t.Logf("%d intents acknowledged in %d lives, of which %d ended within a line; %d more intents were found",
		len(acknowledged), rounds, len(torn), strings.Count(all, " ")+1-len(acknowledged))
}

func noteAcknowledged(t *testing.T, acknowledged map[[2]string]bool, line string) {
	t.Helper()
	run, item, ok := strings.Cut(line, " ")
	if !ok {
		t.Fatalf("the child said %q", line)
	}
	acknowledged[[2]string{run, item}] = true
}

// checkAcknowledged reads the file as a killed writer left it: its tail may be
// torn, and nothing else may be wrong.
func checkAcknowledged(t *testing.T, path string, acknowledged map[[2]string]bool) {
	t.Helper()
	found := 0
	for r, err := range Read(path) {
		if torn, ok := err.(*TornError); ok { //nolint:errorlint // nothing wraps it
			t.Logf("%v", torn)
			continue
		}
		must(t, err)
		if r.Kind != KindIntent {
			continue
		}
		if diff := cmp.Diff(imageOf(r.Item, payloadOf(r.Item)), r.Task); diff != "" {
			t.Fatalf("item %s of run %s reads back otherwise:\n%.500s", r.Item, r.Run, diff)
		}
		if acknowledged[[2]string{r.Run, r.Item}] {
			found++
		}
	}
	if found != len(acknowledged) {
		t.Fatalf("%d of %d acknowledged intents are in the journal", found, len(acknowledged))
	}
}
