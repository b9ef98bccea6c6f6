package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// kindLine is a line of ttl-calc --all -o ndjson.
type kindLine struct {
	Type    string   `json:"type"`
	Verdict string   `json:"verdict"`
	InUse   *float64 `json:"ttl_in_use_s"`
	From    string   `json:"ttl_in_use_from"`
	Needed  *float64 `json:"ttl_needed_s"`
	By      *float64 `json:"by_s"`
	Period  *float64 `json:"period_s"`
	Short   int      `json:"short_tasks"`
	Why     string   `json:"why"`
}

func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func kindLines(t *testing.T, out string) map[string]kindLine {
	t.Helper()
	lines := map[string]kindLine{}
	for line := range strings.Lines(out) {
		var k kindLine
		if err := json.Unmarshal([]byte(line), &k); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines[k.Type] = k
	}
	return lines
}

// served starts a server that takes tasks from the queue and finds none due.
func served(t *testing.T, s *inspecttest.Server, queue string) {
	t.Helper()
	s.Serve(map[string]int{queue: 1}, 1, func(context.Context, *asynq.Task) error { return errors.New("not meant to run") })
}

// The four verdicts, drawn from a real Redis: nothing is called fine that is not.
func TestAllDrawsEveryVerdict(t *testing.T) {
	s := inspecttest.Start(t)
	unique := func(ttl time.Duration) []asynq.Option {
		return []asynq.Option{asynq.Unique(ttl), asynq.MaxRetry(2), asynq.Timeout(time.Minute)}
	}
	s.Make(
		inspecttest.Spec{Type: "short", Payload: []byte("1"), Outcome: inspecttest.Scheduled, Options: unique(time.Minute)},
		inspecttest.Spec{Type: "long", Payload: []byte("2"), Outcome: inspecttest.Scheduled, Options: unique(48 * time.Hour)},
		inspecttest.Spec{Type: "fine", Payload: []byte("3"), Outcome: inspecttest.Scheduled, Options: unique(time.Hour)},
		inspecttest.Spec{Type: "plain", Payload: []byte("4"), Outcome: inspecttest.Scheduled},
		inspecttest.Spec{Type: "dated", Payload: []byte("6"), Outcome: inspecttest.Scheduled, Options: []asynq.Option{
			asynq.Unique(48 * time.Hour), asynq.MaxRetry(0), asynq.Deadline(time.Now().Add(72 * time.Hour)),
		}},
		inspecttest.Spec{Type: "growing", Payload: []byte("7"), Outcome: inspecttest.Scheduled, Options: unique(time.Hour)},
		inspecttest.Spec{Type: "drifting", Payload: []byte("5"), Outcome: inspecttest.Retry, Options: unique(time.Hour)},
	)
	served(t, s, "default")
	config := t.TempDir() + "/config.yaml"
	writeConfig(t, config, `
current_context: c
contexts:
  - name: c
    redis: {uri: "`+s.URI()+`"}
    ledgers: [{name: main, dsn: "postgres://nobody@127.0.0.1:1/none"}]
    rules:
      - match: {type: long}
        unique: {ttl: 48h, period: 24h}
      - match: {type: growing}
        policy: {max_retry: 25}
      - match: {type: unseen}
        unique: {ttl: 10m}
`)
	code, out, errs := inProcess(t, "ttl-calc", "--all", "--config", config, "-o", "ndjson")
	if code != exitFindings {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	lines := kindLines(t, out)
	for name, want := range map[string]string{
		"short": "too-short", "long": "too-long", "fine": "fine", "plain": "unlocked", "drifting": "unknown", "unseen": "too-short",
		"dated": "unknown", "growing": "too-short",
	} {
		if got := lines[name]; got.Verdict != want {
			t.Errorf("%s is %s, want %s: %+v", name, got.Verdict, want, got)
		}
	}
	// Two retries of the default policy, three runs of a minute, three hops of the
	// forwarder: 44+74 + 180 + 15, and the second that a scheduled lock loses.
	if short := lines["short"]; short.Needed == nil || *short.Needed != 314 || *short.InUse != 60 || *short.By != 254 || short.Short != 1 {
		t.Errorf("short: %+v", short)
	}
	if long := lines["long"]; long.From != "configuration" || *long.Period != 86400 || *long.By != 86400 {
		t.Errorf("long: %+v", long)
	}
	if drifting := lines["drifting"]; drifting.Needed != nil || !strings.Contains(drifting.Why, "declare the true one") {
		t.Errorf("drifting: %+v", drifting)
	}
}

// What the configuration says is not believed where the locks say otherwise.
func TestDeclaredTTLThatNoLockHasIsNotCalledFine(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{
		Type: "t", Payload: []byte("1"), Outcome: inspecttest.Scheduled,
		Options: []asynq.Option{asynq.Unique(time.Minute), asynq.MaxRetry(2), asynq.Timeout(time.Minute)},
	})
	served(t, s, "default")
	config := t.TempDir() + "/config.yaml"
	writeConfig(t, config, `
current_context: c
contexts:
  - name: c
    redis: {uri: "`+s.URI()+`"}
    ledgers: [{name: main, dsn: "postgres://nobody@127.0.0.1:1/none"}]
    rules: [{match: {type: t}, unique: {ttl: 24h}}]
`)
	_, out, errs := inProcess(t, "ttl-calc", "--all", "--config", config, "-o", "ndjson")
	k := kindLines(t, out)["t"]
	if k.Verdict != "too-short" || *k.InUse != 60 || !strings.Contains(k.From, "the configuration says 1d") {
		t.Errorf("%+v\n%s", k, errs)
	}
}

