package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// A Redis of the journal's address with another run ID was started again, or is
// another one behind a tunnel. What it lacks proves nothing: nobody settles or puts
// back anything there unasked.
func TestAnotherRunIDIsNotTakenForTheJournalsRedisUnasked(t *testing.T) {
	n := newJournalNight(t)
	refs := n.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-1"}, inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-2"})
	n.db.Exec(`INSERT INTO processed_tasks VALUES ('done-1', now()), ('done-2', now())`)
	if code, out, errs := n.run(t, "resolve", "-q", "default", "--yes", "--journal", n.path); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	before := readFile(t, n.path)
	made := regexp.MustCompile(`#[0-9a-f]{40}`)
	if !made.MatchString(before) {
		t.Fatalf("the journal has no run ID:\n%s", before)
	}
	var all, open strings.Builder // the run, and as if it had been killed before its results
	for l := range strings.Lines(before) {
		object, _, _ := strings.Cut(made.ReplaceAllString(l, "#"+strings.Repeat("0", 40)), `,"crc":`)
		l = fmt.Sprintf(`%s,"crc":"%08x"}`+"\n", object, crc32.Checksum([]byte(object), crc32.MakeTable(crc32.Castagnoli)))
		all.WriteString(l)
		if !strings.Contains(l, `"kind":"result"`) && !strings.Contains(l, `"kind":"end"`) {
			open.WriteString(l)
		}
	}
	changed := all.String()
	for name, c := range map[string]struct {
		text string
		args []string
	}{
		"restore": {changed, []string{"journal", "restore", "--run", "last", "--all"}},
		"resume":  {open.String(), []string{"journal", "resume"}},
	} {
		write := func() {
			if err := os.WriteFile(n.path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write()
		args := slices.Concat(c.args, []string{"--journal", n.path})
		code, out, errs := n.run(t, append(args, "--yes")...)
		if code != exitUsage || !strings.Contains(errs, "started again or failed over since, or its address leads to another server") || !strings.Contains(errs, "--accept-restart") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errs)
		}
		if readFile(t, n.path) != c.text || n.redis.Client().Exists(t.Context(), inspect.TaskKey(refs[0])).Val() != 0 {
			t.Errorf("%s: something was changed", name)
		}
		code, _, errs = n.run(t, append(args, "--dry-run")...)
		if code != exitDone || !strings.Contains(errs, "warning: the journal has the Redis ") {
			t.Errorf("%s --dry-run: exit code %d\n%s", name, code, errs)
		}
		write()
		if code, out, errs := n.run(t, append(args, "--yes", "--accept-restart")...); code != exitDone || strings.Contains(errs, "started again") {
			t.Errorf("%s --accept-restart: exit code %d\n%s%s", name, code, out, errs)
		}
		n.redis.Client().FlushDB(t.Context())
	}
	write := os.WriteFile(n.path, []byte(changed), 0o600)
	if write != nil {
		t.Fatal(write)
	}
	if _, _, errs := n.run(t, "journal", "verify", "last", "--journal", n.path); !strings.Contains(errs, "that a task is gone is no proof there") {
		t.Errorf("verify does not say so:\n%s", errs)
	}
}
