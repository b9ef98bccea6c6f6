package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

// A run that lost its ledger ends with what to do about it, as one that lost Redis does.
func TestLostLedgerHasAHint(t *testing.T) {
	lost := &reconcile.LedgerError{Kind: reconcile.LedgerUnreachable, Ledger: "main", Err: errors.New("connection reset")}
	early := &reconcile.EndedEarlyError{Why: "the ledger was lost: " + lost.Error(), Err: lost}
	var b strings.Builder
	report(&b, &brokenOff{early})
	want := "idemctl: error: the ledger was lost: ledger main: connection reset\n" +
		"idemctl: hint: check that the ledger's server runs and can be reached: idemctl doctor\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	lost.Hint = "name a file"
	if got := hints(early); len(got) != 1 || got[0] != "name a file" {
		t.Errorf("hints %q, want the ledger's own", got)
	}
}
