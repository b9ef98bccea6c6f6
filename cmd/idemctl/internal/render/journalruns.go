package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalSource is where records were read, and what was wrong there.
type JournalSource struct {
	// Path is the file; "" where Table was read.
	Path, Table string
	// Problems are records that are damaged or missing, in words.
	Problems []string
}

func (s *JournalSource) head(schema string) journalHeadJSON {
	return journalHeadJSON{
		Schema: schema, Complete: len(s.Problems) == 0, Problems: list(s.Problems), Journal: text(s.Path), Table: text(s.Table),
	}
}

func (s *JournalSource) name() string {
	if s.Path != "" {
		return "journal " + s.Path
	}
	return s.Table
}

// JournalFormats are the formats of what is read from a journal.
func JournalFormats() []Format {
	return []Format{FormatTable, FormatWide, FormatJSON, FormatNDJSON}
}

func checkJournalFormat(f Format) error {
	if slices.Contains(JournalFormats(), f) {
		return nil
	}
	return fmt.Errorf("a journal cannot be written as %s (use table, wide, json or ndjson)", f)
}

// runFields are the columns of runs, in an order that only grows at its end.
var runFields = []field[runJSON]{
	{name: "run", cell: func(r *runJSON) string { return r.Run }},
	{name: "began_at", ours: true, cell: func(r *runJSON) string { return word(r.BeganAt) }},
	{name: "complete", ours: true, cell: func(r *runJSON) string { return strconv.FormatBool(r.Complete) }},
	{name: "operator", cell: func(r *runJSON) string { return word(r.Operator) }},
	{name: "host", cell: func(r *runJSON) string { return word(r.Host) }},
	{name: "context", cell: func(r *runJSON) string { return word(r.Context) }},
	{name: "done", ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Done) }},
	{name: "refused", ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Refused) }},
	{name: "failed", ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Failed) }},
	{name: "unknown", ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Unknown) }},
	{name: "pending", ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Pending) }},
	{name: "command", cell: func(r *runJSON) string { return word(r.Command) }},
	{name: "reason", cell: func(r *runJSON) string { return word(r.Reason) }},
	{name: "ended_at", wide: true, ours: true, cell: func(r *runJSON) string { return word(r.EndedAt) }},
	{name: "intents", wide: true, ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Intents) }},
	{name: "strays", wide: true, ours: true, right: true, cell: func(r *runJSON) string { return strconv.Itoa(r.Strays) }},
	{name: "plan_digest", wide: true, cell: func(r *runJSON) string { return word(r.PlanDigest) }},
	{name: "planned", ours: true, right: true, cell: func(r *runJSON) string { return number(r.Planned) }},
	{name: "not_begun", ours: true, right: true, cell: func(r *runJSON) string { return number(r.NotBegun) }},
	{name: "ended_by", cell: func(r *runJSON) string { return word(r.EndedBy) }},
}

