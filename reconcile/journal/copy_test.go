package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var errDown = errors.New("connection refused")

// memoryCopy is a table in memory that can be taken away.
type memoryCopy struct {
	down bool
	// lostAnswers is how many writes are carried out and yet answered with an error.
	lostAnswers int
	lines       map[string]string
	calls, sent int
	before      func() // each Write
}

func newMemoryCopy() *memoryCopy { return &memoryCopy{lines: map[string]string{}} }

func place(run string, seq uint64) string { return fmt.Sprintf("%s/%09d", run, seq) }

func (c *memoryCopy) Has(_ context.Context, run string, seq uint64) (bool, error) {
	c.calls++
	if c.down {
		return false, errDown
	}
	_, has := c.lines[place(run, seq)]
	return has, nil
}

func (c *memoryCopy) Write(_ context.Context, entries []Entry) error {
	if c.before != nil {
		c.before()
	}
	if c.down {
		return errDown
	}
	for _, e := range entries {
		line, there := c.lines[place(e.Run, e.Seq)]
		if there && line != string(e.Line) {
			return ErrCopyDiffers
		}
	}
	for _, e := range entries {
		c.lines[place(e.Run, e.Seq)] = string(e.Line)
	}
	c.sent += len(entries)
	if c.lostAnswers > 0 {
		c.lostAnswers--
		return errDown
	}
	return nil
}

func (c *memoryCopy) String() string { return "table j of ledger main" }

// sameAs insists that the copy holds exactly the lines of the file.
func (c *memoryCopy) sameAs(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	want := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	var got []string
	for _, line := range c.lines {
		got = append(got, line)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the copy has %d lines and the file %d, or they differ", len(got), len(want))
	}
}

func openWith(t *testing.T, path string, c Copy) (*Journal, error) {
	t.Helper()
	o := testOptions()
	o.Copy = c
	j, err := Open(t.Context(), path, o)
	if err == nil {
		t.Cleanup(func() { j.Close() })
	}
	return j, err
}

func mustOpenWith(t *testing.T, path string, c Copy) *Journal {
	t.Helper()
	j, err := openWith(t, path, c)
	must(t, err)
	return j
}

func isCopyError(t *testing.T, err error) {
	t.Helper()
	var e *CopyError
	if !errors.As(err, &e) || !errors.Is(err, errDown) || !strings.Contains(err.Error(), "table j of ledger main") {
		t.Fatalf("error %v, want a CopyError that names the copy and why", err)
	}
}

func TestCopyHasEveryLineOfTheFileByteForByte(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 10), intent("2", 3000)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}, Record{Item: "2", Outcome: OutcomeUnknown}))
	must(t, j.Intend(intent("3", 1)))
	must(t, j.Settle(Record{Item: "2", Outcome: OutcomeDone}, Record{Item: "3", Outcome: OutcomeFailed, Error: "no"}))
	must(t, j.End(run))
	must(t, j.Close())
	if j.Behind() != nil {
		t.Errorf("behind: %v", j.Behind())
	}
	c.sameAs(t, path)
	if c.sent != len(c.lines) {
		t.Errorf("%d lines sent for %d: some were sent twice", c.sent, len(c.lines))
	}
}

// Of what the disk has not confirmed, a power cut may take lines away whose numbers
// are then given to others.
func TestCopyGetsNothingTheDiskHasNotConfirmed(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	mustBegin(t, j)
	must(t, j.Intend(intent("1", 10)))
	disk := &brokenFile{file: j.f, room: -1}
	j.f = disk
	before := len(c.lines)
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	if len(c.lines) != before {
		t.Errorf("the result is in the copy before it was synced")
	}
	c.before = func() {
		if disk.syncs != 1 {
			t.Errorf("a write to the copy after %d syncs, want 1", disk.syncs)
		}
	}
	must(t, j.Sync())
	c.sameAs(t, path)
	disk.noSync = true
	if err := j.Intend(intent("2", 10)); !errors.Is(err, syscall.EIO) {
		t.Fatalf("%v, want EIO", err)
	}
	must(t, j.Close())
	if got := len(c.lines); got != 3 {
		t.Errorf("%d lines in the copy, want the 3 that were synced", got)
	}
}

