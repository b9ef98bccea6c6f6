package tui

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
)

// lineAt is one line of the screen.
func (d *driver) lineAt(n int) string { return strings.Split(d.screen(), "\n")[n] }

func TestLongFilterIsCutAndHidesNeitherPositionNorMarks(t *testing.T) {
	const filter = `/status == "not-applied" && type startsWith "payment" && cause != "timeout"`
	for width, want := range map[int][]string{
		40:  {"Tasks arc…", "1 of 4 · ● 2 marked · /s"},
		80:  {"Tasks archived", "1 of 4 · ● 2 marked", ` · /status == "not-app`},
		160: {"Overview › Tasks archived", "1 of 4 · ● 2 marked · " + filter},
	} {
		d := drive(t, newFake())
		d.send(size(width, 24))
		d.keys(":archived<enter>  ").keys(filter + "<enter>")
		for _, w := range want {
			if !strings.Contains(d.lineAt(1), w) {
				t.Errorf("at %d columns line 2 lacks %q: %q", width, w, d.lineAt(1))
			}
		}
		if cut := strings.Contains(strings.TrimSpace(d.lineAt(1)), "…"); cut != (width < 160) {
			t.Errorf("at %d columns something is cut is %v: %q", width, cut, d.lineAt(1))
		}
	}
}

func TestWayGivesWayBeforeTheFilterDoes(t *testing.T) {
	d := drive(t, newFake())
	d.keys(`:locks<enter>/verdict of the lock<enter>`)
	d.run(d.open(newFindings(d.hub)))
	d.run(d.open(newTasks(d.hub, "", inspect.StateUnknown)))
	d.keys(`/one two three four five six seven eight nine<enter>`)
	if got := strings.TrimSpace(d.lineAt(1)); !strings.HasPrefix(got, "… › Findings › Tasks ") || !strings.HasSuffix(got, "/one two three four five six seven eight nine") {
		t.Errorf("got %q", got)
	}
}

func TestNarrowTabsShowNeighboursAndNoNumberThatLooksLikeAPlace(t *testing.T) {
	d := drive(t, newFake())
	d.send(size(40, 12))
	d.keys(":archived<enter>")
	if got := strings.TrimSpace(d.lineAt(2)); !strings.HasPrefix(got, "‹ ") || !strings.Contains(got, "retry 5 [archived 12] done") || strings.Contains(got, " of ") {
		t.Errorf("got %q", got)
	}
	for range 8 {
		d.keys("l")
		if got := d.lineAt(2); !strings.Contains(got, "[") || !strings.Contains(got, "]") {
			t.Errorf("the state shown is not in the tabs: %q", got)
		}
	}
}

func TestWhatIsWrongWithALineIsSaidHoweverNarrow(t *testing.T) {
	d := drive(t, newFake())
	d.send(size(40, 12))
	d.keys(":nowhere<enter>").sees("✗ no screen, state", ":nowhere")
	d.keys("<esc>:archived<enter>/retried > 1 && status == \"applied\" &&").sees("✗ filter")
}
