package timeline

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idemctl/idemctl/inspect/retry"
)

// Timeline is what is drawn: the attempts of one task, from its enqueue on.
type Timeline struct {
	Attempts []retry.Attempt // Params.Attempts
	// End is the longest life (Lifetime.Max). The axis reaches to it, and to the
	// end of the lock if that is later.
	End retry.Seconds
	// Lock is when the lock ends (Lock.TTL), counted from t0 like all times; 0:
	// there is none.
	Lock retry.Seconds
	// Now is the age of a task that is looked at; nil marks no moment.
	Now *retry.Seconds
	// Left is how many columns there are at least before the axis, so that it can
	// stand above another chart.
	Left int
}

const (
	// leastPlot is the narrowest axis; a terminal that has less room for it gets
	// lines that are too long.
	leastPlot = 20
	// windowRoom is from which width on each line ends in its window in words.
	windowRoom = 64
	gap        = 2
)

// Scale is the axis of a drawing of the given width, and the column of the
// drawing in which it begins: for a chart that is to stand under it.
func (t Timeline) Scale(width int) (Scale, int) {
	left := max(t.Left, t.labelWidth()+gap)
	plot := width - left
	if words := t.wordsWidth(width); words > 0 {
		plot -= gap + words
	}
	return NewScale(max(t.End, t.Lock), max(leastPlot, plot)), left
}

// Draw draws one line an attempt, with the lock's mark above and the axis below,
// in the given width. More attempts than rows are cut in the middle; rows below
// 3 is no limit.
func (t Timeline) Draw(width, rows int) []Line {
	scale, left := t.Scale(width)
	d := drawing{Timeline: t, scale: scale, left: left, words: t.wordsWidth(width)}
	d.lock = -1
	if t.Lock > 0 {
		d.lock = scale.Column(t.Lock)
	}
	var lines []Line
	if d.lock >= 0 || t.Now != nil {
		lines = append(lines, d.marks()...)
	}
	for _, i := range chosen(len(t.Attempts), rows) {
		if i < 0 {
			lines = append(lines, d.cut(chosen(len(t.Attempts), rows)))
			continue
		}
		lines = append(lines, d.attempt(t.Attempts[i]))
	}
	return append(lines, d.axis()...)
}

func (t Timeline) labelWidth() int {
	return max(len("#"), len(strconv.Itoa(len(t.Attempts))))
}

// wordsWidth is the width of the windows in words; 0 where there is no room.
func (t Timeline) wordsWidth(width int) int {
	if width < windowRoom {
		return 0
	}
	widest := 0
	for _, a := range t.Attempts {
		widest = max(widest, len([]rune(windowWords(a))))
	}
	return widest
}

// windowWords says when an attempt can start; both ends are bounds.
func windowWords(a retry.Attempt) string {
	from, to := Clock(a.Earliest, RoundDown), Clock(a.Latest, RoundUp)
	if a.Earliest == a.Latest {
		return Clock(a.Earliest, RoundNearest)
	}
	return from + " … " + to
}

// chosen are the indices of the attempts to draw; -1 stands for those left out.
func chosen(attempts, rows int) []int {
	all := make([]int, attempts)
	for i := range all {
		all[i] = i
	}
	if rows < 3 || attempts <= rows {
		return all
	}
	last := (rows - 1) / 2
	first := rows - 1 - last
	return slices.Concat(all[:first], []int{-1}, all[attempts-last:])
}

// drawing is a timeline with its axis.
type drawing struct {
	Timeline
	scale Scale
	left  int
	words int
	lock  int // column of the lock's end; -1: no lock
}

// line is an empty line with the marks that go through all of them.
func (d *drawing) line() []cell {
	cells := blanks(d.scale.Columns())
	if d.Now != nil {
		cells[d.scale.Column(*d.Now)] = cell{'╎', RoleNow}
	}
	if d.lock >= 0 {
		cells[d.lock] = cell{'┊', RoleLock}
	}
	return cells
}

// marks name the lock's end and now, each above its column.
func (d *drawing) marks() []Line {
	var lines []Line
	add := func(column int, text string, role Role) {
		cells := d.line()
		mark := '▼'
		n := len([]rune(text))
		switch {
		case column+2+n <= len(cells):
			cells[column] = cell{mark, role}
			write(cells, column+2, text, role)
		case column-1-n >= 0:
			cells[column] = cell{mark, role}
			write(cells, column-1-n, text, role)
		default:
			cells[column] = cell{mark, role}
		}
		lines = append(lines, d.framed("", cells, ""))
	}
	if d.Now != nil {
		add(d.scale.Column(*d.Now), "now "+Clock(*d.Now, RoundNearest), RoleNow)
	}
	if d.lock >= 0 {
		add(d.lock, "lock ends "+Clock(d.Lock, RoundNearest), RoleLock)
	}
	return lines
}

// attempt draws the window in which an attempt starts, and how long it can then
// take.
func (d *drawing) attempt(a retry.Attempt) Line {
	cells := d.line()
	from, to, end := d.scale.Column(a.Earliest), d.scale.Column(a.Latest), d.scale.Column(a.LatestEnd)
	for c := from; c <= end; c++ {
		mark, role := '━', RoleStart
		if c > to {
			mark, role = '─', RoleRun
		}
		if c == d.lock { // both are there
			cells[c] = cell{'┿', RoleLock}
			continue
		}
		if d.lock >= 0 && c > d.lock {
			mark, role = '░', RoleLate
			if c > to {
				mark = '·'
			}
		}
		cells[c] = cell{mark, role}
	}
	words := ""
	if d.words > 0 {
		words = windowWords(a)
	}
	return d.framed(strconv.Itoa(a.N), cells, words)
}

// cut stands for the attempts that are left out.
func (d *drawing) cut(chosen []int) Line {
	at := slices.Index(chosen, -1)
	cells := d.line()
	write(cells, 0, fmt.Sprintf("… attempts %d to %d …", chosen[at-1]+2, chosen[at+1]), RoleLabel)
	return d.framed("⋮", cells, "")
}

// axis is the line with the ticks, and the line with their labels.
func (d *drawing) axis() []Line {
	return d.scale.Axis(d.left)
}

// Axis draws the scale in two lines, from the given column on.
func (s Scale) Axis(left int) []Line {
	ruler, labels := blanks(s.Columns()), blanks(s.Columns())
	for c := range ruler {
		ruler[c] = cell{'─', RoleAxis}
	}
	for _, t := range s.Ticks() {
		ruler[t.Column] = cell{'┴', RoleAxis}
		write(labels, t.Column, t.Label, RoleAxis)
	}
	margin := blanks(left)
	return []Line{spans(slices.Concat(margin, ruler)), spans(slices.Concat(margin, labels))}
}

// framed puts the label before a line and the words behind it.
func (d *drawing) framed(label string, cells []cell, words string) Line {
	head := blanks(d.left)
	write(head, d.left-gap-len([]rune(label)), label, RoleLabel)
	line := slices.Concat(head, cells)
	if words != "" {
		tail := blanks(gap + d.words)
		write(tail, gap, words, RoleLabel)
		line = append(line, tail...)
	}
	return spans(line)
}
