package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// Neither that a context is protected nor that everything was selected takes the
// question of the other away.
func TestEverythingOfAProtectedContextWantsItsNameAndTheCount(t *testing.T) {
	n := newJournalNight(t)
	night := readFile(t, n.config) + "    protected: true\n    journal: {file: journal.jsonl}\n"
	if err := os.WriteFile(n.config, []byte(night), 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() int64 { return n.redis.Client().ZCard(t.Context(), inspect.ArchiveKey("default")).Val() }
	typing := func(answers string, args ...string) (int, string) {
		var out, errs bytes.Buffer
		s := &streams{in: strings.NewReader(answers), out: &out, err: &errs, inTerminal: true, width: func() int { return 0 }, now: time.Now}
		code := execute(t.Context(), append(args, "--config", n.config), s, config.Machine())
		return code, out.String() + errs.String()
	}
	n.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-1"}, inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-2"})
	n.db.Exec(`INSERT INTO processed_tasks VALUES ('done-1', now()), ('done-2', now())`)
	for _, answers := range []string{"", "night\n", "2\n", "night\n3\n", "night\nnight\n", "day\n2\n", "y\ny\n"} {
		if code, said := typing(answers, "resolve", "--all"); code != exitDone || left() != 2 {
			t.Errorf("%q: exit code %d, %d left\n%s", answers, code, left(), said)
		}
	}
	if _, said := typing("night\n2\n", "resolve", "--all"); left() != 0 ||
		!strings.Contains(said, "Type the context's name (night) to go on:") || !strings.Contains(said, "That is every archived task: type how many (2) to go on:") {
		t.Errorf("%d left\n%s", left(), said)
	}
	n.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-1"})
	if _, said := typing("night\n", "resolve", "--all", "--yes", "--count", "1"); left() != 0 {
		t.Errorf("the count was given, and %d are left\n%s", left(), said)
	}
	n.redis.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "done-2"})
	if _, said := typing("night\n", "resolve", "-q", "default"); left() != 0 {
		t.Errorf("not everything was selected, and %d are left\n%s", left(), said)
	}
}
