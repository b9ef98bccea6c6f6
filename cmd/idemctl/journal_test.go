package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// journalNight is a Redis with something to repair, and a ledger that takes a copy
// of the journal.
type journalNight struct {
	redis        *inspecttest.Server
	db           *reconciletest.Database
	config, path string
}

// newJournalNight writes a configuration whose context has the given lines more.
func newJournalNight(t *testing.T, more ...string) *journalNight {
	t.Helper()
	n := &journalNight{redis: inspecttest.Start(t), db: reconciletest.Postgres(t)}
	n.db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	n.db.Exec(`INSERT INTO processed_tasks VALUES ('long-ago', now() - interval '300 days')`)
	dir := t.TempDir()
	n.config, n.path = filepath.Join(dir, "config.yaml"), filepath.Join(dir, "journal.jsonl")
	lines := append([]string{
		"contexts:", "  - name: night", "    redis: {uri: '" + n.redis.URI() + "'}",
		"    ledgers: [{name: main, dsn: '" + n.db.DSN + "'}]", "    settle: 1ms",
	}, more...)
	if err := os.WriteFile(n.config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := n.run(t, "ledger", "init", "--journal", "--create", "--yes"); code != exitDone {
		t.Fatalf("making the table: exit code %d\n%s", code, errs)
	}
	return n
}

func (n *journalNight) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return inProcess(t, append(args, "--config", n.config)...)
}

// ghost is a task that a repair puts back.
func (n *journalNight) ghost(spec inspecttest.Spec) inspect.Ref {
	spec.Outcome = inspecttest.Archived
	ref := n.redis.Make(spec)[0]
	n.redis.Ghost(ref)
	return ref
}

func (n *journalNight) repair(t *testing.T) (code int, stdout, stderr string) {
	t.Helper()
	return n.run(t, "integrity", "repair", "--kind", "ghost", "--yes")
}

// ghosts counts the tasks that are still in no list.
func (n *journalNight) ghosts(t *testing.T) int {
	t.Helper()
	_, out, _ := n.run(t, "integrity", "-o", "ndjson")
	return strings.Count(out, `"code":"integrity/ghost"`)
}

const journalInLedger = "    journal: {file: journal.jsonl, ledger: main, table: idemctl_journal"

// secrets are what must be nowhere, in any spelling that a record may have.
var secrets = []string{"4111-1111", "hunter2-token", "9999-result"}

func holdsSecret(text string) string {
	for _, s := range secrets {
		spellings := []string{s, hex.EncodeToString([]byte(s))}
		for shift := range 3 {
			// The middle of base64 does not depend on what is around it.
			b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + s))
			spellings = append(spellings, b[4:len(b)-4])
		}
		for _, spelt := range spellings {
			if strings.Contains(text, spelt) {
				return fmt.Sprintf("%q (as %q)", s, spelt)
			}
		}
	}
	return ""
}

