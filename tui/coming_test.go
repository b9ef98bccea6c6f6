package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

func TestWordsOfTheChartsFit(t *testing.T) {
	for _, width := range []int{40, 48, 60, 80, 100, 160} {
		d := drive(t, newFake())
		d.audit.Overdue = 123
		d.audit.Due[3], d.audit.Archived[0] = 108_108, 5_000
		d.send(size(width, 40))
		for _, want := range []string{"! 123 overdue, 108", "5", " in "} {
			d.sees(want)
		}
		_, charts, _ := strings.Cut(d.screen(), "COMING AND GONE")
		if charts, _, _ = strings.Cut(charts, "\n    \n"); strings.Contains(charts, "…") {
			t.Errorf("at %d columns words are cut:\n%s", width, charts)
		}
	}
}

// A lock that was left behind ends as well as one that a task holds.
func TestEveryLockThatEndsIsCounted(t *testing.T) {
	b := NewBook(noon, nil)
	held := fakeTask(0, "q", inspect.StatePending)
	held.Lock = &reconcile.Lock{Key: "k0", TTL: 30 * time.Second, State: reconcile.LockHeld}
	b.Judged(&held)
	taken := fakeTask(1, "q", inspect.StatePending)
	taken.Lock = &reconcile.Lock{Key: "k0", TTL: 30 * time.Second, State: reconcile.LockTaken}
	b.Judged(&taken) // the lock of the first: not another
	for _, code := range []reconcile.Code{reconcile.CodeLockOrphaned, reconcile.CodeLockPhantom, reconcile.CodeLockExpiresEarly} {
		b.Finding(reconcile.Finding{Code: code, Lock: &reconcile.Lock{Key: string(code), TTL: 90 * time.Second, State: reconcile.LockHeld}})
	}
	a := b.Close(&reconcile.Report{}, 0)
	if a.Ending[0] != 1 || a.Ending[1] != 2 || a.EndingAfter != 0 {
		t.Errorf("%d locks end in the first minute and %d in the second", a.Ending[0], a.Ending[1])
	}
}
