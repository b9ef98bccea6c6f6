package render

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// page writes a report for a terminal. No line of it is wider than the terminal,
// but for raw ones.
type page struct {
	paint
	out   output
	width int
	// absolute writes times in RFC 3339, as no terminal is there to read ages.
	absolute bool
	now      time.Time
	loc      *time.Location
	// bare leaves out titles of columns.
	bare bool
	// connection names the flags that the suggested commands need as well. Those that
	// hold no secret are in same, as a command takes them; unsaid names the others.
	connection, unsaid []string
	same               string
	offered            bool  // a command that lacks what unsaid names
	failed             error // of a table
}

func newPage(w io.Writer, o Options) *page {
	p := &page{
		paint: paint(o.Color), out: newOutput(w),
		width: o.Width, now: o.Now(), loc: o.Loc, bare: o.NoHeaders, connection: o.Connection,
		same: o.Same, unsaid: o.Unsaid,
	}
	if !o.TTY {
		p.absolute, p.width = true, pipeWidth
	}
	return p
}

// pipeWidth is a page that breaks no line.
const pipeWidth = 1 << 16

// since is a time as the page's reader counts it; "" when there is none.
func (p *page) since(t time.Time) string {
	if p.absolute {
		return stampOf(t, p.loc)
	}
	return ago(t, p.now)
}

// raw writes a line as it is.
func (p *page) raw(line string) { p.out.put(line, "\n") }

func (p *page) blank() { p.raw("") }

// flush ends the page, and returns the first error of any write or table.
func (p *page) flush() error { return errors.Join(p.failed, p.out.flush()) }

// title opens a section: its name and a remark.
func (p *page) title(name, remark string) {
	p.blank()
	if remark == "" || width(name)+2+width(remark) > p.width {
		p.raw(p.bold(fit(name, p.width)))
		return
	}
	p.raw(p.bold(name) + "  " + p.dim(remark))
}

// sameFlags adds to a remark which flags of this call the suggested commands
// need.
func (p *page) sameFlags(remark string) string {
	if len(p.connection) == 0 {
		return remark
	}
	return joined(remark, "with the same "+strings.Join(p.connection, " "))
}

// text writes a paragraph in one style.
func (p *page) text(s, sgr string) { p.hang("", "", s, sgr) }

// mostText is how many cells of one text a page shows, however long it is: no
// text from outside pushes the others off the screen for good.
const mostText = 4000

// hang writes a paragraph in one style whose first line begins with one prefix
// and whose other lines begin with another. Prefixes may be painted.
func (p *page) hang(first, rest, s, sgr string) {
	margin := max(painted(first), painted(rest))
	s = fit(s, mostText)
	for i, line := range wrap(s, p.width-margin) {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		p.raw(strings.TrimRight(prefix+p.with(sgr, line), " "))
	}
}

// painted is the width of text that may hold our own colours.
func painted(s string) int {
	for {
		start := strings.Index(s, "\x1b[")
		if start < 0 {
			return width(s)
		}
		end := strings.IndexByte(s[start:], 'm')
		s = s[:start] + s[start+end+1:]
	}
}

// pieces writes short facts one after the other, separated by dots, on as many
// lines as they need. A fact is broken only when it is longer than a line.
func (p *page) pieces(margin string, facts []string, sgr string) {
	const dot = " · "
	room := p.width - width(margin)
	line := ""
	for _, fact := range facts {
		switch {
		case fact == "":
		case line == "":
			line = fact
		case width(line)+width(dot)+width(fact) <= room:
			line += dot + fact
		default:
			p.hang(margin, margin, line, sgr)
			line = fact
		}
	}
	if line != "" {
		p.hang(margin, margin, line, sgr)
	}
}

// mostCommand is the length of a command that a person may want to copy.
const mostCommand = 1000

// command writes a shell command behind an arrow, folded so that it can still be
// copied and run.
func (p *page) command(margin, cmd string) {
	arrow := margin + "→ "
	if Visible(cmd) != cmd || len(cmd) > mostCommand || strings.Contains(cmd, `\x00`) {
		// Never a command that does something else than it shows; and no shell
		// passes a NUL byte on.
		p.hang(arrow, margin+"  ", "not shown: too long, or not to be typed; -o json has it", sgrDim)
		return
	}
	for i, line := range visible.FoldCommand(cmd, p.width-width(arrow), p.width) {
		prefix := ""
		if i == 0 {
			prefix = arrow
		}
		p.raw(prefix + p.paint.command(line))
	}
}

// offer writes a command with the flags of this call that say what to connect to.
func (p *page) offer(cmd string) {
	p.offered = true
	p.command("", strings.TrimSpace(cmd+" "+p.same))
}

// sameConnection says what the commands that were offered lack, where any was.
func (p *page) sameConnection() {
	if p.offered && len(p.unsaid) > 0 {
		p.text("with the same "+strings.Join(p.unsaid, " "), sgrDim)
	}
}

// verdict writes what the findings come to, worst first.
func (p *page) verdict(lines []verdict) {
	for i, v := range lines {
		sgr := ""
		if i == 0 {
			sgr = sgrBold
		}
		mark := p.severity(v.severity, shape(v.severity))
		if v.severity == reconcile.SeverityNone {
			mark = p.with(sgrGreen, mark)
		}
		p.hang(mark+" ", "  ", v.text, sgr)
	}
}

const scopeMargin = 9

// scope writes what was looked at.
func (p *page) scope(facts []scopeFact) {
	p.blank()
	for _, f := range facts {
		p.hang(p.dim(pad(f.name, scopeMargin)), pad("", scopeMargin), f.text, "")
	}
}
