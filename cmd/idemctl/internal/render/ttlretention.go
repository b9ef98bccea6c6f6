package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// RetentionVerdict is what a table's declared retention comes to. The zero value
// is RetentionUnknown.
type RetentionVerdict uint8

const (
	RetentionUnknown  RetentionVerdict = iota // nobody can say; Why says why
	RetentionFine                             // rows are kept long enough
	RetentionTooShort                         // rows are pruned while their tasks can still come again
)

func (v RetentionVerdict) String() string {
	switch v {
	case RetentionFine:
		return "fine"
	case RetentionTooShort:
		return "too-short"
	default:
		return "unknown"
	}
}

// Retention is how long ledger rows must be kept.
type Retention struct {
	Policy retry.RetentionPolicy
	// Sliding says that every attempt renews a row's time.
	Sliding bool
	Rules   []RetentionRule
	Tables  []RetentionTable
}

// RetentionRule is the need of one rule's tasks.
type RetentionRule struct {
	Number      int // in the configuration, from 1; 0: no rule, parameters alone
	Type, Queue string
	Inputs      []TTLInput
	Need        retry.Retention
}

// RetentionTable is one table of marks or inbox rows, with the longest need of
// the rules that use it.
type RetentionTable struct {
	Ledger, Kind string
	Table        string
	Column, At   string
	Roles        []string
	// Needed is what the table's rows need; nil: nothing bounds it.
	Needed *retry.Seconds
	// Declared is the configured retention; 0: nobody said. Forever beats it.
	Declared time.Duration
	Forever  bool
	Empty    bool
	Oldest   time.Time     // zero: not known
	Age      time.Duration // of the oldest row, by the ledger's clock
	Verdict  RetentionVerdict
	Why      string
	// Statement prunes one batch; "" where it would not be safe, or not possible.
	Statement string
}

// RetentionFormats are the formats of ledger retention.
func RetentionFormats() []Format { return []Format{FormatTable, FormatJSON, FormatNDJSON} }

// WriteRetention writes how long rows must be kept, and how to prune the others.
func WriteRetention(w io.Writer, o Options, r *Retention) error {
	o = o.filled()
	shape := shapeRetention(r)
	switch o.Format {
	case FormatJSON:
		return writeDocument(w, o.TTY, shape)
	case FormatNDJSON:
		return writeLine(w, shape)
	}
	if !o.TTY {
		return plainRetention(w, o, shape)
	}
	p := newPage(w, o)
	p.retention(shape)
	return p.flush()
}

func (p *page) retention(s *retentionJSON) {
	for i := range s.Rules {
		if i > 0 {
			p.blank()
		}
		p.retentionRule(&s.Rules[i], i == 0)
	}
	for i := range s.Tables {
		p.retentionTable(&s.Tables[i])
	}
	if len(s.Tables) == 0 {
		p.blank()
		p.text("no ledger is configured: no row was looked at", sgrDim)
	}
}

// retentionRule is one rule's need. The parts and warnings of further rules are
// those of the first, but for their numbers.
func (p *page) retentionRule(r *retentionRuleJSON, first bool) {
	name := ""
	if r.Type != nil {
		name = " of " + Visible(*r.Type)
		if r.Queue != nil && *r.Queue != "*" {
			name += " in " + Visible(*r.Queue)
		}
	}
	if !r.Bounded {
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "keep ledger rows"+name+" for ever: nothing bounds the life of these tasks", sgrBold)
		for _, why := range r.UnboundedBecause {
			p.hang("  · ", "    ", why, "")
		}
		return
	}
	p.text(fmt.Sprintf("keep ledger rows%s %s from their first writing (fixed), or %s from the latest attempt (sliding)",
		name, exact(r.Fixed, timeline.RoundUp), exact(r.Sliding, timeline.RoundUp)), sgrBold)
	if !first {
		return
	}
	if r.LongestGap > 0 {
		p.hang("  ", "  ", "longest time between the starts of two attempts: "+exact(r.LongestGap, timeline.RoundUp), sgrDim)
	}
	p.fixedParts(r.Parts)
	p.warnings(r.Warnings)
}

