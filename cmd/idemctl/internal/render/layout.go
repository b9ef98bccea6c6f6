package render

import (
	"io"
	"strings"

	"github.com/olekukonko/ll"
	"github.com/olekukonko/tablewriter/tw"
)

// layout is how tablewriter renders our tables: cells one after the other with a
// gap between them, and no lines. Cells come padded. tablewriter's own renderer
// would pad again, by a sum over characters that is not the width of what
// several of them form together, such as a flag or a Thai syllable.
type layout struct {
	w   io.Writer
	err error
}

func (l *layout) Start(w io.Writer) error {
	l.w = w
	return nil
}

func (l *layout) Header(headers [][]string, _ tw.Formatting) {
	for _, row := range headers {
		l.write(row)
	}
}

func (l *layout) Row(row []string, _ tw.Formatting) { l.write(row) }

func (l *layout) write(cells []string) {
	if l.err != nil {
		return
	}
	line := strings.TrimRight(strings.Join(cells, gridGap), " ")
	_, l.err = io.WriteString(l.w, line+"\n")
}

// Close reports the first failed write.
func (l *layout) Close() error { return l.err }

// Config says that nothing but cells is drawn.
func (l *layout) Config() tw.Rendition {
	return tw.Rendition{
		Borders:  tw.BorderNone,
		Symbols:  tw.NewSymbols(tw.StyleNone),
		Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
	}
}

func (l *layout) Footer([][]string, tw.Formatting) {}
func (l *layout) Line(tw.Formatting)               {}
func (l *layout) Logger(*ll.Logger)                {}
