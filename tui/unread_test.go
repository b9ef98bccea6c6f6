package tui

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Each screen whose first reading fails says so, and reads again at the refresh.
func TestScreenThatCouldNotBeReadSaysSoAndTriesAgain(t *testing.T) {
	for _, c := range []struct {
		call, keys, want, then string
	}{
		{"next", ":archived<enter>", "the list cannot be read: redis: connect", "task-0000"},
		{"explain", ":archived<enter><enter>", "not read: redis: connect", "TIMES"},
		{"locks", ":locks<enter>", "the locks cannot be read: redis: connect", "orphaned"},
	} {
		f := newFake()
		d := drive(t, f)
		d.send(size(120, 24))
		f.fail[c.call] = lostRedis()
		d.keys(c.keys)
		d.sees("! not read", "connection refused", "it is tried again in 5s").lacks("reading …")
		d.wait(3 * time.Second).sees("it is tried again in 2s")
		delete(f.fail, c.call)
		d.wait(2*time.Second).sees(c.then).lacks("not read", "cannot be read")
	}
}

func TestOverviewWithoutRedisFromTheStart(t *testing.T) {
	f := newFake()
	f.fail["counts"] = lostRedis()
	d := drive(t, f)
	d.sees("! not read", "FINDINGS  ! not read: connection refused; it is tried again in 5s", "QUEUES  ! not read: connection refused").lacks("reading …")
	delete(f.fail, "counts")
	d.wait(5*time.Second).sees("payments", "▲ 12 high").lacks("not read")
}

func TestLongListThatBrokeOffIsReadAnew(t *testing.T) {
	f := newFake()
	f.pages = 4000
	for i := range 3 * autoList {
		f.tasks = append(f.tasks, fakeTask(1000+i, "payments", inspect.StateArchived))
	}
	d := drive(t, f)
	d.keys(":tasks<enter>")
	d.hold = true
	d.keys("G")
	f.fail["next"] = lostRedis()
	d.release()
	d.sees("! broke off; it is tried again in 5s")
	delete(f.fail, "next")
	d.wait(10 * time.Second).lacks("broke off")
}

func TestTaskPageShowsWhatRedisSaysWhileTheLedgerIsLost(t *testing.T) {
	f := newFake()
	f.unread = lostLedger()
	d := drive(t, f)
	d.send(size(120, 60))
	d.keys(":archived<enter><enter>")
	d.sees("? its effect is unknown: ledger main did not answer: connection reset; it is tried again", "TIMES", "bank: gateway answered 500", "! ledger main has not answered")
	d.lacks("No rule matches", "not read")
	d.sees("LEDGER", "PAYLOAD", "LOCK", "Held by this task")
	f.unread = nil
	d.wait(5 * time.Second).lacks("its effect is unknown").sees("○ not-applied")
	f.unread = lostLedger()
	d.wait(5*time.Second).sees("! not read again: ", "○ not-applied")
	if d.top().(*detail).dossier.Verdict.Status == reconcile.StatusUnknown {
		t.Error("half a page replaced a whole one")
	}
}
