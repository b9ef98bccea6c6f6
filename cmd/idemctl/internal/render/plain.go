package render

import (
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// plainAudit is the table for a pipe: one finding a line, columns separated by
// tabs and always the same, times in RFC 3339, "-" where there is nothing, and
// nothing cut. Lines that begin with # say what the findings come to; they are
// titles, and --no-headers leaves them out with the names of the columns.
type plainAudit struct{ base }

func (p *plainAudit) fields() []field[findingJSON] {
	return chosen(findingFields, p.opt.Format == FormatWide)
}

func (p *plainAudit) finding(f *reconcile.Finding) error {
	s := p.shape(f)
	return p.keep(f, []byte(plainLine(p.fields(), &s)))
}

func (p *plainAudit) close(r *reconcile.Report, h *Header) error {
	out := newOutput(p.w)
	if !p.opt.NoHeaders {
		for _, line := range summaryLines(r, h) {
			out.put("# ", line, "\n")
		}
		out.put(plainNames(p.fields()), "\n")
	} else if !r.Complete {
		out.put("# ", incomplete(r), "\n")
	}
	if err := p.each(out.line); err != nil {
		return err
	}
	if omitted := p.n - p.limit(); omitted > 0 && !p.opt.NoHeaders {
		out.put("# ", plural(omitted, "finding", "findings"), " more than --limit\n")
	}
	return out.flush()
}

func plainNames[T any](fields []field[T]) string {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, strings.ToUpper(f.name))
	}
	return strings.Join(names, "\t")
}

func plainLine[T any](fields []field[T], v *T) string {
	return strings.Join(plainCells(fields, v), "\t")
}

func plainCells[T any](fields []field[T], v *T) []string {
	cells := make([]string, 0, len(fields))
	for _, f := range fields {
		cell := Visible(f.cell(v))
		if cell == "" {
			cell = "-"
		}
		cells = append(cells, cell)
	}
	return cells
}

// summaryLines say in a few lines what a report comes to and what it rests on.
func summaryLines(r *reconcile.Report, h *Header) []string {
	var lines []string
	for _, v := range verdictOf(r) {
		lines = append(lines, shape(v.severity)+" "+v.text)
	}
	for _, f := range scopeOf(r, h) {
		lines = append(lines, f.name+": "+f.text)
	}
	for i := range r.Signatures {
		if i == maxGroups {
			lines = append(lines, "and "+plural(len(r.Signatures)-i, "more kind of failure", "more kinds of failure"))
			break
		}
		lines = append(lines, signatureLine(&r.Signatures[i]))
	}
	return lines
}
