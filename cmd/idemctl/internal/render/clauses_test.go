package render

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

// A bare code in the report's opening is no answer at night.
func TestVerdictHasASentenceForEveryCodeThatHurts(t *testing.T) {
	for _, c := range reconcile.Codes() {
		if c.Severity() <= reconcile.SeverityInfo {
			continue
		}
		r := emptyReport()
		r.Totals.ByCode = map[reconcile.Code]int{c: 3}
		for _, v := range verdictOf(&r) {
			if strings.Contains(v.text, string(c)) {
				t.Errorf("%q names %s and says nothing of it", v.text, c)
			}
		}
	}
}

// What is counted together is told apart.
func TestVerdictNumbersTheKindsOfOneClause(t *testing.T) {
	for want, byCode := range map[string]map[reconcile.Code]int{
		"1 lock refuses work that nobody does: left behind.": {reconcile.CodeLockOrphaned: 1},
		"3 locks refuse work that nobody does: 2 of an archived task, 1 left behind.": {
			reconcile.CodeLockBlocks: 2, reconcile.CodeLockOrphaned: 1,
		},
	} {
		r := emptyReport()
		r.Totals.ByCode = byCode
		if got := verdictOf(&r)[0].text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A clause is put where its severity belongs, which all its codes share.
func TestClausesDoNotMixSeverities(t *testing.T) {
	for _, c := range clauses {
		for _, code := range c.codes {
			if code.Severity() != c.codes[0].Severity() {
				t.Errorf("%s is %s, and %s is %s", code, code.Severity(), c.codes[0], c.codes[0].Severity())
			}
		}
	}
}
