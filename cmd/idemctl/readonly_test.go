package main

import (
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// The permissions page promises that this user is enough.
func TestAuditWorksForARedisUserWhoMayOnlyRead(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	server := inspecttest.StartServer(t)
	server.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, ID: "a"},
		inspecttest.Spec{Outcome: inspecttest.Active, ID: "b"},
		inspecttest.Spec{Outcome: inspecttest.Aggregating, ID: "c"},
	)
	user := server.AddUser("reader", "hunter2", "~asynq:* resetchannels -@all +@read +ping +select +info +time +client|setname")
	for _, args := range [][]string{
		{"audit", "--fail-on", "none"}, {"tasks"}, {"explain", "default", "b"},
	} {
		args = append(args, "--uri", user.URI(), "--ledger", db.DSN)
		code, _, errs := inProcess(t, args...)
		if code != exitDone {
			t.Errorf("%v: exit code %d; stderr:\n%s", args, code, errs)
		}
	}
}
