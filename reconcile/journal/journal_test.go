package journal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJournalKeepsRunIntentResultAndEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "idemctl", "journal.jsonl")
	now := time.Date(2026, 11, 30, 3, 0, 0, 123456789, time.FixedZone("", 3600))
	opt := testOptions()
	opt.Now = func() time.Time { return now }
	j, err := Open(t.Context(), path, opt)
	must(t, err)
	run := mustBegin(t, j)
	must(t, j.Intend(intent("1", 10)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeRefused, Found: "pending", Error: "moved"}))
	must(t, j.End(run))
	must(t, j.Close())

	base := Record{
		Run: run, At: now.UTC(), Operator: "ann", Host: "host-1",
		Context: "prod", Command: "idemctl requeue -q default", Reason: "deploy", PlanDigest: "sha256:1",
	}
	begun := base
	begun.Seq, begun.Kind = 1, KindRun
	intended := intent("1", 10)
	intended.Seq, intended.Kind, intended.Run, intended.At = 2, KindIntent, run, now.UTC()
	intended.Operator, intended.Host, intended.Context = base.Operator, base.Host, base.Context
	intended.Command, intended.Reason, intended.PlanDigest = base.Command, base.Reason, base.PlanDigest
	want := []Record{
		begun, intended,
		{Seq: 3, Kind: KindResult, Run: run, Item: "1", At: now.UTC(), Outcome: OutcomeRefused, Found: "pending", Error: "moved"},
		{Seq: 4, Kind: KindEnd, Run: run, At: now.UTC()},
	}
	if diff := cmp.Diff(want, readWhole(t, path)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700} {
			stat, err := os.Stat(name)
			must(t, err)
			if stat.Mode().Perm() != mode {
				t.Errorf("%s has mode %o, want %o", name, stat.Mode().Perm(), mode)
			}
		}
	}
}

func TestOpenGoesOnNumberingWhereTheLastWriterStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for range 3 {
		j := mustOpen(t, path)
		run := mustBegin(t, j)
		must(t, j.Intend(intent("1", 200_000)))
		must(t, j.End(run))
		must(t, j.Close())
		must(t, j.Close())
	}
	records := readWhole(t, path)
	if n := len(records); n != 9 || records[n-1].Seq != 9 {
		t.Errorf("%d records, the last %v; want 9", n, records[n-1].Seq)
	}
}

func TestIntendRefusesWhatCouldNotBeFoundAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	if err := j.Intend(intent("1", 1)); !errors.Is(err, errNoRun) {
		t.Errorf("intent before a run: %v", err)
	}
	mustBegin(t, j)
	must(t, j.Intend(intent("1", 1)))
	huge := intent("huge", 1)
	huge.Task.Fields = append(huge.Task.Fields, Field{"result", strings.Repeat("x", MaxLine)})
	noChange, badEvidence, strange := intent("2", 1), intent("2", 1), intent("2", 1)
	noChange.Change = "invented"
	badEvidence.Evidence = []byte("{")
	strange.Run = "another"
	for name, group := range map[string][]Record{
		"no item":          {intent("2", 1), {Change: ChangeClose}},
		"open already":     {intent("2", 1), intent("1", 1)},
		"twice":            {intent("2", 1), intent("2", 1)},
		"unknown change":   {intent("3", 1), noChange},
		"no JSON":          {intent("3", 1), badEvidence},
		"another run":      {strange},
		"item not UTF-8":   {intent("3", 1), intent("\xff", 1)},
		"too long to read": {intent("3", 1), huge},
	} {
		if err := j.Intend(group...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// A refused group leaves nothing behind and does not end the journal.
	must(t, j.Intend(intent("2", 1)))
	if got := items(readWhole(t, path), KindIntent); got != "1 2" {
		t.Errorf("intents %q, want those of groups that were taken whole", got)
	}
}

func TestSettleRefusesResultWithoutIntent(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	mustBegin(t, j)
	must(t, j.Intend(intent("1", 1)))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeUnknown}))
	must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
	for _, r := range []Record{
		{Item: "1", Outcome: OutcomeDone}, {Item: "2", Outcome: OutcomeFailed}, {Outcome: OutcomeRefused}, {Item: "1", Outcome: 9},
	} {
		if err := j.Settle(r); err == nil {
			t.Errorf("settled %q with %d", r.Item, r.Outcome)
		}
	}
	must(t, j.Settle(Record{Item: "3", Outcome: OutcomeRefused, Found: "pending"}))
}

func TestRedactedImageSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	opt := testOptions()
	opt.Redact = func(image *TaskImage) {
		for i, f := range image.Fields {
			if strings.HasPrefix(f.Value, "secret") {
				image.Fields[i].Value = "***"
			}
		}
	}
	j, err := Open(t.Context(), path, opt)
	must(t, err)
	defer j.Close()
	mustBegin(t, j)
	hidden, plain := intent("1", 1), intent("2", 1)
	hidden.Task.Fields = []Field{{"msg", "secret-4711"}}
	must(t, j.Intend(hidden, plain))
	if hidden.Task.Fields[0].Value != "secret-4711" {
		t.Error("the caller's own image was redacted")
	}
	b, err := os.ReadFile(path)
	must(t, err)
	if strings.Contains(string(b), "secret") {
		t.Error("what was redacted is in the file")
	}
	records := readWhole(t, path)
	if !records[1].Task.Redacted || records[2].Task.Redacted {
		t.Errorf("redacted: %v and %v, want true and false", records[1].Task.Redacted, records[2].Task.Redacted)
	}
}

func TestJournalRefusesToWriteWhereNobodyWouldLook(t *testing.T) {
	for name, disturb := range map[string]func(path string) error{
		"moved away":     func(path string) error { return os.Rename(path, path+".old") },
		"removed":        os.Remove,
		"cut by another": func(path string) error { return os.Truncate(path, 10) },
		"added to": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("hello\n")
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (name == "moved away" || name == "removed") {
				return // Windows does not let an open file be moved
			}
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			j := mustOpen(t, path)
			mustBegin(t, j)
			must(t, disturb(path))
			if err := j.Intend(intent("1", 1)); err == nil {
				t.Error("the intent was acknowledged")
			}
		})
	}
}

func TestClosedJournalTakesNothing(t *testing.T) {
	j := mustOpen(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	run := mustBegin(t, j)
	must(t, j.Close())
	for name, err := range map[string]error{
		"intend": j.Intend(intent("1", 1)), "settle": j.Settle(Record{Item: "1", Outcome: OutcomeRefused}), "end": j.End(run), "sync": j.Sync(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}