// What tasks themselves carry beats asynq's defaults, and never what was
// declared.
func TestObservedTasksTellTheirOwnOptions(t *testing.T) {
	s := inspecttest.Start(t)
	s.Make(inspecttest.Spec{
		Type: "t", Outcome: inspecttest.Scheduled, Options: []asynq.Option{asynq.MaxRetry(3), asynq.Timeout(20 * time.Second)},
	})
	served(t, s, "default")
	_, out, errs := inProcess(t, "ttl-calc", "--observed", "--type", "t", "--uri", s.URI())
	for _, want := range []string{"# max_retry = 3  (1 task in default)", "# timeout_s = 20s  (1 task in default)", "L_max"} {
		if (want == "L_max") == strings.Contains(out, want) {
			t.Errorf("%q: %s%s", want, out, errs)
		}
	}
	_, out, _ = inProcess(t, "ttl-calc", "--observed", "--type", "t", "--uri", s.URI(), "--max-retry", "5")
	if !strings.Contains(out, "# max_retry = 5  (--max-retry)") || !strings.Contains(out, "# timeout_s = 20s  (1 task in default)") {
		t.Errorf("%s", out)
	}
}

// Reading changes nothing in Redis, and a user who may only read suffices.
func TestObservingOnlyReads(t *testing.T) {
	s := inspecttest.StartServer(t)
	s.Make(inspecttest.Spec{Type: "t", Payload: []byte("1"), Outcome: inspecttest.Scheduled, Options: []asynq.Option{asynq.Unique(time.Hour)}})
	reader := s.AddUser("reader", "secret", "~asynq:* -@all +@read +ping +info +time")
	before := s.Snapshot()
	for _, args := range [][]string{{"--all"}, {"--observed", "--type", "t"}} {
		code, out, errs := inProcess(t, append([]string{"ttl-calc", "--uri", reader.URI()}, args...)...)
		if code == exitSource || code == exitUsage || out == "" {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
		if strings.Contains(out+errs, "secret") {
			t.Errorf("%v: the password is shown", args)
		}
	}
	after := s.Snapshot()
	if len(before) != len(after) {
		t.Errorf("%d keys before, %d after", len(before), len(after))
	}
	for key, value := range before {
		if after[key] != value {
			t.Errorf("%s has changed", key)
		}
	}
}

// statementOf takes the pruning statement out of a document.
func statementOf(t *testing.T, out string) string {
	t.Helper()
	var document struct {
		Tables []struct{ Statement *string }
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if len(document.Tables) != 1 || document.Tables[0].Statement == nil {
		t.Fatalf("no statement: %s", out)
	}
	return *document.Tables[0].Statement
}

// The printed statement, run for once, deletes old rows in batches and no other:
// not the young row of an old key, not an unfinished claim.
func TestPrintedStatementPrunesOldRowsInBatches(t *testing.T) {
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE "Done Tasks" (task_id text, "processed at" timestamptz, status text)`)
	db.Exec(`CREATE INDEX ON "Done Tasks" (task_id)`)
	db.Exec(`INSERT INTO "Done Tasks" SELECT 'old'||n, now() - interval '40 days', 'done' FROM generate_series(1, 25) n`)
	db.Exec(`INSERT INTO "Done Tasks" VALUES ('old1', now(), 'done'), ('young', now(), 'done'), ('claim', now() - interval '40 days', 'claimed')`)
	config := t.TempDir() + "/config.yaml"
	writeConfig(t, config, `
current_context: c
contexts:
  - name: c
    ledgers: [{name: main, dsn: "`+db.DSN+`"}]
    rules:
      - match: {type: t}
        mark: {table: '"Done Tasks"', column: task_id, at: '"processed at"', when: "status = 'done'"}
        policy: {max_retry: 0, timeout: 1m}
`)
	code, out, errs := inProcess(t, "ledger", "retention", "--config", config, "--reruns", "0", "--batch-size", "10", "-o", "json")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	statement := statementOf(t, out)
	for _, left := range []int{18, 8, 3, 3} {
		db.Exec(statement)
		if n := db.Value(`SELECT count(*) FROM "Done Tasks"`); n != strconv.Itoa(left) {
			t.Fatalf("%s rows are left, want %d, after\n%s", n, left, statement)
		}
	}
	if n := db.Value(`SELECT count(*) FROM "Done Tasks" WHERE task_id IN ('old1', 'young', 'claim')`); n != "3" {
		t.Errorf("%s of the three rows that must stay are left", n)
	}
}

// SQLite keeps times as its writers spell them: text is compared as time, and
// what is no text deletes nothing rather than too much.
func TestPrintedStatementPrunesSQLite(t *testing.T) {
	file := t.TempDir() + "/app.db"
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	count := func() (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM processed_tasks").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	exec(`CREATE TABLE processed_tasks (task_id TEXT PRIMARY KEY, processed_at)`)
	exec(`INSERT INTO processed_tasks VALUES ('old', datetime('now', '-40 days')), ('rfc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-41 days')),
		('young', datetime('now')), ('unix', unixepoch('now', '-40 days'))`)
	code, out, errs := inProcess(t, "ledger", "retention", "--ledger", "sqlite:"+file, "--reruns", "0", "--max-retry", "0", "-o", "json")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	exec(statementOf(t, out))
	if n := count(); n != 2 {
		t.Errorf("%d rows are left, want the young one and the one in Unix seconds:\n%s", n, statementOf(t, out))
	}
}