func TestRedactedJournalHoldsNothingOfWhatIsHidden(t *testing.T) {
	for name, redact := range map[string]struct {
		line string
		kept int // payloads that keep what is not hidden
	}{
		"whole payloads": {"    redact: []", 0},
		"named fields":   {"    redact: [payload.card, headers.token]", 3},
	} {
		t.Run(name, func(t *testing.T) {
			n := newJournalNight(t, journalInLedger+", redact: true}", redact.line)
			payloads := map[string]string{
				"json":    `{"card":"4111-1111","order":"kept-7777"}`,
				"nested":  `[{"CARD":{"number":"4111-1111"}}, {"order":"kept-7777"}]`,
				"escaped": `{"c\u0061rd":"4111-1111","order":"kept-7777"}`,
				"text":    "card=4111-1111",
				"binary":  "\xff\xfe\x00 4111-1111 \xff",
				"empty":   "",
			}
			for id, payload := range payloads {
				headers := map[string]string{"trace": "1"}
				if redact.kept > 0 {
					headers["token"] = "hunter2-token"
				}
				ref := n.ghost(inspecttest.Spec{
					ID: id, Payload: []byte(payload), Headers: headers,
					Err: errors.New("charging 4111-1111 failed"), Options: []asynq.Option{asynq.MaxRetry(0)},
				})
				if err := n.redis.Client().HSet(t.Context(), inspect.TaskKey(ref), "result", `{"card":"9999-result"}`, "later_field", "4111-1111").Err(); err != nil {
					t.Fatal(err)
				}
			}
			if code, _, errs := n.repair(t); code != exitDone {
				t.Fatalf("exit code %d\n%s", code, errs)
			}
			file, err := os.ReadFile(n.path)
			if err != nil {
				t.Fatal(err)
			}
			table := n.db.Value("SELECT string_agg(j::text, E'\n') FROM idemctl_journal j")
			for where, text := range map[string]string{"file": string(file), "table": table} {
				if held := holdsSecret(text); held != "" {
					t.Errorf("the %s holds %s", where, held)
				}
			}
			images, kept := checkImages(t, n.path, "kept-7777")
			if images != len(payloads) || kept != redact.kept {
				t.Errorf("%d tasks in the journal, want %d; %d payloads still have what is not hidden, want %d", images, len(payloads), kept, redact.kept)
			}
		})
	}
}

// checkImages insists that every task in the journal says that it was redacted and
// that its message can be read. It counts those whose payload holds a text.
func checkImages(t *testing.T, path, text string) (images, holding int) {
	t.Helper()
	for r, err := range journal.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Task == nil {
			continue
		}
		images++
		if !r.Task.Redacted {
			t.Errorf("task %s does not say that it was redacted", r.TaskID)
		}
		for _, f := range r.Task.Fields {
			if held := holdsSecret(f.Value); held != "" {
				t.Errorf("task %s: field %s holds %s", r.TaskID, f.Name, held)
			}
			if f.Name != "msg" {
				continue
			}
			task, err := inspect.DecodeMessage(inspect.Ref{}, []byte(f.Value))
			if err != nil || task.Type != "test:task" || task.MaxRetry != 0 || task.Headers["trace"] != "1" {
				t.Errorf("task %s: %+v, %v", r.TaskID, task, err)
			}
			if strings.Contains(string(task.Payload), text) {
				holding++
			}
		}
	}
	return images, holding
}

func TestJournalWithoutRedactionKeepsTasksByteForByte(t *testing.T) {
	n := newJournalNight(t, journalInLedger+"}", "    redact: [payload.card]")
	ref := n.ghost(inspecttest.Spec{ID: "a", Payload: []byte(`{ "card":"4111-1111" }`)})
	before, err := n.redis.Client().HGetAll(t.Context(), inspect.TaskKey(ref)).Result()
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := n.repair(t); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	for r, err := range journal.Read(n.path) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Task == nil {
			continue
		}
		for _, f := range r.Task.Fields {
			if before[f.Name] != f.Value {
				t.Errorf("field %s is %q, and was %q", f.Name, f.Value, before[f.Name])
			}
		}
		if r.Task.Redacted || len(r.Task.Fields) != len(before) {
			t.Errorf("redacted %v, %d fields of %d", r.Task.Redacted, len(r.Task.Fields), len(before))
		}
	}
	// What no output shows is not shown from there either.
	code, out, errs := n.run(t, "journal", "show", "last", "--item", "1")
	if code != exitDone || strings.Contains(out, "4111") || !strings.Contains(out, "[redacted]") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// refuse has the database refuse rows of a kind, as a full disk or a new
// constraint would in the middle of a run.
func (n *journalNight) refuse(kinds string) {
	n.db.Exec(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'could not extend file'; END $$`)
	n.db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON idemctl_journal FOR EACH ROW WHEN (NEW.kind IN (` + kinds + `)) EXECUTE FUNCTION refuse()`)
}

func (n *journalNight) accept() { n.db.Exec("DROP TRIGGER refuse ON idemctl_journal") }