// WriteJournalRuns writes the runs in their order, as many as JournalLimit says, in
// one of JournalFormats. There are all of them; runs may hold fewer, but not fewer
// than that.
func WriteJournalRuns(w io.Writer, o Options, source JournalSource, runs []journal.Summary, all int) error {
	o = o.filled()
	if err := checkJournalFormat(o.Format); err != nil {
		return err
	}
	shown := runs[:shownOf(o, len(runs))]
	head := journalRunsJSON{journalHeadJSON: source.head(SchemaJournalRuns), Omitted: max(0, all-len(shown))}
	each := func(visit func(*runJSON) error) error {
		for i := range shown {
			r := shapeRun(&shown[i])
			if err := visit(&r); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case o.Format == FormatJSON:
		return writeListDocument(w, o.TTY, head, "runs", each)
	case o.Format == FormatNDJSON:
		if err := each(func(r *runJSON) error { return writeLine(w, r) }); err != nil {
			return err
		}
		head.Summary = true
		return writeLine(w, head)
	case o.TTY && o.Format == FormatTable:
		return runsPage(w, o, &source, shown, head.Omitted)
	}
	return writeColumns(w, o, runFields, each, nil, notes(&source, head.Omitted, "run", "runs"))
}

// JournalLimit is how many runs or items the options let through; less than 0 is
// all.
func JournalLimit(o Options) int {
	if o = o.filled(); o.TTY && o.Format == FormatTable {
		return o.limited(defaultLimit)
	}
	return o.limited(-1)
}

// shownOf is how many of n the limit lets through.
func shownOf(o Options, n int) int {
	if limit := JournalLimit(o); limit >= 0 {
		return min(n, limit)
	}
	return n
}

// writeListDocument writes one JSON document that ends in a list.
func writeListDocument[T any](w io.Writer, pretty bool, head any, list string, each func(func(*T) error) error) error {
	object, err := marshal(head)
	if err != nil {
		return err
	}
	out := newDocument(w, pretty)
	out.head(object, list)
	err = each(func(v *T) error {
		blob, err := marshal(v)
		if err == nil {
			out.member(blob)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.end()
}

// writeColumns writes lines of columns, with remarks before and after them.
func writeColumns[T any](w io.Writer, o Options, fields []field[T], each func(func(*T) error) error, before, after []string) error {
	fields = chosen(fields, o.Format == FormatWide)
	out := newOutput(w)
	if !o.NoHeaders {
		for _, line := range before {
			out.put("# ", Visible(line), "\n")
		}
		out.put(plainNames(fields), "\n")
	}
	err := each(func(v *T) error {
		out.put(plainLine(fields, v), "\n")
		return nil
	})
	if err != nil {
		return err
	}
	for _, line := range after {
		out.put("# ", Visible(line), "\n")
	}
	return out.flush()
}

// notes are what the reader must know beside the lines.
func notes(s *JournalSource, omitted int, one, many string) []string {
	var lines []string
	if omitted > 0 {
		lines = append(lines, plural(omitted, one, many)+" more than --limit")
	}
	if n := len(s.Problems); n > 0 {
		lines = append(lines, "incomplete: "+plural(n, "part", "parts")+" of "+s.name()+" cannot be read, and what stood there is not here")
	}
	return lines
}

// outcomeCounts are the outcomes of a run that it has: "412 of 1,000 done, 588 never
// begun" where it began less than it was to make.
func outcomeCounts(s *journal.Summary) string {
	left := neverBegun(s)
	if left == "" {
		return outcomes(s, "nothing")
	}
	words := outcomes(s, "0 done")
	if done, rest, _ := strings.Cut(words, " "); s.Planned > 0 && s.Done > 0 {
		words = done + " of " + count(s.Planned) + " " + rest
	} else if s.Planned > 0 {
		words = "0 of " + count(s.Planned) + " done, " + strings.TrimPrefix(words, "0 done")
	}
	return strings.TrimSuffix(words, ", ") + ", " + left
}

// outcomes are the outcomes of a run that it has, or what is said of none.
func outcomes(s *journal.Summary, none string) string {
	var words []string
	for _, c := range []struct {
		n    int
		name string
	}{
		{s.Done, "done"}, {s.Refused, "refused"}, {s.Failed, "failed"}, {s.Unknown, "unknown"}, {s.Pending, "pending"},
	} {
		if c.n > 0 {
			words = append(words, count(c.n)+" "+c.name)
		}
	}
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, ", ")
}

// runMark says at a glance whether a run needs anybody.
func (p *page) runMark(s *journal.Summary) string {
	switch {
	case !s.Complete():
		return p.with(sgrYellow, "!")
	case s.Failed > 0:
		return p.with(sgrRed, "✗")
	}
	return p.with(sgrGreen, "✓")
}

// runState says of a run that is not complete what it lacks, and of one that ended
// early why. It may hold text of any kind.
func runState(s *journal.Summary) string {
	switch {
	case s.Complete() && s.EndedBy != "":
		return "all begun, and then " + s.EndedBy
	case s.Complete():
		return "complete"
	case s.Ended.IsZero():
		return "not ended: it was killed, or goes on"
	case s.NotBegun > 0 && s.Settled():
		return "cut short: " + cmp.Or(s.EndedBy, "nobody says why")
	case s.EndedBy != "":
		return "cut short: " + s.EndedBy + "; some outcomes are not known"
	}
	return "ended, and some outcomes are not known"
}

// stateInShort is runState beside runCounts, which say why.
func stateInShort(s *journal.Summary) string {
	if s.Settled() && s.NotBegun > 0 {
		return "cut short"
	}
	return runState(s)
}

// runsPage is for a terminal: two lines a run, since commands are long.
func runsPage(w io.Writer, o Options, source *JournalSource, runs []journal.Summary, omitted int) error {
	p := newPage(w, o)
	switch {
	case len(runs) > 0:
	case len(source.Problems) > 0:
		p.hang(p.with(sgrYellow, "?")+" ", "  ", "No run can be read in "+Visible(source.name())+".", sgrBold)
	default:
		p.verdict([]verdict{{text: "No run is in " + Visible(source.name()) + "."}})
	}
	for i := range runs {
		s := &runs[i]
		p.hang(p.runMark(s)+" ", "  ", joined(s.ID, outcomeCounts(s)), sgrBold)
		who := s.Operator
		if s.Host != "" {
			who += "@" + s.Host
		}
		facts := []string{p.since(s.Began), Visible(who)}
		if s.Context != "" {
			facts = append(facts, "context "+Visible(s.Context))
		}
		if !s.Complete() || s.EndedBy != "" {
			facts = append(facts, Visible(runState(s)))
		}
		p.pieces("  ", facts, "")
		if s.Command != "" {
			p.hang("  ", "  ", Visible(s.Command), "")
		}
		if s.Reason != "" {
			p.hang("  ", "  ", "because: "+Visible(s.Reason), "")
		}
	}
	if omitted > 0 {
		p.text(plural(omitted, "earlier run", "earlier runs")+"; --limit -1 shows all", sgrDim)
	}
	for _, line := range notes(source, 0, "", "") {
		p.text(Visible(line), sgrBold)
	}
	return p.flush()
}
