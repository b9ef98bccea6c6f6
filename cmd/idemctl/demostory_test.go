package main

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// The story is told by the commands themselves, and each of them comes out as it
// says: the lost work is done once, what is done is deleted, and that is undone.
func TestDemoRequeueTellsTheWholeStory(t *testing.T) {
	code, out, errs := onTerminal(t, 80, "demo", "--no-color", "requeue")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	at := 0
	for _, want := range []string{
		"$ idemctl requeue --code effect/lost --max 1 --yes", "Changes: 1 done, 2 held.",
		"$ idemctl requeue --queue payments --queue default --canary 2 --yes", "Canary: 2 of 2 succeeded.", "Changes: 4 done, 11 held.",
		"$ idemctl journal verify last", "applied-once      3",
		"$ idemctl resolve --code effect/applied-archived --yes", "Changes: 3 done, 1 held.",
		"$ idemctl journal restore --run last --all --yes", "Changes: 3 done.",
		"$ idemctl journal list",
	} {
		found := strings.Index(out[at:], want)
		if found < 0 {
			t.Fatalf("%q does not follow in\n%s", want, out)
		}
		at += found
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\n"); displaywidth.String(line) > 80 {
			t.Errorf("%d columns: %s", displaywidth.String(line), line)
		}
	}
}
