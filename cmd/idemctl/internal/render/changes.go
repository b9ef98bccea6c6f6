package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// changesJSON is a plan and, once it was applied, what came of it.
type changesJSON struct {
	Schema  string `json:"schema"`
	Summary bool   `json:"summary,omitempty"`
	Applied bool   `json:"applied"` // false: nothing was changed, this is the plan alone
	// Problem says why not every step was tried; null when all were.
	Problem *string        `json:"problem"`
	Journal *string        `json:"journal"` // the file, once applied
	Run     *string        `json:"run"`     // its name in the journal, once applied
	Counts  map[string]int `json:"counts"`  // planned and held, or outcomes and held
	Held    map[string]int `json:"held"`    // archived tasks that are held, by reason
}

type changesDocumentJSON struct {
	changesJSON
	Steps []stepJSON `json:"steps"`
}

// stepJSON is one change.
type stepJSON struct {
	Change    *string `json:"change"` // null: there is none that is safe
	Action    string  `json:"action"` // apply or hold
	Words     string  `json:"words"`
	Code      string  `json:"code"`
	Queue     string  `json:"queue"`
	TaskID    *string `json:"task_id"`
	TaskIDHex *string `json:"task_id_hex"`
	Type      *string `json:"type"`
	State     *string `json:"state"`
	Status    *string `json:"status"`
	Target    *string `json:"target"` // a lock's key or a group
	Key       *string `json:"key"`    // of the work
	Reason    *string `json:"reason"` // the code of why an archived task is held
	Hold      *string `json:"hold"`   // why it is held, in words
	Forced    bool    `json:"forced"`
	Outcome   *string `json:"outcome"` // null until it was tried: done, refused, failed or unknown
	Found     *string `json:"found"`   // why nothing was changed, or tried
	Error     *string `json:"error"`
}

func shapeStep(s *reconcile.Step, a *reconcile.Applied) stepJSON {
	f := &s.Finding
	j := stepJSON{
		Change: text(s.Change), Action: "apply", Words: s.Words(), Code: string(f.Code),
		Queue: f.Task.Queue, TaskID: text(f.Task.ID), TaskIDHex: hexOf(f.Task.ID), Type: text(f.Task.Type),
		State: stateOrNull(f), Target: text(s.Target), Key: text(f.ShownKey()), Reason: text(s.Reason), Hold: text(s.Hold), Forced: s.Forced,
	}
	if s.Forced {
		j.Hold = text(s.Overrides)
	}
	if f.OfEffect() {
		j.Status = text(f.Status.String())
	}
	if s.Hold != "" {
		j.Action = "hold"
	}
	if a != nil {
		j.Outcome, j.Found = text(a.Outcome.String()), text(a.Found)
		if a.Unbegun {
			j.Outcome = nil
		}
		if a.Err != nil {
			j.Error = text(a.Err.Error())
		}
	}
	return j
}

// Changes writes a plan, and what came of it.
type Changes struct {
	base
	plan    *reconcile.Plan
	applied []reconcile.Applied
	watched []reconcile.Watched // as they were seen last
	nothing string
}

// Carried is what became of a plan that was carried out.
type Carried struct {
	Journal string // the file
	Run     string // its name in the journal
	// Redacted says that the journal hides payloads, so that a deletion is final.
	Redacted bool
	// Problem says why not every step was tried; nil when all were.
	Problem error
}

// NewChanges prepares the output of a plan in FormatTable, FormatJSON or
// FormatNDJSON; every other format is an error.
func NewChanges(w io.Writer, o Options, plan *reconcile.Plan) (*Changes, error) {
	c := &Changes{base: newBase(w, o.filled()), plan: plan}
	return c, ChangesAs(c.opt.Format)
}

// ChangesAs says that changes cannot be written in a format; nil where they can.
func ChangesAs(f Format) error {
	switch f {
	case FormatTable, FormatJSON, FormatNDJSON:
		return nil
	}
	return fmt.Errorf("changes cannot be written as %s (use table, json or ndjson)", f)
}

// BecauseOf takes why a plan has nothing; "" says no more than that. It is called
// before Plan.
func (c *Changes) BecauseOf(why string) { c.nothing = why }

