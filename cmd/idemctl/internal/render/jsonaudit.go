package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/idemctl/idemctl/reconcile"
)

// jsonAudit writes one document. A reader at a terminal gets it indented, a
// program one finding a line.
type jsonAudit struct{ base }

func (j *jsonAudit) finding(f *reconcile.Finding) error {
	blob, err := marshal(j.shape(f))
	if err != nil {
		return err
	}
	return j.keep(f, blob)
}

func (j *jsonAudit) close(r *reconcile.Report, h *Header) error {
	doc := shapeReport(r, h)
	doc.Omitted = j.n - j.limit()
	head, err := marshal(doc)
	if err != nil {
		return err
	}
	out := newDocument(j.w, j.opt.TTY)
	out.head(head, "findings")
	if err := j.each(func(_ int, blob []byte) error { return out.member(blob) }); err != nil {
		return err
	}
	return out.end()
}

// document writes a JSON object whose last member is a list that is too long to
// be held.
type document struct {
	w      *bufio.Writer
	pretty bool
	n      int
}

func newDocument(w io.Writer, pretty bool) *document {
	return &document{w: bufio.NewWriterSize(w, mostBuffer), pretty: pretty}
}

// head writes the object's other members and opens the list.
func (d *document) head(object []byte, list string) {
	if !d.pretty {
		d.w.Write(object[:len(object)-1])
		d.w.WriteString(`,"` + list + `":[`)
		return
	}
	object = indent(object, "")
	d.w.Write(bytes.TrimRight(object[:len(object)-1], "\n"))
	d.w.WriteString(",\n  \"" + list + `": [`)
}

func (d *document) member(blob []byte) error {
	if d.n > 0 {
		d.w.WriteByte(',')
	}
	d.n++
	d.w.WriteByte('\n')
	if d.pretty {
		d.w.WriteString("    ")
		blob = indent(blob, "    ")
	}
	_, err := d.w.Write(blob)
	return err
}

func (d *document) end() error {
	switch {
	case d.n > 0 && d.pretty:
		d.w.WriteString("\n  ]")
	case d.n > 0:
		d.w.WriteString("\n]")
	default:
		d.w.WriteString("]")
	}
	if d.pretty {
		d.w.WriteByte('\n')
	}
	d.w.WriteString("}\n")
	return d.w.Flush()
}

// indent spreads JSON over lines. Text that marshal made is always well-formed.
func indent(object []byte, prefix string) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, object, prefix, "  "); err != nil {
		return object
	}
	return b.Bytes()
}
