package timeline

import (
	"strings"
)

// Role is what a stretch of a drawing shows. The zero value is RoleUnknown.
type Role uint8

const (
	RoleUnknown Role = iota
	RoleBlank        // nothing
	RoleLabel        // numbers and words
	RoleAxis         // the axis with its labels
	RoleStart        // an attempt can start here, and the lock still holds
	RoleRun          // an attempt that has started can still run, or wait to be recovered
	RoleLate         // an attempt can start or run here, and the lock has ended
	RoleLock         // where the lock ends
	RoleNow          // where the task stands now
)

// Span is a stretch of one role. It holds no control character.
type Span struct {
	Text string
	Role Role
}

// Line is one line of a drawing, without its end.
type Line []Span

// Text is the line without its roles, and without blanks at its end.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// cell is one column while a line is drawn.
type cell struct {
	mark rune
	role Role
}

// spans joins neighbours of one role.
func spans(cells []cell) Line {
	var out Line
	for _, c := range cells {
		if n := len(out); n > 0 && out[n-1].Role == c.role {
			out[n-1].Text += string(c.mark)
			continue
		}
		out = append(out, Span{string(c.mark), c.role})
	}
	return out
}

func blanks(n int) []cell {
	cells := make([]cell, n)
	for i := range cells {
		cells[i] = cell{' ', RoleBlank}
	}
	return cells
}

// write puts text over cells, from a column on; what has no room is left out.
func write(cells []cell, column int, text string, role Role) {
	for _, r := range text {
		if column >= 0 && column < len(cells) {
			cells[column] = cell{r, role}
		}
		column++
	}
}