func TestOpenFailsWhereTheCopyIsDownAndLetsTheNextTry(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	must(t, mustOpen(t, path).Close())
	j := mustOpenWith(t, path, c)
	mustBegin(t, j)
	must(t, j.Close())
	c.down = true
	_, err := openWith(t, path, c)
	isCopyError(t, err)
	if _, held, err := HeldBy(path); held || err != nil {
		t.Errorf("held %v (%v) after an Open that failed", held, err)
	}
	c.down = false
	must(t, mustOpenWith(t, path, c).Close())
	c.sameAs(t, path)
}

func TestRunThatCannotBeCopiedEndsBeforeItBegins(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	c.down = true
	_, err := j.Begin(Run{Command: "idemctl requeue"})
	isCopyError(t, err)
	records := readWhole(t, path)
	if last := records[len(records)-1]; last.Kind != KindEnd || !strings.Contains(last.Error, "connection refused") {
		t.Errorf("the last record is %s with error %q, want an end that says why", last.Kind, last.Error)
	}
	c.down = false
	if id, err := j.Begin(Run{}); err != nil || id == "" {
		t.Errorf("the next run: %v", err)
	}
	must(t, j.Close())
	c.sameAs(t, path)
}

func TestIntentsThatCannotBeCopiedAreRefusedInTheFile(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	c.down = true
	isCopyError(t, j.Intend(intent("1", 10), intent("2", 10)))
	var behind *CopyError
	if !errors.As(j.Behind(), &behind) || behind.Bytes <= 0 {
		t.Errorf("behind: %v, want the bytes that are missing", j.Behind())
	}
	for _, r := range readWhole(t, path)[1:] {
		if r.Kind == KindResult && (r.Outcome != OutcomeRefused || !strings.Contains(r.Found, "not begun") || !strings.Contains(r.Found, "connection refused")) {
			t.Errorf("item %s: %s, %q", r.Item, r.Outcome, r.Found)
		}
	}
	for r, err := range Pending(path) {
		t.Errorf("pending: %q (%v)", r.Item, err)
	}
	must(t, j.End(run))
	must(t, j.Close())
	if j.Behind() == nil {
		t.Error("nobody says that the copy lags")
	}
	c.down = false
	must(t, mustOpenWith(t, path, c).Close())
	c.sameAs(t, path)
}

// The changes were made and the file says so; the copy gets the results before
// anything else is changed.
func TestResultsThatCannotBeCopiedAreNoFailureAndComeLater(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 10)))
	c.down = true
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	must(t, j.Sync())
	isCopyError(t, j.Behind())
	c.down = false
	must(t, j.Intend(intent("2", 10)))
	c.sameAs(t, path)
	if j.Behind() != nil {
		t.Errorf("still behind: %v", j.Behind())
	}
	c.down = true
	must(t, j.Settle(Record{Item: "2", Outcome: OutcomeDone}))
	must(t, j.End(run))
	must(t, j.Close())
	isCopyError(t, j.Behind())
	for s, err := range Runs(path) {
		if err != nil || s.Done != 2 || !s.Complete() {
			t.Errorf("the file says %+v (%v), want 2 done and complete", s, err)
		}
	}
	c.down = false
	must(t, mustOpenWith(t, path, c).Close())
	c.sameAs(t, path)
}

func TestLastWordsAreNotTriedAgainAndAgain(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	tries := 0
	c.down, c.before = true, func() { tries++ }
	isCopyError(t, j.Intend(intent("1", 10)))
	must(t, j.End(run))
	must(t, j.Sync())
	must(t, j.Close())
	if tries != 1 {
		t.Errorf("%d tries, each of which may wait for a time limit, want 1", tries)
	}
}

func TestLostAnswersOfTheCopyDoubleNothing(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	mustBegin(t, j)
	c.lostAnswers = 1
	isCopyError(t, j.Intend(intent("1", 10)))
	must(t, j.Intend(intent("2", 10)))
	must(t, j.Close())
	c.sameAs(t, path)
}

