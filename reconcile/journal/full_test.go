//go:build unix

package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const fileLimit = 64 << 10

func init() { roles["fill"] = fillUntilFull }

// fillUntilFull writes until the system refuses, under a limit on the size of
// files, and says what was acknowledged. Then it shows that a result still fits.
func fillUntilFull(path string) error {
	signal.Ignore(unix.SIGXFSZ)
	limit := unix.Rlimit{Cur: fileLimit, Max: fileLimit}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	j, err := Open(context.Background(), path, testOptions())
	if err != nil {
		return err
	}
	if _, err := j.Begin(Run{}); err != nil {
		return err
	}
	for n := 0; ; n += 2 {
		first, second := fmt.Sprint(n), fmt.Sprint(n+1)
		err := j.Intend(intent(first, 1500), intent(second, 1500))
		if errors.Is(err, unix.EFBIG) {
			break
		}
		if err != nil {
			return err
		}
		fmt.Printf("%s\n%s\n", first, second) //nolint:forbidigo // the child speaks to its parent
	}
	return errors.Join(j.Settle(Record{Item: "0", Outcome: OutcomeDone}), j.Close())
}

func TestIntendFailsOnAFullDiskAndKeepsWhatItAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	c := startChild(t, "fill", path)
	var acknowledged []string
	for c.out.Scan() {
		acknowledged = append(acknowledged, c.out.Text())
	}
	c.finish(t)
	records := readWhole(t, path) // no torn line: what did not fit was taken back
	if got, want := items(records, KindIntent), strings.Join(acknowledged, " "); got != want || len(acknowledged) == 0 {
		t.Errorf("intents %q, want %q", got, want)
	}
	if last := records[len(records)-1]; last.Kind != KindResult {
		t.Errorf("the last record is %s, want the result", last.Kind)
	}
	stat, err := os.Stat(path)
	must(t, err)
	if stat.Size() > fileLimit {
		t.Errorf("%d bytes, beyond the limit of %d: nothing was tested", stat.Size(), fileLimit)
	}
	j := mustOpen(t, path)
	if j.Torn() != nil {
		t.Errorf("torn: %v", j.Torn())
	}
}
