package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// neverBegun says of how many planned items there is nothing more to say; "" where
// there are none, or nobody says how many were planned. A run without an end may yet
// begin them.
func neverBegun(s *journal.Summary) string {
	switch {
	case s.NotBegun == 0:
		return ""
	case s.Ended.IsZero():
		return count(s.NotBegun) + " not begun"
	}
	return count(s.NotBegun) + " never begun"
}

// runCounts are the outcomes of a run beside what was planned, where that is more:
// "1,000 planned; 412 done; 588 never begun (stopped by the operator)".
func runCounts(s *journal.Summary) string {
	words := neverBegun(s)
	if words == "" {
		return outcomeCounts(s)
	}
	if s.Planned > 0 {
		words = count(s.Planned) + " planned; " + outcomes(s, "nothing done") + "; " + words
	}
	if s.EndedBy != "" {
		words += " (" + s.EndedBy + ")"
	}
	return words
}

// planAgain says what to type for what a run never began.
func (p *page) planAgain(s *journal.Summary) {
	if s.NotBegun == 0 {
		return
	}
	words, again := left(s), againOf(s).String()
	switch {
	case again == "":
		p.text(words+": make a new plan.", "")
		return
	case reconcile.Resumes(s.Command):
		p.text(words+". This takes it up"+p.elsewhere(s)+":", "")
	default:
		p.text(words+". This plans what is left, and what was archived since"+p.elsewhere(s)+":", "")
	}
	p.command("", again)
}

// left says how things are with what a run never began.
func left(s *journal.Summary) string {
	words := "What was never begun is as it was, and nothing resumes it"
	switch {
	case reconcile.Resumes(s.Command):
		words = "What was never begun stays pending"
	case s.Ended.IsZero():
		words = "If it was killed, what was not begun is as it was, and nothing resumes it"
	}
	return words
}

func againOf(s *journal.Summary) reconcile.Again {
	return reconcile.Again{Command: s.Command, Context: s.Context, Left: s.NotBegun}
}

// elsewhere says what the command of a run lacks that was told where to connect.
func (p *page) elsewhere(s *journal.Summary) string {
	given := slices.DeleteFunc(slices.Clone(p.connection), func(f string) bool { return f == "--context" })
	switch {
	case len(given) > 0:
		return ", with the same " + strings.Join(given, " ")
	case s.Context != "" || s.Server == "":
		return ""
	}
	server, _, _ := strings.Cut(s.Server, "#")
	return ", with what it was told of where to connect (" + Visible(server) + ")"
}

// againNote is planAgain for a pipe.
func againNote(s *journal.Summary) []string {
	if s.NotBegun == 0 {
		return nil
	}
	words := left(s)
	return []string{strings.ToLower(words[:1]) + words[1:] + ": " + cmp.Or(againOf(s).String(), "make a new plan")}
}

// neverBegunJSON is a run of which planned items were never begun.
type neverBegunJSON struct {
	Run      string  `json:"run"`
	Planned  *int    `json:"planned"` // null: its first record cannot be read
	NotBegun int     `json:"not_begun"`
	EndedBy  *string `json:"ended_by"`
	Again    *string `json:"again"` // what plans them anew; null: the journal does not have it
}

func shapeNeverBegun(runs []journal.Summary) []neverBegunJSON {
	shapes := []neverBegunJSON{}
	for i := range runs {
		r := shapeRun(&runs[i])
		shapes = append(shapes, neverBegunJSON{Run: r.Run, Planned: r.Planned, NotBegun: runs[i].NotBegun, EndedBy: r.EndedBy, Again: r.Again})
	}
	return shapes
}

// leftBehind names runs of which a resumption does not take up what was never begun.
func (p *page) leftBehind(runs []journal.Summary) {
	for i := range runs {
		s := &runs[i]
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "run "+Visible(s.ID)+": "+Visible(runCounts(s)), sgrBold)
		p.planAgain(s)
	}
}
