package render

import (
	"bufio"
	"io"
)

// output is a buffered writer that keeps its first error for the end, so that
// writing a page does not ask after every word.
type output struct{ w *bufio.Writer }

func newOutput(w io.Writer) output { return output{bufio.NewWriterSize(w, mostBuffer)} }

// put writes texts one after the other.
func (o output) put(texts ...string) {
	for _, t := range texts {
		_, _ = o.w.WriteString(t) // Flush returns the error, since bufio keeps it
	}
}

// line writes bytes as one line.
func (o output) line(b []byte) {
	_, _ = o.w.Write(b)
	o.put("\n")
}

// flush ends the page, and returns the first error of any write.
func (o output) flush() error { return o.w.Flush() }