// Plan shows a person what is going to be changed. Programs get it with the rest.
func (c *Changes) Plan() error {
	if c.opt.Format != FormatTable {
		return nil
	}
	p := newPage(c.w, c.opt)
	run := c.plan.Runnable()
	if c.plan.Moves != nil && len(c.plan.Steps) > 0 {
		p.movesPlan(c.plan, c.opt)
		return p.flush()
	}
	if len(c.plan.Steps) == 0 {
		words := "Nothing to change"
		if c.nothing != "" {
			words += ": " + Visible(c.nothing)
		}
		p.verdict([]verdict{{text: words + "."}})
		return p.flush()
	}
	for i := range c.plan.Steps {
		s := &c.plan.Steps[i]
		if limit := c.spelled(); limit >= 0 && i == limit {
			p.text(plural(len(c.plan.Steps)-i, "more step", "more steps")+"; --limit -1 shows all", sgrDim)
			break
		}
		mark := p.with(sgrGreen, "+")
		if s.Hold != "" {
			mark = p.with(sgrYellow, "=")
		}
		p.hang(mark+" ", "  ", stepSubject(s), sgrBold)
		if s.Finding.Code != "" {
			p.hang("  ", "  ", sentence(Visible(p.humanize(&s.Finding, s.Finding.Message()))), "")
		}
		if s.Hold != "" {
			p.hang("  ", "  ", "held: "+Visible(s.Hold)+".", "")
			continue
		}
		p.hang("  ", "  ", sentence(Visible(s.Words())), "")
	}
	p.blank()
	p.text(fmt.Sprintf("Plan: %s, %s.", plural(run, "change", "changes"), held(len(c.plan.Steps)-run)), sgrBold)
	return p.flush()
}

// spelled is how many steps are spelled out: a pipe gets all.
func (c *Changes) spelled() int {
	if !c.opt.TTY {
		return c.opt.limited(-1)
	}
	return c.opt.limited(200)
}

func held(n int) string {
	if n == 0 {
		return "nothing held"
	}
	return count(n) + " held"
}

func stepSubject(s *reconcile.Step) string {
	f := &s.Finding
	switch {
	case s.Change == journal.ChangeReleaseLock:
		return "lock " + Visible(s.Target)
	case f.Task.ID == "":
		return "group " + Visible(s.Target) + " of queue " + Visible(f.Task.Queue)
	}
	return joined(refWords(f.Task.Ref), Visible(f.Task.Type))
}

// Applied takes what came of one step. Programs that read a stream get it at once.
func (c *Changes) Applied(a reconcile.Applied) {
	if c.opt.Format == FormatNDJSON {
		// The error shows again when the stream is closed.
		_ = writeLine(c.w, shapeStep(&a.Step, &a))
		c.applied = append(c.applied, reconcile.Applied{Outcome: a.Outcome, Unbegun: a.Unbegun})
		return
	}
	c.applied = append(c.applied, a)
}

// Watched takes what became of a task that the run keeps an eye on.
func (c *Changes) Watched(w reconcile.Watched) {
	for i := range c.watched {
		if c.watched[i].Ref == w.Ref {
			c.watched[i] = w
			return
		}
	}
	c.watched = append(c.watched, w)
}

// Close writes what came of the whole: nil for a plan that was not carried out.
func (c *Changes) Close(done *Carried) error {
	applied := done != nil
	summary := changesJSON{Schema: SchemaChanges, Applied: applied, Counts: c.counts(applied), Held: heldByReason(c.plan)}
	if applied {
		summary.Journal, summary.Run = text(done.Journal), text(done.Run)
		if done.Problem != nil {
			summary.Problem = text(problemWords(done.Problem))
		}
	}
	switch c.opt.Format {
	case FormatJSON:
		line, err := marshal(changesDocumentJSON{changesJSON: summary, Steps: c.steps(applied)})
		if err != nil {
			return err
		}
		if c.opt.TTY {
			line = indent(line, "")
		}
		_, err = c.w.Write(append(line, '\n'))
		return err
	case FormatNDJSON:
		for _, s := range c.rest(applied) {
			if err := writeLine(c.w, s); err != nil {
				return err
			}
		}
		summary.Summary = true
		return writeLine(c.w, summary)
	}
	if applied {
		return c.outcomes(done)
	}
	if c.plan.Runnable() == 0 {
		return nil
	}
	p := newPage(c.w, c.opt)
	p.text("Nothing was changed.", "")
	return p.flush()
}