func (n *journalNight) inTable(t *testing.T) {
	t.Helper()
	file := 0
	for _, err := range journal.Read(n.path) {
		if err != nil {
			t.Fatal(err)
		}
		file++
	}
	if rows := n.db.Value("SELECT count(*) FROM idemctl_journal"); rows != fmt.Sprint(file) {
		t.Errorf("%s rows in the table and %d records in the file", rows, file)
	}
}

func TestNothingIsChangedWhoseIntentCannotBeCopied(t *testing.T) {
	n := newJournalNight(t, journalInLedger+"}")
	n.ghost(inspecttest.Spec{ID: "a"})
	n.refuse("'intent'")
	code, _, errs := n.repair(t)
	if code != exitSource || !strings.Contains(errs, "could not extend file") || !strings.Contains(errs, "idemctl_journal") {
		t.Errorf("exit code %d, want %d and why:\n%s", code, exitSource, errs)
	}
	if left := n.ghosts(t); left != 1 {
		t.Errorf("%d ghosts, want the one that could not be recorded", left)
	}
	for s, err := range journal.Runs(n.path) {
		if err != nil || s.NotBegun != 1 || !s.Settled() || !strings.Contains(s.EndedBy, "the copy of journal") {
			t.Errorf("the file says %+v (%v), want one never begun", s, err)
		}
	}
	n.accept()
	if code, _, errs = n.repair(t); code != exitDone {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if left := n.ghosts(t); left != 0 {
		t.Errorf("%d ghosts", left)
	}
	n.inTable(t)
}

func TestChangesWhoseResultsCannotBeCopiedAreDoneAndSaid(t *testing.T) {
	n := newJournalNight(t, journalInLedger+"}")
	n.ghost(inspecttest.Spec{ID: "a"})
	n.refuse("'result', 'end'")
	code, out, errs := n.repair(t)
	if code != exitDone || !strings.Contains(out, "1 done") || !strings.Contains(errs, "warning: the copy of journal") ||
		!strings.Contains(errs, "the next change adds what is missing") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for s, err := range journal.Runs(n.path) {
		if err != nil || s.Done != 1 || !s.Complete() {
			t.Errorf("the file says %+v (%v), want one done", s, err)
		}
	}
	n.accept()
	n.ghost(inspecttest.Spec{ID: "b"})
	if code, _, errs = n.repair(t); code != exitDone || strings.Contains(errs, "copy of journal") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	n.inTable(t)
}

// A journal that was cut or damaged is read as far as it goes, and nobody can take
// the answer for a whole one.
func TestDamagedJournalsAreReadAndSaid(t *testing.T) {
	n := newJournalNight(t, "    journal: {file: journal.jsonl}")
	for _, id := range []string{"a", "b", "c"} {
		n.ghost(inspecttest.Spec{ID: id})
	}
	if code, _, errs := n.repair(t); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	whole, err := os.ReadFile(n.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	for name, c := range map[string]struct {
		file, word string
	}{
		"damaged": {strings.Replace(string(whole), `"outcome":"done"`, `"outcome":"xxxx"`, 1), "is damaged"},
		"gapped":  {strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), "1 record is missing before line 3"},
		"torn":    {string(whole[:len(whole)-20]), "was not written to its end"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(n.path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"journal", "list", "-o", "json"}, {"journal", "show", "last", "-o", "json"}} {
				code, out, errs := n.run(t, args...)
				if code != exitIncomplete || strings.Count(errs, "warning: ") != 1 || !strings.Contains(errs, c.word) {
					t.Errorf("%v: exit code %d, want %d and one warning of what %s:\n%s", args, code, exitIncomplete, c.word, errs)
				}
				if !strings.Contains(out, `"complete":false,"problems":["`) || !strings.Contains(out, `"run":"20`) {
					t.Errorf("%v: %s", args, out)
				}
			}
		})
	}
	_ = os.Remove(n.path)
	if err := os.Mkdir(n.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := n.run(t, "journal", "list"); code != exitSource || !strings.Contains(errs, "not a regular file") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}
