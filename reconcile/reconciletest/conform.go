package reconciletest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

// Backend is one kind of ledger, for Conform.
type Backend struct {
	// New makes an empty database that belongs to the test.
	New func(t testing.TB) Store
	// Schema is the name of the schema that New's tables are in.
	Schema string
	// Placeholder is how a statement names its parameters: "$" or "?".
	Placeholder string
	// Text, Integer, Bytes and Time are column types.
	Text, Integer, Bytes, Time string
	// Keys are the types a key column may have.
	Keys []KeyColumn
	// Refused are types of columns that cannot hold keys.
	Refused []string
}

// KeyColumn is a type of key column and what it holds.
type KeyColumn struct {
	Type string
	// Holds are keys the column can hold, no two of them one value.
	Holds []string
	// Stored is what a handler writes for a key; nil means the key itself.
	Stored func(key string) any
	// Same are pairs of spellings of one value.
	Same [][2]string
	// Unfit are keys the column cannot hold.
	Unfit []string
}

// Store is an empty database of a Backend.
type Store interface {
	// Exec runs a statement as the database's owner, and fails the test when it
	// fails.
	Exec(sql string, args ...any)
	// Open opens the database as a ledger. The caller closes it.
	Open(o Opening) (reconcile.Ledger, error)
	// Write runs a statement through the ledger's own session, as nothing but a
	// test would.
	Write(l reconcile.Ledger, sql string) error
}

// Opening says how a ledger is opened.
type Opening struct {
	AllowScan bool
	Timeout   time.Duration
	MaxConns  int
}

// Conform runs the suite that every ledger must pass.
func Conform(t *testing.T, b Backend) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"ReadsEveryKeyType", testKeyTypes},
		{"RefusesColumnsThatCannotHoldKeys", testRefusedTypes},
		{"ReadsHostileKeys", testHostileKeys},
		{"TakesOversizedBatches", testBatches},
		{"CountsPassingRows", testWhen},
		{"NullKeysAreNobodys", testNullKeys},
		{"TimesOfPassingRows", testTimes},
		{"NewestClaimOfUnfinishedRows", testClaims},
		{"FingerprintsInLowerCaseHex", testFingerprints},
		{"AnswersEachSource", testSources},
		{"FindsDefaultColumns", testDefaults},
		{"ResolvesNames", testNames},
		{"SaysWhichTableIsMissing", testMissingTable},
		{"SaysWhichColumnIsMissing", testMissingColumn},
		{"RefusesToScan", testNoIndex},
		{"JudgesUniqueIndexes", testUnique},
		{"RefusesBrokenPredicates", testPredicates},
		{"PredicatesSeeOnlyTheirTable", testPredicateScope},
		{"SaysHowFarBackItRemembers", testOldest},
		{"SaysWhatItIs", testFacts},
		{"CannotWrite", testReadOnly},
		{"SeesBothSourcesAtOneInstant", testOneSnapshot},
		{"SeesCommitsBetweenReads", testFreshness},
		{"ServesManyAtOnce", testConcurrency},
		{"EndsWithItsContext", testCancel},
		{"IsClosedOnce", testClosed},
		{"AgreesWithModel", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, &bench{Backend: b, T: t, store: b.New(t)}) })
	}
}

// bench is one test's database, and what tests do with it.
type bench struct {
	Backend
	*testing.T
	store Store
}

// exec runs a statement in which {text}, {int}, {bytes} and {time} are the
// backend's types, {schema} its schema, and {1}, {2} … parameters.
func (b *bench) exec(sql string, args ...any) {
	b.Helper()
	replacements := []string{
		"{text}", b.Text, "{int}", b.Integer, "{bytes}", b.Bytes, "{time}", b.Time, "{schema}", b.Schema,
	}
	for i, p := range []string{"1", "2", "3", "4", "5", "6"} {
		if i < len(args) {
			replacements = append(replacements, "{"+p+"}", b.Placeholder+p)
		}
	}
	b.store.Exec(strings.NewReplacer(replacements...).Replace(sql), args...)
}

// open opens the ledger, closed with the test.
func (b *bench) open(o Opening) reconcile.Ledger {
	b.Helper()
	l, err := b.store.Open(o)
	if err != nil {
		b.Fatalf("opening the ledger: %v", err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// prepare opens the ledger and prepares the sources.
func (b *bench) prepare(sources ...reconcile.Source) reconcile.Lookup {
	b.Helper()
	return b.prepareOn(b.open(Opening{}), sources...)
}

func (b *bench) prepareOn(l reconcile.Ledger, sources ...reconcile.Source) reconcile.Lookup {
	b.Helper()
	k, err := l.Prepare(context.Background(), sources)
	if err != nil {
		var e *reconcile.LedgerError
		if errors.As(err, &e) {
			b.Fatalf("preparing: %v (hint: %s)", err, e.Hint)
		}
		b.Fatalf("preparing: %v", err)
	}
	return k
}

// read reads keys and insists that there is an answer for each.
func (b *bench) read(k reconcile.Lookup, keys ...string) [][]reconcile.Row {
	b.Helper()
	rows, err := k.Read(context.Background(), keys, false)
	if err != nil {
		b.Fatalf("reading: %v", err)
	}
	if len(rows.Keys) != len(keys) {
		b.Fatalf("%d answers for %d keys", len(rows.Keys), len(keys))
	}
	if rows.Lagging {
		b.Error("a single server says that it lags")
	}
	if len(keys) > 0 && rows.At.IsZero() {
		b.Error("the answer does not say when it was true")
	}
	return rows.Keys
}

// refusal is a ledger's error as its reader sees it.
type refusal struct{ text, hint string }

// refused insists that preparing the source fails in the way given.
func (b *bench) refused(l reconcile.Ledger, s reconcile.Source, kind reconcile.LedgerErrorKind) refusal {
	b.Helper()
	_, err := l.Prepare(context.Background(), []reconcile.Source{s})
	return b.failsAs(err, kind)
}

func (b *bench) failsAs(err error, kind reconcile.LedgerErrorKind) refusal {
	b.Helper()
	var e *reconcile.LedgerError
	if !errors.As(err, &e) {
		b.Fatalf("error %v is no LedgerError", err)
	}
	if e.Kind != kind {
		b.Errorf("error kind %d, want %d: %v", e.Kind, kind, err)
	}
	if e.Ledger == "" {
		b.Errorf("the error does not name its ledger: %v", err)
	}
	return refusal{e.Error(), e.Hint}
}

func (b *bench) mentions(what, text string, words ...string) {
	b.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			b.Errorf("%s %q does not mention %q", what, text, w)
		}
	}
}
