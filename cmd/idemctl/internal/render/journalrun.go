package render

import (
	"io"

	"github.com/idemctl/idemctl/reconcile/journal"
)

// itemFields are the columns of items, in an order that only grows at its end.
var itemFields = []field[journalItemJSON]{
	{name: "item", cell: func(i *journalItemJSON) string { return i.Item }},
	{name: "outcome", ours: true, cell: func(i *journalItemJSON) string { return i.Outcome }},
	{name: "change", cell: func(i *journalItemJSON) string { return word(i.Change) }},
	{name: "queue", cell: func(i *journalItemJSON) string { return word(i.Queue) }},
	{name: "task_id", cell: func(i *journalItemJSON) string { return word(i.TaskID) }},
	{name: "type", cell: func(i *journalItemJSON) string { return word(i.Type) }},
	{name: "found", cell: func(i *journalItemJSON) string { return word(i.Found) }},
	{name: "error", cell: func(i *journalItemJSON) string { return word(i.Error) }},
	{name: "target", cell: func(i *journalItemJSON) string { return word(i.Target) }},
	{name: "evidence", cell: func(i *journalItemJSON) string { return string(i.Evidence) }},
	{name: "reason", wide: true, cell: func(i *journalItemJSON) string { return word(i.Reason) }},
	{name: "intended_at", wide: true, ours: true, cell: func(i *journalItemJSON) string { return word(i.IntendedAt) }},
	{name: "settled_at", wide: true, ours: true, cell: func(i *journalItemJSON) string { return word(i.SettledAt) }},
	{name: "settled_by", wide: true, cell: func(i *journalItemJSON) string { return word(i.SettledBy) }},
	{name: "redacted", wide: true, ours: true, cell: func(i *journalItemJSON) string { return yesNo(i.Redacted) }},
	{name: "task_id_hex", wide: true, ours: true, cell: func(i *journalItemJSON) string { return word(i.TaskIDHex) }},
	{name: "not_begun", wide: true, ours: true, cell: func(i *journalItemJSON) string { return yesNo(&i.NotBegun) }},
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}

// JournalRun is one run with its items.
type JournalRun struct {
	journal.Summary
	Items []JournalItem
}

// WriteJournalRun writes a run and its items, as many as Options.Limit says, in
// one of JournalFormats.
func WriteJournalRun(w io.Writer, o Options, source JournalSource, run *JournalRun) error {
	o = o.filled()
	if err := checkJournalFormat(o.Format); err != nil {
		return err
	}
	shown := run.Items[:shownOf(o, len(run.Items))]
	head := journalRunJSON{
		journalHeadJSON: source.head(SchemaJournalRun), Run: shapeRun(&run.Summary), Omitted: len(run.Items) - len(shown),
	}
	each := func(visit func(*journalItemJSON) error) error {
		for i := range shown {
			j := shapeItem(&shown[i])
			if err := visit(&j); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case o.Format == FormatJSON:
		return writeListDocument(w, o.TTY, head, "items", each)
	case o.Format == FormatNDJSON:
		if err := each(func(j *journalItemJSON) error { return writeLine(w, j) }); err != nil {
			return err
		}
		head.Summary = true
		return writeLine(w, head)
	case o.TTY && o.Format == FormatTable:
		return runPage(w, o, &source, run, shown)
	}
	before := []string{
		"run " + run.ID + ": " + runCounts(&run.Summary) + "; " + stateInShort(&run.Summary),
		"command: " + run.Command,
	}
	before = append(before, againNote(&run.Summary)...)
	return writeColumns(w, o, itemFields, each, before, notes(&source, head.Omitted, "item", "items"))
}

// runPage is for a terminal: the run, then its items.
func runPage(w io.Writer, o Options, source *JournalSource, run *JournalRun, shown []JournalItem) error {
	p := newPage(w, o)
	p.hang(p.runMark(&run.Summary)+" ", "  ", "Run "+Visible(run.ID)+": "+Visible(runCounts(&run.Summary))+".", sgrBold)
	p.runFacts(&run.Summary)
	if run.NotBegun > 0 {
		p.blank()
		p.planAgain(&run.Summary)
	}
	if len(shown) > 0 {
		p.blank()
		p.items(shown)
	}
	if omitted := len(run.Items) - len(shown); omitted > 0 {
		p.text(plural(omitted, "more item", "more items")+"; --limit -1 shows all", sgrDim)
	}
	for _, line := range notes(source, 0, "", "") {
		p.text(Visible(line), sgrBold)
	}
	return p.flush()
}

func (p *page) runFacts(s *journal.Summary) {
	p.fact("began", p.moment(s.Began))
	p.fact("ended", p.moment(s.Ended))
	p.fact("state", Visible(runState(s)))
	p.fact("operator", Visible(s.Operator))
	p.fact("host", Visible(s.Host))
	p.fact("context", Visible(s.Context))
	p.fact("redis", Visible(s.Server))
	p.fact("command", Visible(s.Command))
	p.fact("reason", Visible(s.Reason))
	p.fact("plan", Visible(s.PlanDigest))
	if s.Strays > 0 {
		p.fact("strays", plural(s.Strays, "result", "results")+" whose intent cannot be read")
	}
}

// items is the table of a run's items. What was found instead, or failed, is a
// line of its own: it is what a reader looks for.
func (p *page) items(items []JournalItem) {
	for i := range items {
		it := &items[i]
		mark := map[string]string{
			"done": p.with(sgrGreen, "✓"), "refused": p.with(sgrYellow, "="), "failed": p.with(sgrRed, "✗"),
		}[it.Outcome]
		if mark == "" {
			mark = p.with(sgrYellow, "?")
		}
		what := it.Change
		if what == "" {
			what = "no change"
		}
		outcome := it.Outcome
		if it.NotBegun {
			outcome = "never begun"
		}
		p.hang(mark+" "+p.dim(pad(Visible(it.Item), 4))+" ", "       ",
			joined(outcome, Visible(what), Visible(itemSubject(it)), Visible(it.Type)), "")
		for _, line := range []string{it.Found, it.Error} {
			if line != "" {
				p.hang("       ", "       ", Visible(line), "")
			}
		}
		if len(it.Evidence) > 0 {
			p.pieces("       ", membersOf(it.Evidence), sgrDim)
		}
	}
}

// itemSubject names what an item is about.
func itemSubject(i *JournalItem) string {
	switch {
	case i.TaskID != "":
		return i.Queue + "/" + i.TaskID
	case i.Target != "":
		return i.Target
	}
	return i.Queue
}
