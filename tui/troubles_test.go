package tui

import (
	"errors"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

func lostLedger() error {
	return &reconcile.LedgerError{Kind: reconcile.LedgerUnreachable, Ledger: "main", Err: errors.New("connection reset")}
}

func lostRedis() error {
	return &inspect.Error{Kind: inspect.KindUnreachable, Op: "connect", Addr: "redis.test:6379", Err: errors.New("connection refused")}
}

func TestLedgerThatIsBackIsNoTroubleOnTheOverview(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	f.fail["ping"] = lostLedger()
	d.wait(12*time.Second).sees("! ledger main has not answered since 12:00:00, 12s: connection reset", "FINDINGS")
	delete(f.fail, "ping")
	d.wait(4 * time.Second).lacks("has not answered")
	f.fail["ping"] = lostLedger()
	d.wait(5*time.Second).sees("since 12:00:15, 6s", "connection reset")
}

func TestLedgerWhoseLookupsFailIsATroubleWhileTheyDo(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter>")
	f.fail["rows"] = &reconcile.LedgerError{Kind: reconcile.LedgerMissing, Ledger: "main", Err: errors.New("no table processed_tasks")}
	d.wait(6 * time.Second)
	for range 12 {
		d.wait(time.Second).sees("! ledger main fails since", "no table processed_tasks")
	}
	d.keys("<esc>").wait(10 * time.Second).lacks("no table")
}

func TestSlowSourceIsNamed(t *testing.T) {
	for keys, want := range map[string]string{
		":archived<enter>":          "slow: no answer for 3s from Redis (the list)",
		":archived<enter>/x<enter>": "slow: no answer for 3s from Redis and the ledgers (the list)",
	} {
		d := drive(t, newFake())
		d.hold = true
		d.keys(keys)
		d.wait(3 * time.Second).sees(want)
	}
	d := drive(t, newFake())
	d.hold = true
	d.wait(5 * time.Second)
	for _, m := range d.answers() {
		if r, ok := m.(reply); !ok || r.slot != slotPing {
			d.take(m)
		}
	}
	d.wait(3 * time.Second).sees("no answer for 3s from the ledgers")

	d = drive(t, newFake())
	d.keys(":archived<enter>")
	d.hold = true
	d.wait(5 * time.Second)
	for _, m := range d.answers() {
		if r, ok := m.(reply); !ok || r.slot != slotRows {
			d.take(m)
		}
	}
	d.hold = true
	d.wait(3 * time.Second).sees("Redis and the ledgers (the tasks shown)")
}

func TestFailedAuditLeavesOldFindingsOld(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	f.fail["audit"] = errors.New("out of memory")
	d.wait(70 * time.Second)
	if f.calls["audit"] != 2 {
		t.Fatalf("%d audits", f.calls["audit"])
	}
	d.sees("FINDINGS  ! 19 tasks audited 1m ago · ! the audit failed 10s ago: out of memory", "▲ 12 high", "COMING AND GONE  ! audited 1m ago")
	delete(f.fail, "audit")
	d.keys("a").sees("FINDINGS  19 tasks audited now", "COMING AND GONE  audited now")
}

func TestAuditThatNobodyRepeatsGetsOld(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.audit.Took = time.Second
	d.hold = true
	d.wait(2 * time.Minute).lacks("! 19 tasks")
	d.wait(5*time.Second).sees("FINDINGS  ! 19 tasks audited 2m ago", "COMING AND GONE  ! audited 2m ago")
}
