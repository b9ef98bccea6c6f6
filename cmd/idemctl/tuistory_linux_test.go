package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// screen is the program on a terminal, with somebody before it.
type screen interface {
	// types types text, then looks at what comes after it.
	types(text string) screen
	// sees waits until the texts are shown.
	sees(texts ...string) screen
	// leaves waits for the end of the program, with its exit code.
	leaves(code int)
}

func TestBrowserFromTheFirstLookToTheUndo(t *testing.T) {
	morningAfter(t, func(t *testing.T, env []string, args ...string) screen { return sitDown(t, env, args...) })
}

// The same in a terminal that draws, which shows what is really seen.
func TestBrowserInTmuxFromTheFirstLookToTheUndo(t *testing.T) {
	morningAfter(t, func(t *testing.T, env []string, args ...string) screen { return inTmux(t, env, args...) })
}

// morningAfter is a morning after a bad night, from the first look to the last
// change taken back.
func morningAfter(t *testing.T, sit func(*testing.T, []string, ...string) screen) {
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	made := server.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "payment:charge", Payload: []byte(`{"b":2,"a":1}`), Err: fmt.Errorf("bank: no answer")},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "payment:refund", Err: fmt.Errorf("bank: refused")},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "mail:send", Err: fmt.Errorf("smtp: 421")},
		inspecttest.Spec{Outcome: inspecttest.Pending, Type: "mail:send"},
	)
	charge, lost := made[0], made[2]
	db.Exec(fmt.Sprintf(`INSERT INTO processed_tasks (task_id) VALUES ('%s'), ('%s')`, charge.ID, made[1].ID))
	home := t.TempDir()
	config := nightly(t, home, server.URI(), db.DSN)
	time.Sleep(2200 * time.Millisecond) // whole seconds lie behind the failures
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "IDEMCTL_CONFIG=" + config, "IDEMCTL_PAGER=cat"}
	before := server.Snapshot()

	s := sit(t, env, "tui", "--write")
	s.sees("◆O night", "WRITE", "effect/applied-archived", "effect/lost", "default")
	s.types(":archived\r").sees("[archived 3]", "✓ applied", "○ not-applied", "of 3")
	s.types("/charge\r").sees("1 of 1")
	s.types("\r").sees("its effect is applied", "to scale", "bank: no answer")
	s.types("G").sees("canonical", `"a": 1`)
	s.types("e").sees("archived as failed", "payload     {")
	s.types("\x1b").sees("its effect is applied")
	s.types("\x1b").sees("1 of 1")
	s.types("\x1b").sees("of 3")
	s.types("*X").sees("Resolve 2, hold 1", "not-applied")
	s.types("Aresolve 3\r").sees("that is not it")
	if changed(server, before) {
		t.Fatal("something was changed that was not confirmed")
	}
	s.types("\x15resolve 2\r").sees("Applied 2 of 2", "z plans to undo it")
	if _, there := server.Snapshot()[inspect.TaskKey(charge)]; there {
		t.Error("the task that was resolved is still there")
	}
	s.types("z").sees("Restore 2, hold 0")
	s.types("Arestore 2\r").sees("Applied 2 of 2")
	if changed(server, before) {
		t.Errorf("after the undo Redis is not as it was:\n%v\n%v", server.Snapshot(), before)
	}
	s.types(":archived\r").sees("of 3")
	s.types("/mail\r").sees("1 of 1")
	s.types("R").sees("No live server takes tasks of its queue", "hold 1")
	s.types(":journal\r").sees("2 runs", "tui: restore", "tui: resolve of 3 tasks")
	s.types("\x03").leaves(exitDone)
	if _, there := server.Snapshot()[inspect.TaskKey(lost)]; !there {
		t.Error("the lost task is gone")
	}
}

// nightly writes the configuration of such a night.
func nightly(t *testing.T, home, redis, ledger string) (file string) {
	t.Helper()
	file = filepath.Join(home, "config.yaml")
	write(t, file, fmt.Sprintf(`
current_context: night
contexts:
  - name: night
    settle: 1s
    confirm_after: 200ms
    redis: {uri: %q}
    ledgers:
      - {name: main, dsn: %q}
    rules:
      - match: {type: "*"}
        class: create
        mark: {table: processed_tasks, column: task_id, at: processed_at, retention: forever}
`, redis, ledger))
	return file
}

// A signal in the middle of a plan ends it in good order: the journal accounts for
// every item, and names the signal.
func TestSignalInTheMiddleOfAPlanIsInTheJournal(t *testing.T) {
	const tasks = 600 // 30 seconds at 20 a second
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	failed := time.Now().Add(-time.Hour).Unix()
	for _, ref := range server.Fill("default", inspect.StateArchived, tasks, func(_ int, m *inspecttest.Message) {
		m.Type, m.MaxRetry, m.Retried, m.LastErr, m.LastFailedAt = "mail:send", 1, 1, "smtp: 421", failed
	}) {
		db.Exec(`INSERT INTO processed_tasks VALUES ($1, now() - interval '1 hour')`, ref.ID)
	}
	home := t.TempDir()
	log := filepath.Join(home, "journal.jsonl")
	s := sitDown(t, []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "IDEMCTL_CONFIG=" + nightly(t, home, server.URI(), db.DSN)}, "tui", "--write", "--journal", log)
	s.sees("◆O night", "applied-archived")
	s.types(":archived\r").sees("of 600")
	s.types("*").sees("600 marked")
	s.types("X").sees("Resolve 600, hold 0")
	s.types("Aresolve 600\r").sees("Applying ")
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r, ok := summaryOfOnly(log); ok && r.Done > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing is done")
		}
	}
	if err := s.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.leaves(exitIncomplete)
	r, _ := summaryOfOnly(log)
	left := len(server.Client().ZRange(t.Context(), inspect.ArchiveKey("default"), 0, -1).Val())
	if r.EndedBy != "interrupted (SIGTERM)" || r.Planned != tasks || r.Pending != 0 || r.Done+r.NotBegun != tasks || left != r.NotBegun {
		t.Errorf("the journal has %+v, and %d tasks are left", r, left)
	}
}
