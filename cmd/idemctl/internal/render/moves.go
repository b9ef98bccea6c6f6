package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// mostMoves is how many tasks of a plan a terminal is shown.
const mostMoves = 20

// movesPlan shows what is to become of archived tasks: how many and why, then the
// tasks.
func (p *page) movesPlan(plan *reconcile.Plan, o Options) {
	run, all := plan.Runnable(), len(plan.Steps)
	p.text("Of "+plural(all, "archived task", "archived tasks")+", "+count(run)+" "+verbOf(plan, run)+" and "+count(all-run)+" held.", sgrBold)
	for _, q := range plan.Moves.Queues {
		p.plannedQueue(q, plan.Moves.Action)
	}
	p.blank()
	p.moveReasons(plan)
	p.blank()
	limit := o.limited(mostMoves)
	if !o.TTY && o.Limit == 0 {
		limit = -1 // a pipe gets all
	}
	p.moveTasks(plan, limit)
	p.forced(plan)
	p.blank()
	p.text("Plan: "+plural(run, "change", "changes")+", "+held(all-run)+".", sgrBold)
}

func verbOf(plan *reconcile.Plan, n int) string {
	verb := map[reconcile.Action]string{reconcile.ActionRun: "to run again", reconcile.ActionResolve: "to be deleted"}[plan.Moves.Action]
	if n == 1 {
		return "is " + cmp.Or(verb, "to be put back")
	}
	return "are " + cmp.Or(verb, "to be put back")
}

// plannedQueue names a queue, and whatever keeps tasks from being taken from it.
func (p *page) plannedQueue(q reconcile.PlannedQueue, action reconcile.Action) {
	facts := []string{count(q.Run) + " of the plan", count(q.Pending) + " pending"}
	mark, sgr := "  ", ""
	if action == reconcile.ActionRun {
		if q.Paused {
			facts = append(facts, "PAUSED")
		}
		if !q.Served {
			facts = append(facts, "NO LIVE SERVER")
		}
		if q.Paused || !q.Served {
			mark, sgr = p.with(sgrYellow, "!")+" ", sgrBold
		}
	}
	p.hang(mark, "  ", "queue "+Visible(q.Name)+": "+strings.Join(facts, ", "), sgr)
}

// moveGroup are the tasks of a plan that have one action for one reason.
type moveGroup struct {
	action, reason, words string
	tasks                 int
}

// moveReasons is the plan in numbers.
func (p *page) moveReasons(plan *reconcile.Plan) {
	columns := []column{
		{title: "", paint: p.actionSign},
		{title: "ACTION"},
		{title: "REASON"},
		{title: "TASKS", right: true},
		{title: "WHICH MEANS", least: 20, paint: p.dim},
	}
	var rows [][]string
	for _, g := range moveGroups(plan) {
		rows = append(rows, []string{sign(g.action), g.action, Visible(g.reason), count(g.tasks), Visible(g.words)})
	}
	p.grid("", columns, rows)
}

// The signs say what the colours say, too.
func sign(action string) string {
	if action == string(reconcile.ActionHold) {
		return "="
	}
	return "+"
}

func (p *page) actionSign(cell string) string {
	if cell == "=" {
		return p.with(sgrYellow, cell)
	}
	return p.with(sgrGreen, cell)
}

// moveGroups sums a plan up, what is done in front, the most first.
func moveGroups(plan *reconcile.Plan) []moveGroup {
	var groups []moveGroup
	for i := range plan.Steps {
		g := groupOf(&plan.Steps[i], plan.Moves.Action)
		at := slices.IndexFunc(groups, func(h moveGroup) bool { return h.action == g.action && h.reason == g.reason })
		if at < 0 {
			groups, at = append(groups, g), len(groups)
		}
		groups[at].tasks++
	}
	slices.SortStableFunc(groups, func(a, b moveGroup) int {
		return cmp.Or(cmp.Compare(sign(a.action), sign(b.action)), cmp.Compare(b.tasks, a.tasks), cmp.Compare(a.reason, b.reason))
	})
	return groups
}

func groupOf(s *reconcile.Step, action reconcile.Action) moveGroup {
	if s.Hold != "" {
		words := s.Reason.Words()
		if words == "" {
			words = Visible(s.Hold)
		}
		return moveGroup{action: string(reconcile.ActionHold), reason: string(s.Reason), words: words}
	}
	g := moveGroup{action: cmp.Or(string(action), "restore"), reason: s.Finding.Status.String(), words: s.Words()}
	switch {
	case s.Forced:
		g.reason, g.words = "forced: "+string(s.Reason), "would be held: "+s.Reason.Words()
	case action == reconcile.ActionRun && s.Finding.Status == reconcile.StatusNotApplied:
		g.words = "its work is lost"
	case action == reconcile.ActionRun && s.Finding.Status == reconcile.StatusNatural:
		g.words = "repeating it is harmless"
	case action == reconcile.ActionRun:
		g.words = "nothing says whether its work is done: accepted"
	case action == reconcile.ActionResolve:
		g.words = "its work is done"
	}
	return g
}

