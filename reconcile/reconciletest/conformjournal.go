package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalStore is an empty database in which a ledger keeps a journal's copy.
type JournalStore interface {
	// Exec runs a statement as the database's owner, and fails the test when it
	// fails; Value is the first column of a query's only row, as text.
	Exec(sql string, args ...any)
	Value(sql string, args ...any) string
	// Create makes a table for journals, Open opens it.
	Create(table string) error
	Open(table string) (JournalTable, error)
}

// JournalTable is a ledger's table of journals.
type JournalTable interface {
	journal.Copy
	Runs(ctx context.Context) ([]string, error)
	Records(ctx context.Context, run string) iter.Seq2[journal.Record, error]
	Close() error
}

// ConformJournal is the suite that every ledger's table of journals must pass.
func ConformJournal(t *testing.T, newStore func(testing.TB) JournalStore) {
	for name, test := range map[string]func(*testing.T, JournalStore){
		"the file and the table say the same":               journalIsCopied,
		"several journals share a table":                    journalsShareATable,
		"what is repeated is not doubled":                   journalRowsAreNotDoubled,
		"a table that is gone stops before the change":      journalStopsWithoutItsTable,
		"a missing table is said, with what makes it":       journalTableIsMissed,
		"a table without its key or columns is refused":     journalTableMustBeWhole,
		"a row that was changed is damage":                  journalRowsAreChecked,
		"names are taken as SQL takes them":                 journalTableNames,
		"a table can be made again and keeps what it holds": journalTableIsMadeOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

const journalTable = "idemctl_journal"

func openJournalTable(t *testing.T, s JournalStore, table string) JournalTable {
	t.Helper()
	j, err := s.Open(table)
	if err != nil {
		t.Fatalf("opening the table: %v", err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func createJournalTable(t *testing.T, s JournalStore) JournalTable {
	t.Helper()
	if err := s.Create(journalTable); err != nil {
		t.Fatalf("making the table: %v", err)
	}
	return openJournalTable(t, s, journalTable)
}

func openJournal(t *testing.T, path string, table journal.Copy) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{Operator: "ann\x00", Host: "host-1", Command: "idemctl requeue", Copy: table})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func journalIntent(item string) journal.Record {
	return journal.Record{
		Item: item, Change: journal.ChangeRequeue, Queue: "q'ü\x00\xff", TaskID: "id-" + item, Evidence: []byte(`{"state":"archived"}`),
		Task: &journal.TaskImage{Key: "asynq:{q}:t:id-" + item, Fields: []journal.Field{
			{Name: "msg", Value: "\n\x05type\x00\x01"}, {Name: "msg2", Value: "\xff\x00\\u0000\"'; DROP TABLE x"}, {Name: "state", Value: "archived"},
		}},
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func recordsOf(t *testing.T, records iter.Seq2[journal.Record, error]) []journal.Record {
	t.Helper()
	var all []journal.Record
	for r, err := range records {
		check(t, err)
		all = append(all, r)
	}
	return all
}

// writeRun is one run with a result of every outcome.
func writeRun(t *testing.T, j *journal.Journal) string {
	t.Helper()
	run, err := j.Begin(journal.Run{Context: "prod", Command: "idemctl requeue", Reason: "déploiement ✓"})
	check(t, err)
	check(t, j.Intend(journalIntent("1"), journalIntent("2"), journalIntent("3")))
	check(t, j.Settle(
		journal.Record{Item: "1", Outcome: journal.OutcomeDone}, journal.Record{Item: "2", Outcome: journal.OutcomeUnknown, Error: "cut\x00"},
		journal.Record{Item: "3", Outcome: journal.OutcomeFailed}, journal.Record{Item: "4", Outcome: journal.OutcomeRefused, Found: "pending"},
	))
	check(t, j.End(run))
	return run
}

func journalIsCopied(t *testing.T, s JournalStore) {
	table, path := createJournalTable(t, s), filepath.Join(t.TempDir(), "journal.jsonl")
	j := openJournal(t, path, table)
	first, second := writeRun(t, j), writeRun(t, j)
	check(t, j.Close())
	check(t, j.Behind())
	var want []journal.Record
	for _, run := range []string{first, second} {
		got := recordsOf(t, table.Records(t.Context(), run))
		want = nil
		for _, r := range recordsOf(t, journal.Read(path)) {
			if r.Run == run {
				want = append(want, r)
			}
		}
		if len(want) != 9 || !reflect.DeepEqual(got, want) {
			t.Errorf("the table has %d records of run %s and the file %d, or they differ", len(got), run, len(want))
		}
	}
	ids, err := table.Runs(t.Context())
	check(t, err)
	runs := []string{first, second}
	slices.Sort(runs)
	slices.Reverse(runs)
	if !slices.Equal(ids, runs) {
		t.Errorf("runs %v, want %v", ids, runs)
	}
	for column, want := range map[string]string{
		"operator": "ann\uFFFD", "host": "host-1", "context": "prod", "change": "requeue", "queue": "q'ü\uFFFD\uFFFD", "task_id": "id-2",
	} {
		query := "SELECT count(*) FROM " + journalTable + " WHERE kind = 'intent' AND item = '2' AND " + column + " = '" + strings.ReplaceAll(want, "'", "''") + "'"
		if n := s.Value(query); n != "2" {
			t.Errorf("%s intents of item 2 with %s %q, want 2", n, column, want)
		}
	}
	if n := s.Value("SELECT count(*) FROM " + journalTable + " WHERE outcome IS NOT NULL AND kind <> 'result' OR outcome IS NULL AND kind = 'result'"); n != "0" {
		t.Errorf("%s rows have an outcome and are no result, or are one and have none", n)
	}
}

func journalsShareATable(t *testing.T, s JournalStore) {
	check(t, s.Create(journalTable))
	const writers, runs = 4, 5
	dir := t.TempDir()
	var group sync.WaitGroup
	for n := range writers {
		table := openJournalTable(t, s, journalTable)
		j := openJournal(t, filepath.Join(dir, fmt.Sprint(n)), table)
		group.Go(func() {
			for range runs {
				run, err := j.Begin(journal.Run{})
				if err == nil {
					err = errors.Join(j.Intend(journalIntent("1"), journalIntent("2")),
						j.Settle(journal.Record{Item: "1", Outcome: journal.OutcomeDone}), j.End(run))
				}
				if err != nil {
					t.Errorf("writer %d: %v", n, err)
				}
			}
			if err := errors.Join(j.Close(), j.Behind()); err != nil {
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}
	group.Wait()
	if n, want := s.Value("SELECT count(*) FROM "+journalTable), fmt.Sprint(writers*runs*5); n != want {
		t.Errorf("%s rows, want %s", n, want)
	}
	table := openJournalTable(t, s, journalTable)
	for n := range writers {
		for r, err := range journal.Read(filepath.Join(dir, fmt.Sprint(n))) {
			check(t, err)
			if has, err := table.Has(t.Context(), r.Run, r.Seq); err != nil || !has {
				t.Errorf("run %s seq %d of writer %d is not in the table (%v)", r.Run, r.Seq, n, err)
			}
		}
	}
	if has, err := table.Has(t.Context(), "other", 1); has || err != nil {
		t.Errorf("the table has what nobody wrote (%v)", err)
	}
}

// entriesOf are those of a file that no copy was made of.
func entriesOf(t *testing.T, path string) []journal.Entry {
	t.Helper()
	collect := &collector{}
	j := openJournal(t, path, collect)
	writeRun(t, j)
	check(t, j.Close())
	return collect.entries
}

type collector struct{ entries []journal.Entry }

func (*collector) Has(context.Context, string, uint64) (bool, error) { return false, nil }
func (c *collector) Write(_ context.Context, entries []journal.Entry) error {
	c.entries = append(c.entries, entries...)
	return nil
}
func (*collector) String() string { return "nothing" }

func journalRowsAreNotDoubled(t *testing.T, s JournalStore) {
	table := createJournalTable(t, s)
	entries := entriesOf(t, filepath.Join(t.TempDir(), "j"))
	check(t, table.Write(t.Context(), entries[:3]))
	check(t, table.Write(t.Context(), entries))
	check(t, table.Write(t.Context(), entries))
	if n := s.Value("SELECT count(*) FROM " + journalTable); n != fmt.Sprint(len(entries)) {
		t.Errorf("%s rows for %d records", n, len(entries))
	}
	other := entriesOf(t, filepath.Join(t.TempDir(), "other"))
	other[4].Run, other[4].Seq = entries[4].Run, entries[4].Seq
	err := table.Write(t.Context(), other)
	if !errors.Is(err, journal.ErrCopyDiffers) {
		t.Errorf("another record in a place that is taken: %v, want ErrCopyDiffers", err)
	}
	if n := s.Value("SELECT count(*) FROM " + journalTable); n != fmt.Sprint(len(entries)) {
		t.Errorf("%s rows: a write that failed left some", n)
	}
}

func journalStopsWithoutItsTable(t *testing.T, s JournalStore) {
	table, path := createJournalTable(t, s), filepath.Join(t.TempDir(), "journal.jsonl")
	j := openJournal(t, path, table)
	run, err := j.Begin(journal.Run{})
	check(t, err)
	check(t, j.Intend(journalIntent("1")))
	s.Exec("ALTER TABLE " + journalTable + " RENAME TO away")
	check(t, j.Settle(journal.Record{Item: "1", Outcome: journal.OutcomeDone}))
	err = j.Intend(journalIntent("2"))
	var copying *journal.CopyError
	var ledger *reconcile.LedgerError
	if !errors.As(err, &copying) || !errors.As(err, &ledger) || ledger.Kind != reconcile.LedgerMissing {
		t.Fatalf("the intent was taken, or for another reason not: %v", err)
	}
	check(t, j.End(run))
	check(t, j.Close())
	for summary, err := range journal.Runs(path) {
		if err != nil || summary.Done != 1 || summary.Refused != 1 || !summary.Complete() {
			t.Errorf("the file says %+v (%v)", summary, err)
		}
	}
	s.Exec("ALTER TABLE away RENAME TO " + journalTable)
	j = openJournal(t, path, openJournalTable(t, s, journalTable))
	check(t, j.Close())
	if got, want := recordsOf(t, table.Records(t.Context(), run)), recordsOf(t, journal.Read(path)); !reflect.DeepEqual(got, want) {
		t.Errorf("after the table came back it has %d records of %d", len(got), len(want))
	}
}

func wantsKind(t *testing.T, err error, kind reconcile.LedgerErrorKind, hint string) {
	t.Helper()
	var e *reconcile.LedgerError
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Hint, hint) {
		t.Errorf("error %v, want one of kind %d with the hint %q", err, kind, hint)
	}
}

func journalTableIsMissed(t *testing.T, s JournalStore) {
	_, err := s.Open(journalTable)
	wantsKind(t, err, reconcile.LedgerMissing, "ledger init --journal")
}

func journalTableMustBeWhole(t *testing.T, s JournalStore) {
	check(t, s.Create(journalTable))
	s.Exec("CREATE TABLE keyless AS SELECT * FROM " + journalTable)
	_, err := s.Open("keyless")
	wantsKind(t, err, reconcile.LedgerBadSource, "primary key")
	s.Exec("ALTER TABLE " + journalTable + " DROP COLUMN operator")
	_, err = s.Open(journalTable)
	wantsKind(t, err, reconcile.LedgerMissing, "ledger init --journal")
}

func journalRowsAreChecked(t *testing.T, s JournalStore) {
	table := createJournalTable(t, s)
	entries := entriesOf(t, filepath.Join(t.TempDir(), "j"))
	check(t, table.Write(t.Context(), entries))
	s.Exec("UPDATE " + journalTable + ` SET record = '{"schema":"idemctl.journal/v1","kind":"result"}' WHERE seq = 3`)
	good, damaged := 0, 0
	for _, err := range table.Records(t.Context(), entries[0].Run) {
		var damage *journal.DamagedRowError
		switch {
		case err == nil:
			good++
		case errors.As(err, &damage) && damage.Seq == 3:
			damaged++
		default:
			t.Error(err)
		}
	}
	if good != len(entries)-1 || damaged != 1 {
		t.Errorf("%d good and %d damaged rows of %d", good, damaged, len(entries))
	}
	for _, err := range table.Records(t.Context(), entries[0].Run) {
		check(t, err)
		break // a reader may have enough
	}
}

func journalTableNames(t *testing.T, s JournalStore) {
	entries := entriesOf(t, filepath.Join(t.TempDir(), "j"))
	for _, name := range []string{"Idemctl_Journal", `"Odd Name; ""x"""`, `"a.b"`} {
		check(t, s.Create(name))
		check(t, openJournalTable(t, s, name).Write(t.Context(), entries))
		if n := s.Value("SELECT count(*) FROM " + name); n != fmt.Sprint(len(entries)) {
			t.Errorf("%s rows in %s", n, name)
		}
	}
	for _, name := range []string{"", "a.b.c", `"open`} {
		if err := s.Create(name); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
}

func journalTableIsMadeOnce(t *testing.T, s JournalStore) {
	table := createJournalTable(t, s)
	check(t, table.Write(t.Context(), entriesOf(t, filepath.Join(t.TempDir(), "j"))))
	before := s.Value("SELECT count(*) FROM " + journalTable)
	check(t, s.Create(journalTable))
	if after := s.Value("SELECT count(*) FROM " + journalTable); after != before {
		t.Errorf("%s rows after, %s before", after, before)
	}
}