// fixedParts says what the fixed time is made of. Where the sources have no room
// beside the times, they stand below.
func (p *page) fixedParts(parts []ttlPartJSON) {
	p.title("What fixed is made of", "")
	columns := []column{{title: "term"}, {title: "longest", right: true}, {title: "source in asynq", spare: true}}
	var rows [][]string
	for _, t := range parts {
		rows = append(rows, []string{t.Term, exact(t.Max, timeline.RoundUp), t.Source})
	}
	chosen := roomFor(columns, rows, p.width-2)
	p.grid("  ", chosen, rows)
	if len(chosen) < len(columns) {
		p.sources(parts)
	}
}

func (p *page) retentionTable(t *retentionTableJSON) {
	p.title(Visible(t.Table), strings.Join(t.Roles, " and ")+" in ledger "+Visible(t.Ledger))
	var facts []string
	if t.Needed != nil {
		facts = append(facts, "needed "+exact(*t.Needed, timeline.RoundUp))
	}
	switch {
	case t.Forever:
		facts = append(facts, "configured: kept for ever")
	case t.Declared != nil:
		facts = append(facts, "configured "+exact(*t.Declared, timeline.RoundDown))
	default:
		facts = append(facts, "retention not configured")
	}
	switch {
	case t.Empty:
		facts = append(facts, "no row")
	case t.OldestAge != nil:
		facts = append(facts, "oldest row "+exact(*t.OldestAge, timeline.RoundDown)+" old")
	default:
		facts = append(facts, "age of the oldest row not known")
	}
	p.pieces("  ", facts, "")
	sign := map[string]string{"fine": p.with(sgrGreen, "✓"), "too-short": p.with(sgrRed, "✗")}[t.Verdict]
	if sign == "" {
		sign = p.with(sgrYellow, "?")
	}
	p.hang("  "+sign+" ", "    ", strings.ReplaceAll(t.Verdict, "-", " ")+": "+Visible(word(t.Why)), "")
	if t.Statement == nil {
		return
	}
	p.blank()
	for line := range strings.Lines(*t.Statement) { // whole lines, so that they can be copied
		p.raw("  " + p.paint.command(Visible(strings.TrimRight(line, "\n"))))
	}
}

func plainRetention(w io.Writer, o Options, s *retentionJSON) error {
	out := newOutput(w)
	row := func(cells ...string) { out.put(strings.Join(cells, "\t"), "\n") }
	if !o.NoHeaders {
		row("RULE", "TYPE", "QUEUE", "FIXED_S", "SLIDING_S", "LONGEST_GAP_S")
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		fixed, sliding := "-", "-"
		if r.Bounded {
			fixed, sliding = number3(float64(r.Fixed)), number3(float64(r.Sliding))
		}
		row(strconv.Itoa(r.Number), orDash(Visible(word(r.Type))), orDash(Visible(word(r.Queue))), fixed, sliding, number3(float64(r.LongestGap)))
	}
	if len(s.Tables) > 0 && !o.NoHeaders {
		row("TABLE", "LEDGER", "VERDICT", "NEEDED_S", "CONFIGURED_S", "OLDEST_AGE_S")
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		configured := secondsCell(t.Declared)
		if t.Forever {
			configured = "forever"
		}
		row(Visible(t.Table), Visible(t.Ledger), t.Verdict, secondsCell(t.Needed), configured, secondsCell(t.OldestAge))
	}
	for i := range s.Tables {
		if t := &s.Tables[i]; t.Statement != nil && !o.NoHeaders {
			for line := range strings.Lines(*t.Statement) {
				out.put("# ", Visible(strings.TrimRight(line, "\n")), "\n")
			}
		}
	}
	return out.flush()
}
