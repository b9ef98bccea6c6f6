package render

import (
	"encoding/csv"
	"strings"
	"unicode/utf8"

	"github.com/idemctl/idemctl/reconcile"
)

// csvAudit writes RFC 4180 with a line of names. A finding is one line: control
// characters inside cells are shown as visible escapes. An incomplete audit ends
// in a line that holds nothing but the message that says so.
type csvAudit struct{ base }

func (c *csvAudit) finding(f *reconcile.Finding) error {
	s := c.shape(f)
	return c.keep(f, csvLine(findingFields, &s))
}

func (c *csvAudit) close(r *reconcile.Report, _ *Header) error {
	out := newOutput(c.w)
	if !c.opt.NoHeaders {
		out.put(string(csvNames(findingFields)))
	}
	if err := c.each(func(line []byte) { out.put(string(line)) }); err != nil {
		return err
	}
	if !r.Complete {
		out.put(string(csvLine(findingFields, &findingJSON{Message: incomplete(r)})))
	}
	return out.flush()
}

func csvNames[T any](fields []field[T]) []byte {
	cells := make([]string, 0, len(fields))
	for _, f := range fields {
		cells = append(cells, f.name)
	}
	return csvRecord(cells)
}

// csvLine is one record. Only cells with text from outside are guarded: a guard
// on a negative number of ours would turn it into text.
func csvLine[T any](fields []field[T], v *T) []byte {
	cells := make([]string, 0, len(fields))
	for _, f := range fields {
		cell := f.cell(v)
		if !f.ours {
			cell = guardFormula(Visible(cell))
		}
		cells = append(cells, cell)
	}
	return csvRecord(cells)
}

func csvRecord(cells []string) []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(cells) // a strings.Builder takes everything
	w.Flush()
	return []byte(b.String())
}

// guardFormula keeps a spreadsheet from running a cell: one that begins with a
// sign that starts a formula, also in its full-width form or after blanks, gets
// an apostrophe in front, which spreadsheets hide.
func guardFormula(cell string) string {
	inside := strings.TrimLeft(cell, " ")
	if inside == "" {
		return cell
	}
	if first, _ := utf8.DecodeRuneInString(inside); strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}
