package main

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// A wrong password has its own words and a hint, ends with exit code 3, and is
// printed nowhere.
func TestWrongPasswordsAreSaidAndNotShown(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	server := inspecttest.StartServer(t)
	server.AddUser("reader", "right-secret", "~asynq:* -@all +@read +ping +info +time")
	role := db.Role("app", "right-secret")
	wrong := strings.Replace(db.As(role), "//"+role+"@", "//"+role+":wrong-secret@", 1)
	for name, args := range map[string][]string{
		"redis":  {"--uri", server.URI(), "-U", "reader", "-p", "wrong-secret", "--ledger", db.DSN},
		"ledger": {"--uri", server.URI(), "--ledger", wrong},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := inProcess(t, append([]string{"audit"}, args...)...)
			if code != exitSource || out != "" {
				t.Errorf("exit code %d and stdout %q, want %d and nothing", code, out, exitSource)
			}
			if !strings.Contains(errs, "password") || !strings.Contains(errs, "hint: ") {
				t.Errorf("stderr says nothing of a password, or gives no hint:\n%s", errs)
			}
			if strings.Contains(errs, "wrong-secret") {
				t.Errorf("the password is shown:\n%s", errs)
			}
		})
	}
}

// A ledger that is a replica may be behind: what it lacks is unknown, never lost,
// and the doctor says so.
func TestAReplicaLedgerProvesNoAbsence(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	db.Exec(`INSERT INTO processed_tasks VALUES ('old', now() - interval '300 days')`)
	server := inspecttest.Start(t)
	server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "archived"})
	replica := db.Replica()
	replica.CatchUp()
	code, out, errs := inProcess(t, "audit", "--uri", server.URI(), "--ledger", replica.DSN, "--settle", "1ms", "-o", "ndjson")
	if code != exitFindings || !strings.Contains(out, `"replica-lag"`) || strings.Contains(out, "effect/lost") {
		t.Errorf("exit code %d; want %d, replica-lag and nothing lost:\n%s%s", code, exitFindings, out, errs)
	}
	code, out, _ = inProcess(t, "doctor", "--uri", server.URI(), "--ledger", replica.DSN)
	if code != exitFindings || !strings.Contains(out, "this is a replica") {
		t.Errorf("exit code %d; the doctor does not say that the ledger is a replica:\n%s", code, out)
	}
}
