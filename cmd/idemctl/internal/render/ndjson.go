package render

import (
	"io"

	"github.com/idemctl/idemctl/reconcile"
)

// ndjsonAudit writes findings as they are confirmed, one a line, and then the
// summary: the document's other members.
type ndjsonAudit struct{ base }

func (j *ndjsonAudit) finding(f *reconcile.Finding) error {
	j.n++
	if j.n > j.limit() {
		return nil
	}
	return writeLine(j.w, j.shape(f))
}

func (j *ndjsonAudit) close(r *reconcile.Report, h *Header) error {
	doc := shapeReport(r, h)
	doc.Summary = true
	doc.Omitted = j.n - j.limit()
	return writeLine(j.w, doc)
}

// writeLine writes one value in one call, so that lines of a stream are whole
// however it is cut off.
func writeLine(w io.Writer, v any) error {
	line, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
