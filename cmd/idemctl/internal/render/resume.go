package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// SchemaResume names the contract of `idemctl journal resume`, as published in
// docs/schema/resume.v1.json.
const SchemaResume = "idemctl.resume/v1"

// resumeJSON is a resumption without its lists.
type resumeJSON struct {
	Schema  string `json:"schema"`
	Summary bool   `json:"summary,omitempty"`
	Applied bool   `json:"applied"` // false: nothing was written or changed
	// Problem says why not all was done; null when it was.
	Problem *string  `json:"problem"`
	Journal *string  `json:"journal"`
	Run     *string  `json:"run"`   // that made what had not been made; null where there was none
	Ended   []string `json:"ended"` // runs that were given their end
	// WouldEnd are runs that would be given it; empty once that was done.
	WouldEnd []string `json:"would_end"`
	// Counts are the intents by what they are settled as: done, refused, again
	// (taken up by the run) and left.
	Counts map[string]int `json:"counts"`
	// Changes are planned and held, or outcomes and held.
	Changes map[string]int `json:"changes"`
	// NeverBegun are runs that planned items are left of which no resumption takes up.
	NeverBegun []neverBegunJSON `json:"never_begun"`
}

type resumeDocumentJSON struct {
	resumeJSON
	Intents []openIntentJSON `json:"intents"`
	Steps   []stepJSON       `json:"steps"`
}

// openIntentJSON is an intent that had no known outcome.
type openIntentJSON struct {
	Run       string  `json:"run"`
	Item      string  `json:"item"`
	Change    string  `json:"change"`
	At        *string `json:"at"`
	Operator  *string `json:"operator"`
	Host      *string `json:"host"`
	Queue     *string `json:"queue"`
	TaskID    *string `json:"task_id"`
	TaskIDHex *string `json:"task_id_hex"`
	Target    *string `json:"target"`
	SettledAs *string `json:"settled_as"` // done or refused; null: it is left
	Found     *string `json:"found"`
	Again     bool    `json:"again"`   // a step takes it up, which may be held
	Command   *string `json:"command"` // what makes the change, where no step does
}

func shapeOpenIntent(in *reconcile.OpenIntent) openIntentJSON {
	r := &in.Record
	j := openIntentJSON{
		Run: r.Run, Item: r.Item, Change: string(r.Change), At: instant(r.At), Operator: text(r.Operator), Host: text(r.Host),
		Queue: text(r.Queue), TaskID: text(r.TaskID), TaskIDHex: hexOf(r.TaskID), Target: text(r.Target),
		Found: text(in.Found), Again: in.Again, Command: text(in.Command),
	}
	if in.Outcome != journal.OutcomeUnknown {
		j.SettledAs = text(in.Outcome.String())
	}
	return j
}

// Resumption writes what became of intents, what is to be made of them, and what
// came of that.
type Resumption struct {
	base
	r       *reconcile.Resumption
	changes *Changes
	behind  []journal.Summary
	endless []string
}

// NewResumption prepares the output in FormatTable, FormatJSON or FormatNDJSON;
// every other format is an error.
func NewResumption(w io.Writer, o Options, r *reconcile.Resumption) (*Resumption, error) {
	all := &reconcile.Plan{}
	for i := range r.Plans {
		all.Steps = append(all.Steps, r.Plans[i].Steps...)
	}
	changes, err := NewChanges(w, o, all)
	if err != nil {
		return nil, err
	}
	return &Resumption{base: newBase(w, o.filled()), r: r, changes: changes}, nil
}

// LeaveBehind takes runs that planned items are left of which were never begun:
// resuming does nothing with them, and says so. It is called before Plan.
func (s *Resumption) LeaveBehind(runs []journal.Summary) { s.behind = runs }

// WouldEnd takes the runs that lack nothing but their end, which is written where the
// resumption is carried out. It is called before Close.
func (s *Resumption) WouldEnd(runs []string) { s.endless = runs }

// Plan shows a person what became of the intents, and what is to be done.
// Programs that read a stream get the intents.
func (s *Resumption) Plan() error {
	switch s.opt.Format {
	case FormatJSON:
		return nil
	case FormatNDJSON:
		for i := range s.r.Intents {
			if err := writeLine(s.w, shapeOpenIntent(&s.r.Intents[i])); err != nil {
				return err
			}
		}
		return nil
	}
	p := newPage(s.w, s.opt)
	p.openIntents(s.r.Intents, s.opt.limited(mostExceptions))
	p.leftBehind(s.behind)
	if err := p.flush(); err != nil {
		return err
	}
	for i := range s.r.Plans {
		c, err := NewChanges(s.w, s.opt, &s.r.Plans[i])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(s.w, "\n"); err != nil {
			return err
		}
		if err := c.Plan(); err != nil {
			return err
		}
	}
	return nil
}

// openIntents names intents: first those that need something.
func (p *page) openIntents(intents []reconcile.OpenIntent, limit int) {
	if len(intents) == 0 {
		p.verdict([]verdict{{text: "Nothing is pending."}})
		return
	}
	p.text(plural(len(intents), "intent has", "intents have")+" no known outcome.", sgrBold)
	order := make([]*reconcile.OpenIntent, len(intents))
	for i := range intents {
		order[i] = &intents[i]
	}
	slices.SortStableFunc(order, func(a, b *reconcile.OpenIntent) int { return intentRank(a) - intentRank(b) })
	for i, in := range order {
		if limit >= 0 && i == limit {
			p.text(plural(len(order)-i, "more", "more")+"; --limit -1 names all", sgrDim)
			break
		}
		p.openIntent(in)
	}
}

