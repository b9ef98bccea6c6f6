package render

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

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
	if err := j.each(out.member); err != nil {
		return err
	}
	return out.end()
}

// document writes a JSON object whose last member is a list that is too long to
// be held.
type document struct {
	output
	pretty bool
	n      int
}

func newDocument(w io.Writer, pretty bool) *document {
	return &document{output: newOutput(w), pretty: pretty}
}

// head writes the object's other members and opens the list.
func (d *document) head(object []byte, list string) {
	if !d.pretty {
		d.put(string(object[:len(object)-1]), `,"`, list, `":[`)
		return
	}
	object = indent(object, "")
	d.put(strings.TrimRight(string(object[:len(object)-1]), "\n"), ",\n  \"", list, `": [`)
}

func (d *document) member(blob []byte) {
	if d.n > 0 {
		d.put(",")
	}
	d.n++
	if d.pretty {
		d.put("\n    ", string(indent(blob, "    ")))
		return
	}
	d.put("\n", string(blob))
}

func (d *document) end() error {
	switch {
	case d.n == 0 && !d.pretty:
		d.put("]}\n")
	case d.n == 0:
		d.put("]\n}\n")
	case d.pretty:
		d.put("\n  ]\n}\n")
	default:
		d.put("\n]}\n")
	}
	return d.flush()
}

// indent spreads JSON over lines. Text that marshal made is always well-formed.
func indent(object []byte, prefix string) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, object, prefix, "  "); err != nil {
		return object
	}
	return b.Bytes()
}
