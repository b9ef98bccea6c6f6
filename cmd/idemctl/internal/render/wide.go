package render

import (
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// wideAudit is the table of all facts for a terminal: one finding a line, as
// long as its facts. Columns in which no finding has anything to say are left
// out; times are absolute, since a reader compares them with logs.
type wideAudit struct {
	base
	rows wideRows[findingJSON]
}

func (a *wideAudit) finding(f *reconcile.Finding) error {
	s := a.shape(f)
	return a.keep(f, a.rows.row(findingFields, &s))
}

func (a *wideAudit) close(r *reconcile.Report, h *Header) error {
	p := newPage(a.w, a.opt)
	p.verdict(verdictOf(r))
	p.scope(scopeOf(r, h))
	if a.n > 0 {
		p.blank()
		if !a.opt.NoHeaders {
			p.raw(p.bold(a.rows.names()))
		}
		if err := a.each(func(row []byte) { p.raw(p.severityLine(a.rows.line(row))) }); err != nil {
			return err
		}
	}
	if omitted := a.n - a.limit(); omitted > 0 {
		p.blank()
		p.text(plural(omitted, "finding", "findings")+" more than --limit", sgrDim)
	}
	return p.flush()
}

// wideRows lays out lines whose widths are known only when the last has come.
type wideRows[T any] struct {
	fields []field[T]
	widths []int // 0: no row has anything to say in the column
}

const cellEnd = "\x00" // no cell that Visible has passed holds it

// severityLine colours the word that a line begins with.
func (p *page) severityLine(line string) string {
	name := firstWord(line)
	s, err := reconcile.ParseSeverity(name)
	if err != nil {
		return line
	}
	return p.severity(s, name) + line[len(name):]
}

func firstWord(line string) string {
	name, _, _ := strings.Cut(line, " ")
	return name
}

// row keeps the cells of one line, cut to what its columns may take.
func (w *wideRows[T]) row(fields []field[T], v *T) []byte {
	if w.widths == nil {
		w.fields, w.widths = fields, make([]int, len(fields))
	}
	cells := make([]string, len(fields))
	for i, f := range fields {
		cells[i] = Visible(f.cell(v))
		if f.most > 0 {
			cells[i] = fit(cells[i], f.most)
		}
		w.widths[i] = max(w.widths[i], width(cells[i]))
	}
	return packCells(cells)
}

// packCells joins cells that have passed Visible for the spool.
func packCells(cells []string) []byte { return []byte(strings.Join(cells, cellEnd)) }

func unpackCells(blob []byte) []string { return strings.Split(string(blob), cellEnd) }

// names is the line of titles. It has to come before the others.
func (w *wideRows[T]) names() string {
	var cells []string
	for i, f := range w.fields {
		if w.widths[i] > 0 {
			w.widths[i] = max(w.widths[i], len(f.name))
		}
		cells = append(cells, strings.ToUpper(f.name))
	}
	return w.join(cells)
}

func (w *wideRows[T]) line(row []byte) string {
	cells := unpackCells(row)
	for i := range cells {
		if cells[i] == "" {
			cells[i] = "-"
		}
	}
	return w.join(cells)
}

func (w *wideRows[T]) join(cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		switch {
		case w.widths[i] == 0:
			continue
		case w.fields[i].right:
			cell = padLeft(cell, w.widths[i])
		default:
			cell = pad(cell, w.widths[i])
		}
		b.WriteString(cell + "  ")
	}
	return strings.TrimRight(b.String(), " ")
}
