package pgledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// open opens a ledger, closed with the test.
func open(t *testing.T, o pgledger.Options) *pgledger.Ledger {
	t.Helper()
	if o.Name == "" {
		o.Name = "main"
	}
	l, err := pgledger.Open(context.Background(), o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func prepare(t *testing.T, l *pgledger.Ledger, sources ...reconcile.Source) reconcile.Lookup {
	t.Helper()
	k, err := l.Prepare(context.Background(), sources)
	if err != nil {
		t.Fatalf("preparing: %v", err)
	}
	return k
}

func read(t *testing.T, k reconcile.Lookup, fence bool, keys ...string) reconcile.Rows {
	t.Helper()
	rows, err := k.Read(context.Background(), keys, fence)
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return rows
}

// failsAs insists on a LedgerError of the kind, whose text and hint mention the
// words, and returns the hint.
func failsAs(t *testing.T, err error, kind reconcile.LedgerErrorKind, words ...string) (hint string) {
	t.Helper()
	var e *reconcile.LedgerError
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no LedgerError", err)
	}
	if e.Kind != kind {
		t.Errorf("error kind %d, want %d: %v", e.Kind, kind, err)
	}
	text := e.Error() + "\nhint: " + e.Hint
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("error does not mention %q:\n%s", w, text)
		}
	}
	return e.Hint
}

var marks = reconcile.Source{Role: reconcile.RoleMark, Table: "marks"}
