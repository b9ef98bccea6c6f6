package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect/payload"
)

// WriteCorpus writes what many payloads say together, group by group. FormatJSON
// and FormatNDJSON write one object a group; for no payloads at all, one object
// that says so.
func WriteCorpus(w io.Writer, o Options, reports []payload.GroupReport, e PayloadEnd) error {
	columns := o.Width
	o = o.filled()
	hide, _ := newRedactor(o.Redact) // a broken one hides everything
	switch o.Format {
	case FormatJSON, FormatNDJSON:
		return writeCorpusJSON(w, o, reports, e)
	case FormatMarkdown:
		return writeCorpusMarkdown(w, reports, e)
	default:
	}
	c := corpusPage{newPagePayloads(w, o, columns, hide)}
	if len(reports) == 0 {
		c.text("no payload was read", sgrBold)
	}
	for i := range reports {
		if i > 0 {
			c.blank()
		}
		c.group(&reports[i])
	}
	if !e.Complete {
		c.blank()
		c.hang(c.with(sgrYellow, "!")+" ", "  ", "incomplete: "+Visible(e.Problem), sgrBold)
	}
	if e.Unread > 0 {
		c.blank()
		c.hang(c.with(sgrYellow, "!")+" ", "  ", plural(e.Unread, "input", "inputs")+" could not be read: standard error says which", sgrBold)
	}
	return c.flush()
}

func writeCorpusJSON(w io.Writer, o Options, reports []payload.GroupReport, e PayloadEnd) error {
	if len(reports) == 0 {
		reports = []payload.GroupReport{{}}
	}
	out := newOutput(w)
	for i := range reports {
		object, err := marshal(shapeCorpus(&reports[i], e))
		if err != nil {
			return err
		}
		if o.Format == FormatJSON && o.TTY {
			object = indent(object, "")
		}
		out.line(object)
	}
	return out.flush()
}

// corpusPage lays reports out for a person.
type corpusPage struct{ *pagePayloads }

func (c corpusPage) group(r *payload.GroupReport) {
	worst := payload.SeverityUnknown
	for _, f := range r.Findings {
		worst = max(worst, f.Severity())
	}
	c.hang(c.with(sgrOf(worst), shapeOf(worst))+" ", "  ", groupName(r), sgrBold)
	c.pieces("  ", corpusFacts(r), sgrDim)
	if len(r.Findings) == 0 {
		words := "nothing varies that should not"
		if !r.Enough {
			words = fmt.Sprintf("nothing found; statistics need %d payloads with a canonical form", payload.MinCorpus)
		}
		c.hang("  ", "  ", words, "")
	}
	findings := slices.Clone(r.Findings)
	slices.SortStableFunc(findings, func(a, b payload.CorpusFinding) int { return int(b.Severity()) - int(a.Severity()) })
	for i := range findings {
		if !c.wide && c.tty && i == mostPayloads {
			c.blank()
			c.hang("  ", "  ", "and "+plural(len(findings)-i, "finding", "findings")+" more (-o wide shows all)", sgrDim)
			break
		}
		c.corpusFinding(&findings[i])
	}
	c.groups("the same work once the volatile fields are gone", r.Clusters)
	c.groups("the same work in several spellings", r.Collisions)
	if c.wide {
		c.stats(r)
	}
}

func groupName(r *payload.GroupReport) string {
	name := "all payloads"
	if r.Type != "" {
		name = Visible(r.Type)
	}
	if r.Queue != "" {
		name += " in " + Visible(r.Queue)
	}
	return name
}

// corpusFacts say what the statistics rest on.
func corpusFacts(r *payload.GroupReport) []string {
	facts := []string{plural(r.Payloads, "payload", "payloads")}
	if r.Defined != r.Payloads {
		facts = append(facts, count(r.Defined)+" with a canonical form")
	}
	if r.Analysed < r.Defined {
		facts = append(facts, "statistics of the first "+count(r.Analysed))
	}
	if len(r.Clusters) > 0 {
		facts = append(facts, percent(r.Kappa)+" of them repeat other work")
	}
	return facts
}

// percent is a share of one, rounded so that little is never nothing.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", share*100)
}

// groups names some of the payloads that are the same work.
func (c corpusPage) groups(title string, groups [][]string) {
	const mostGroups, mostIDs = 5, 4
	if len(groups) == 0 {
		return
	}
	payloads := 0
	for _, g := range groups {
		payloads += len(g)
	}
	c.blank()
	c.hang("  ", "  ", sentence(title+": "+plural(payloads, "payload", "payloads")+" in "+plural(len(groups), "group", "groups")), sgrBold)
	for i, g := range groups {
		if i == mostGroups && !c.wide {
			c.hang("    ", "    ", "and "+plural(len(groups)-i, "group", "groups")+" more (-o json has them)", sgrDim)
			break
		}
		var ids []string
		for j, id := range g {
			if j == mostIDs && !c.wide {
				ids = append(ids, "and "+count(len(g)-j)+" more")
				break
			}
			ids = append(ids, Visible(id))
		}
		c.hang("    ", "      ", strings.Join(ids, ", "), "")
	}
}

// stats is a table of paths.
func (c corpusPage) stats(r *payload.GroupReport) {
	if len(r.Stats) == 0 {
		return
	}
	rows := [][]string{{"PATH", "PRESENT", "VALUES", "DISTINCT", "HINT", "TYPES"}}
	for _, s := range r.Stats {
		var types []string
		for _, name := range [...]string{"null", "boolean", "number", "string"} {
			if s.Types[name] > 0 {
				types = append(types, name)
			}
		}
		rows = append(rows, []string{
			Visible(s.Path), count(s.Present), count(s.Values), count(s.Distinct), s.Hint, strings.Join(types, " "),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	widths[0] = min(widths[0], 60)
	c.blank()
	for i, row := range rows {
		line := "  " + pad(fit(row[0], widths[0]), widths[0])
		for k, cell := range row[1:] {
			if k < 3 {
				line += "  " + padLeft(cell, widths[k+1])
			} else {
				line += "  " + pad(cell, widths[k+1])
			}
		}
		line = strings.TrimRight(line, " ")
		if i == 0 {
			line = c.bold(line)
		}
		c.raw(line)
	}
}