func intentRank(in *reconcile.OpenIntent) int {
	switch {
	case in.Outcome == journal.OutcomeUnknown:
		return 0
	case in.Again:
		return 1
	case in.Outcome == journal.OutcomeRefused:
		return 2
	}
	return 3
}

func (p *page) openIntent(in *reconcile.OpenIntent) {
	r := &in.Record
	subject := "queue " + Visible(r.Queue)
	switch {
	case r.TaskID != "" && r.Target == "":
		subject = Visible(r.Queue) + "/" + Visible(r.TaskID)
	case r.Target != "":
		subject = Visible(r.Target)
	}
	mark, words := p.with(sgrGreen, "+"), "done"
	switch {
	case in.Outcome == journal.OutcomeUnknown:
		mark, words = p.with(sgrYellow, "?"), "left as it is"
	case in.Outcome == journal.OutcomeRefused:
		mark, words = p.with(sgrYellow, "!"), "not done"
	}
	if in.Found != "" {
		words += ": " + Visible(in.Found)
	}
	p.hang(mark+" ", "  ", joined(subject, Visible(string(r.Change)), "run "+Visible(r.Run)+" item "+Visible(r.Item), p.since(r.At)), sgrBold)
	p.hang("  ", "  ", words+".", "")
	if in.Command != "" {
		p.command("  ", in.Command)
	}
}

// Applied takes what came of one step.
func (s *Resumption) Applied(a reconcile.Applied) { s.changes.Applied(a) }

// Close writes what came of the whole: nil for a resumption that was not carried
// out. ended are the runs that were given their end.
func (s *Resumption) Close(done *Carried, ended []string) error {
	head := s.head(done, ended)
	switch s.opt.Format {
	case FormatJSON:
		doc := resumeDocumentJSON{resumeJSON: head, Intents: []openIntentJSON{}, Steps: s.changes.steps(done != nil)}
		for i := range s.r.Intents {
			doc.Intents = append(doc.Intents, shapeOpenIntent(&s.r.Intents[i]))
		}
		line, err := marshal(doc)
		if err != nil {
			return err
		}
		if s.opt.TTY {
			line = indent(line, "")
		}
		_, err = s.w.Write(append(line, '\n'))
		return err
	case FormatNDJSON:
		for _, step := range s.changes.rest(done != nil) {
			if err := writeLine(s.w, step); err != nil {
				return err
			}
		}
		head.Summary = true
		return writeLine(s.w, head)
	}
	return s.page(done, ended)
}

func (s *Resumption) head(done *Carried, ended []string) resumeJSON {
	head := resumeJSON{Schema: SchemaResume, Applied: done != nil, Ended: list(ended), WouldEnd: []string{}, Counts: s.counts(), Changes: s.changes.counts(done != nil), NeverBegun: shapeNeverBegun(s.behind)}
	if done == nil {
		head.WouldEnd = list(s.endless)
	}
	if done != nil {
		head.Journal, head.Run = text(done.Journal), text(done.Run)
		if done.Problem != nil {
			head.Problem = text(problemWords(done.Problem))
		}
	}
	return head
}

// counts are the intents by what they are settled as.
func (s *Resumption) counts() map[string]int {
	counts := map[string]int{}
	for i := range s.r.Intents {
		switch in := &s.r.Intents[i]; {
		case in.Outcome == journal.OutcomeUnknown:
			counts["left"]++
		case in.Again:
			counts["again"]++
		default:
			counts[in.Outcome.String()]++
		}
	}
	return counts
}

func (s *Resumption) page(done *Carried, ended []string) error {
	p := newPage(s.w, s.opt)
	if done == nil {
		if len(s.endless) > 0 {
			p.text(plural(len(s.endless), "run has nothing open and no end yet: resume gives it one.", "runs have nothing open and no end yet: resume gives them one."), "")
			for _, run := range s.endless[:min(len(s.endless), mostExceptions)] {
				p.text("  "+Visible(run), sgrDim)
			}
		}
		if len(s.r.Intents) > 0 || len(s.endless) > 0 {
			p.text("Nothing was changed.", "")
		}
		return p.flush()
	}
	counts := s.counts()
	var words []string
	for _, name := range []string{"done", "refused", "again", "left"} {
		if n := counts[name]; n > 0 {
			words = append(words, fmt.Sprintf("%s %s", count(n), settledWords[name]))
		}
	}
	if len(words) > 0 {
		p.text("Intents: "+strings.Join(words, ", ")+".", sgrBold)
	}
	if len(ended) > 0 {
		p.text(plural(len(ended), "run has its end now", "runs have their end now")+".", "")
	}
	if err := p.flush(); err != nil {
		return err
	}
	if done.Run != "" {
		return s.changes.outcomes(done)
	}
	p = newPage(s.w, s.opt)
	if done.Problem != nil {
		p.text("It ended early: "+Visible(problemWords(done.Problem))+".", "")
	}
	p.text("journal: "+Visible(done.Journal), sgrDim)
	return p.flush()
}

var settledWords = map[string]string{
	"done": "settled as done", "refused": "settled as not done", "again": "taken up again", "left": "left as they are",
}

// Clean says whether nothing is held or left, and every change was made.
func (s *Resumption) Clean() bool {
	counts := s.counts()
	return s.changes.Clean() && counts["refused"]+counts["left"] == 0
}
