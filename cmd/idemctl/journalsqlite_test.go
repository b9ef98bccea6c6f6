package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// The file that is read for effects, read-only, is the one that the journal's
// table is in, and neither disturbs the other.
func TestJournalIsCopiedIntoASQLiteLedgerThatIsRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range []string{
		`CREATE TABLE processed_tasks (task_id TEXT PRIMARY KEY, processed_at TEXT)`,
		`INSERT INTO processed_tasks VALUES ('long-ago', datetime('now', '-300 days'))`,
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	redis := inspecttest.Start(t)
	redis.Ghost(redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "a"})[0])
	config := filepath.Join(dir, "config.yaml")
	text := "contexts:\n  - name: night\n    redis: {uri: '" + redis.URI() + "'}\n    settle: 1ms\n" +
		"    ledgers: [{name: main, dsn: 'sqlite:" + filepath.ToSlash(file) + "'}]\n" + journalInLedger + "}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ledger", "init", "--journal", "--create", "--yes"},
		{"integrity", "repair", "--kind", "ghost", "--yes"},
		{"journal", "show", "last", "--from-ledger", "--item", "1"},
	} {
		if code, out, errs := inProcess(t, append(args, "--config", config)...); code != exitDone || errs != "" {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	var rows, done int
	err = db.QueryRowContext(t.Context(), `SELECT count(*), count(*) FILTER (WHERE outcome = 'done') FROM idemctl_journal`).Scan(&rows, &done)
	if err != nil || rows != 4 || done != 1 {
		t.Errorf("%d rows, %d done (%v); want a run, an intent, a result that is done, and an end", rows, done, err)
	}
}