// A file with a history gets it all copied; one that the copy lags behind only
// what is missing, give or take as much again.
func TestOpenAddsWhatIsMissing(t *testing.T) {
	for _, missing := range []int{0, 1, 2, 7, 300, 2000} {
		path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
		j := mustOpenWith(t, path, c)
		mustBegin(t, j)
		for n := range 40 {
			var intents []Record
			for k := range 50 {
				intents = append(intents, intent(fmt.Sprint(n, "-", k), 200))
			}
			must(t, j.Intend(intents...))
		}
		must(t, j.Close())
		var places []string
		for p := range c.lines {
			places = append(places, p)
		}
		slices.Sort(places)
		for _, p := range places[len(places)-missing:] {
			delete(c.lines, p)
		}
		c.sent, c.calls = 0, 0
		must(t, mustOpenWith(t, path, c).Close())
		c.sameAs(t, path)
		if c.sent < missing || c.sent > 2*missing+200 {
			t.Errorf("%d lines sent for %d that were missing", c.sent, missing)
		}
		if c.calls > 10 {
			t.Errorf("%d questions for %d missing lines", c.calls, missing)
		}
	}
}

func TestOpenCopiesThePastOfAFileThatHadNoCopy(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpen(t, path)
	mustBegin(t, j)
	for n := range 3 {
		must(t, j.Intend(intent(fmt.Sprint(n), 3<<20))) // more than one batch
	}
	must(t, j.Close())
	must(t, mustOpenWith(t, path, c).Close())
	c.sameAs(t, path)
}

func TestDamagedLinesAreLeftOutOfTheCopyAndTheRestIsNot(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpen(t, path)
	mustBegin(t, j)
	must(t, j.Intend(intent("1", 10), intent("2", 10), intent("3", 10), intent("4", 10)))
	must(t, j.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(b), "\n")
	lines[2] = strings.Replace(lines[2], "default", "defaulT", 1)
	lines[3] = ""
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	must(t, mustOpenWith(t, path, c).Close())
	if len(c.lines) != 3 {
		t.Errorf("%d lines, want the run, the first intent and the last", len(c.lines))
	}
	j = mustOpenWith(t, path, c)
	mustBegin(t, j)
	must(t, j.Close())
	if len(c.lines) != 4 {
		t.Errorf("%d lines, want the next run as well", len(c.lines))
	}
}

func TestTwoFilesThatWereOneCannotShareACopy(t *testing.T) {
	dir := t.TempDir()
	path, c := filepath.Join(dir, "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 10)))
	must(t, j.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	other := filepath.Join(dir, "other.jsonl")
	must(t, os.WriteFile(other, b, 0o600))
	settle := func(path string, o Outcome) error {
		j := mustOpenWith(t, path, c)
		must(t, j.Settle(Record{Run: run, Item: "1", Outcome: o, Found: path}))
		must(t, j.Close())
		return j.Behind()
	}
	must(t, settle(path, OutcomeDone))
	if err := settle(other, OutcomeRefused); !errors.Is(err, ErrCopyDiffers) {
		t.Errorf("%v, want ErrCopyDiffers", err)
	}
}

func TestSummariesOfACopyAreThoseOfTheFile(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "journal.jsonl"), newMemoryCopy()
	j := mustOpenWith(t, path, c)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 10), intent("2", 10)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	must(t, j.End(run))
	must(t, j.Close())
	records := func(yield func(Record, error) bool) {
		var places []string
		for p := range c.lines {
			places = append(places, p)
		}
		slices.Sort(places)
		for _, p := range places {
			if !yield(ParseLine([]byte(c.lines[p]))) {
				return
			}
		}
	}
	var got, want []Summary
	for s, err := range Summarize(records) {
		must(t, err)
		got = append(got, s)
	}
	for s, err := range Runs(path) {
		must(t, err)
		want = append(want, s)
	}
	if len(want) != 1 || !slices.Equal(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

func TestRowsHoldNothingSQLCannot(t *testing.T) {
	e := Entry{Record: Record{Run: "r", Seq: 7, Kind: KindResult, Queue: "a\x00b", TaskID: "\xff\xfe", Outcome: OutcomeUnknown}, Line: []byte(`{}`)}
	r := e.Row()
	if *r.Queue != "a\uFFFDb" || *r.TaskID != "\uFFFD" || r.Item != nil || *r.Outcome != "unknown" || r.Record != "{}" {
		t.Errorf("%+v", r)
	}
	e.Kind = KindIntent
	if r := e.Row(); r.Outcome != nil {
		t.Errorf("an intent has the outcome %q", *r.Outcome)
	}
}