// moveTasks lists the tasks of a plan, those that are moved in front.
func (p *page) moveTasks(plan *reconcile.Plan, limit int) {
	columns := []column{
		{title: "", paint: p.actionSign},
		{title: "TASK", least: 20},
		{title: "TYPE", least: 10},
		{title: "KEY", least: 8},
		{title: "FAILED", right: true},
		{title: "REASON"},
		{title: "WHY", least: 40, paint: p.dim, spare: true},
	}
	var order []*reconcile.Step
	for _, held := range []bool{false, true} {
		for i := range plan.Steps {
			if s := &plan.Steps[i]; (s.Hold != "") == held {
				order = append(order, s)
			}
		}
	}
	var rows [][]string
	for i, s := range order {
		if limit >= 0 && i == limit {
			break
		}
		f, g := &s.Finding, groupOf(s, plan.Moves.Action)
		why := Visible(p.humanize(f, s.Hold))
		switch {
		case s.Forced:
			why = "would be held: " + Visible(p.humanize(f, s.Overrides))
		case s.Hold == "":
			why = Visible(moveWords(f, g))
		}
		rows = append(rows, []string{sign(g.action), refWords(f.Task.Ref), Visible(f.Task.Type), Visible(f.ShownKey()), p.since(f.Task.LastFailedAt), Visible(g.reason), why})
	}
	p.grid("", roomFor(columns, rows, p.width), rows)
	if more := len(order) - len(rows); more > 0 {
		p.text(plural(more, "more task", "more tasks")+"; --limit -1 shows all", sgrDim)
	}
}

// forced says in full what the operator's reason overrides.
func (p *page) forced(plan *reconcile.Plan) {
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Forced {
			p.blank()
			p.hang(p.with(sgrRed, "!")+" ", "  ", refWords(s.Ref())+" is forced: "+Visible(p.humanize(&s.Finding, s.Overrides))+".", sgrBold)
		}
	}
}

// moveWords say why a task is moved.
func moveWords(f *reconcile.Finding, g moveGroup) string {
	if f.Cause == reconcile.CauseUnknown {
		return g.words
	}
	return joined(g.words, causeWords(f.Cause))
}

// canaries says what became of those tasks that went first, and of others that
// were seen to fail.
func (p *page) canaries(watched []reconcile.Watched) {
	good, all := 0, 0
	for i := range watched {
		w := &watched[i]
		if w.Canary {
			all++
		}
		if w.Canary && w.Succeeded() {
			good++
			continue
		}
		words := w.Fate.Words()
		if w.Fate == reconcile.FateFailed && w.Task.LastErr != "" {
			words += " (" + w.Task.LastErr + ")"
		}
		p.hang(p.with(sgrYellow, "!")+" ", "  ", joined(refWords(w.Ref), Visible(words)), "")
	}
	if all > 0 {
		p.text("Canary: "+count(good)+" of "+count(all)+" succeeded.", sgrBold)
	}
}

// afterwards says what to look at next.
func (p *page) afterwards(plan *reconcile.Plan, counts map[string]int, done *Carried) {
	defer p.sameConnection()
	if counts["unknown"] > 0 {
		p.offer("idemctl journal resume")
	}
	if plan.Moves == nil {
		return
	}
	if by := heldByReason(plan); len(by) > 0 {
		var words []string
		for _, g := range moveGroups(plan) {
			if g.action == string(reconcile.ActionHold) {
				words = append(words, count(g.tasks)+" "+Visible(g.reason))
			}
		}
		p.text("Held: "+strings.Join(words, ", ")+".", "")
	}
	switch {
	case counts["done"] == 0:
	case plan.Moves.Action == reconcile.ActionResolve && done.Redacted:
		p.text("It cannot be undone: the journal hides payloads (journal.redact).", "")
	case plan.Moves.Action == reconcile.ActionResolve:
		p.text("To undo it:", "")
		p.offer("idemctl journal restore --all --run " + done.Run)
	default:
		p.text("Did they take effect?", "")
		p.offer("idemctl journal verify " + done.Run)
	}
}

// heldByReason counts the archived tasks that are held; empty, never null.
func heldByReason(plan *reconcile.Plan) map[string]int {
	by := map[string]int{}
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Hold != "" && s.Reason != "" {
			by[string(s.Reason)]++
		}
	}
	return by
}
