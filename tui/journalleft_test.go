package tui

import (
	"fmt"
	"testing"
	"time"
)

// cutRuns are runs that were cut short, each in another way.
func cutRuns() []Run {
	run := func(id string, hours int, command string) Run {
		at := noon.Add(-time.Duration(hours) * time.Hour)
		return Run{ID: id, Began: at, Ended: at, Operator: "ada", Host: "h1", Context: "test", Command: command}
	}
	stopped := run("20261130T110000Z-aa", 1, "requeue --queue=payments --yes")
	stopped.Done, stopped.Planned, stopped.NotBegun, stopped.EndedBy = 412, 1000, 588, "stopped by the operator"
	killed := run("20261130T100000Z-bb", 2, "tui: requeue of 40 tasks")
	killed.Ended = time.Time{}
	killed.Done, killed.Pending, killed.Planned, killed.NotBegun = 9, 1, 40, 30
	lost := run("20261130T090000Z-cc", 3, "resolve --queue=low")
	lost.Context, lost.Refused, lost.Planned, lost.NotBegun, lost.EndedBy = "staging", 3, 7, 4, "the ledger was lost: ledger main: no answer"
	whole := run("20261130T080000Z-dd", 4, "requeue --queue=low --stop-after-failures=3")
	whole.Done, whole.Planned, whole.EndedBy = 5, 5, "stopped after 3 failures"
	old := run("20261130T070000Z-ee", 5, "requeue --queue=low")
	old.Done = 1200
	return []Run{stopped, killed, lost, whole, old}
}

func TestJournalShowsWhatWasNeverBegun(t *testing.T) {
	for name, keys := range map[string]string{
		"journal-cut": ":journal<enter>", "journal-cut-run": ":journal<enter><enter>",
		"journal-cut-killed": ":journal<enter>j<enter>", "journal-cut-lost": ":journal<enter>jj<enter>",
		"journal-cut-whole": ":journal<enter>jjj<enter>",
	} {
		for _, s := range [][2]int{{80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s.%dx%d", name, s[0], s[1]), func(t *testing.T) {
				f := newFake()
				f.changer.runs = cutRuns()
				d := drive(t, f)
				d.send(size(s[0], s[1]))
				d.keys(keys)
				same(t, fmt.Sprintf("%s.%dx%d", name, s[0], s[1]), s[0], s[1], d.View())
			})
		}
	}
}