func problemWords(err error) string {
	var early *reconcile.EndedEarlyError
	switch {
	case errors.As(err, &early):
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	}
	return err.Error()
}

// steps are all of a plan, with their outcomes.
func (c *Changes) steps(applied bool) []stepJSON {
	steps := []stepJSON{}
	if applied {
		for i := range c.applied {
			steps = append(steps, shapeStep(&c.applied[i].Step, &c.applied[i]))
		}
	}
	return append(steps, c.rest(applied)...)
}

// rest are the steps of which nothing was told: those held, and those that the
// run, which goes by their order, did not come to.
func (c *Changes) rest(applied bool) []stepJSON {
	var steps []stepJSON
	told := 0
	if applied {
		told = len(c.applied)
	}
	for i := range c.plan.Steps {
		s := &c.plan.Steps[i]
		if s.Hold == "" && told > 0 {
			told--
			continue
		}
		steps = append(steps, shapeStep(s, nil))
	}
	return steps
}

func (c *Changes) counts(applied bool) map[string]int {
	counts := map[string]int{}
	run := c.plan.Runnable()
	if n := len(c.plan.Steps) - run; n > 0 {
		counts["held"] = n
	}
	if !applied {
		if run > 0 {
			counts["planned"] = run
		}
		return counts
	}
	for _, a := range c.applied {
		if !a.Unbegun {
			counts[a.Outcome.String()]++
		}
	}
	tried := 0
	for _, n := range []string{"done", "refused", "failed", "unknown"} {
		tried += counts[n]
	}
	if n := run - tried; n > 0 {
		counts["not begun"] = n
	}
	return counts
}

// mostExceptions is how many exceptions an outcome names on a terminal.
const mostExceptions = 20

// outcomes tells a person what came of it: the exceptions by name, the rest by
// number.
func (c *Changes) outcomes(done *Carried) error {
	p := newPage(c.w, c.opt)
	named, limit := 0, c.opt.limited(mostExceptions)
	for i := range c.applied {
		a := &c.applied[i]
		if a.Unbegun || a.Outcome == journal.OutcomeDone && a.Found == "" {
			continue
		}
		if named++; limit >= 0 && named > limit {
			continue
		}
		p.hang(p.with(sgrYellow, "!")+" ", "  ", stepSubject(&a.Step), sgrBold)
		p.hang("  ", "  ", outcomeWords(a)+".", "")
	}
	if limit >= 0 && named > limit {
		p.text(plural(named-limit, "more", "more")+" like these; --limit -1 or the journal names them", sgrDim)
	}
	p.canaries(c.watched)
	counts := c.counts(true)
	var words []string
	for _, name := range []string{"done", "refused", "failed", "unknown", "not begun", "held"} {
		if n := counts[name]; n > 0 {
			words = append(words, count(n)+" "+name)
		}
	}
	if len(words) == 0 {
		words = append(words, "nothing was tried")
	}
	p.text("Changes: "+strings.Join(words, ", ")+".", sgrBold)
	if done.Problem != nil {
		p.text("It ended early: "+Visible(problemWords(done.Problem))+".", "")
	}
	if counts["not begun"] > 0 {
		p.text("What was not begun is as it was: the same command plans what is left.", "")
	}
	if done.Run != "" {
		p.text("run "+done.Run+", in the journal", sgrDim)
		p.text(Visible(done.Journal), sgrDim)
	}
	p.afterwards(c.plan, counts, done)
	return p.flush()
}

func outcomeWords(a *reconcile.Applied) string {
	why := Visible(a.Found)
	if a.Err != nil {
		why = Visible(a.Err.Error())
	}
	switch a.Outcome {
	case journal.OutcomeDone:
		return "done, but " + why
	case journal.OutcomeRefused:
		return "not changed: " + why
	case journal.OutcomeFailed:
		return "failed: " + why
	case journal.OutcomeUnknown:
	}
	return "the answer was lost, so that it may have been changed or not: " + why + " (" + Visible(a.Found) + ")"
}

// Touched says whether anything was changed, or may have been.
func (c *Changes) Touched() bool {
	counts := c.counts(true)
	return counts["done"]+counts["unknown"] > 0
}

// Clean says whether every step was made: none held, refused, failed or unknown.
func (c *Changes) Clean() bool {
	counts := c.counts(true)
	return counts["done"] == len(c.plan.Steps)
}
