package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/timeline"
)

// mark is something that happened to a task, or will.
type mark struct {
	sign     string
	name     string
	at       time.Time
	until    time.Time // of a window; zero: a moment
	severity reconcile.Severity
}

// mostAhead is how many attempts to come are drawn.
const mostAhead = 3

// marksOf are what is known of when, in order.
func marksOf(d *Dossier) []mark {
	t := &d.Task
	var out []mark
	add := func(sign, name string, at time.Time, severity reconcile.Severity) {
		if !at.IsZero() && at.Unix() > 0 {
			out = append(out, mark{sign: sign, name: name, at: at, severity: severity})
		}
	}
	if t.PendingSince.IsZero() {
		add("›", "grouped", t.GroupedAt, reconcile.SeverityInfo)
	}
	add("›", "pending", t.PendingSince, reconcile.SeverityInfo)
	if d.Worker != nil {
		add("»", fmt.Sprintf("attempt %d began", t.Retried+1), d.Worker.StartedAt, reconcile.SeverityInfo)
	}
	add("✗", fmt.Sprintf("attempt %d failed", max(1, failed(t))), t.LastFailedAt, reconcile.SeverityHigh)
	add("✓", "effect applied", d.Verdict.AppliedAt, reconcile.SeverityNone)
	add("□", "archived", t.ArchivedAt, reconcile.SeverityWarning)
	add("✓", "completed", t.CompletedAt, reconcile.SeverityNone)
	add("!", "lease ends", t.LeaseExpiresAt, reconcile.SeverityWarning)
	if l := d.Lock; l != nil && l.TTL > 0 && l.State != reconcile.LockFree {
		add("┊", "lock ends", d.ConfirmedAt.Add(l.TTL), reconcile.SeverityWarning)
	}
	add("≡", "settled", d.Verdict.SettlesAt, reconcile.SeverityInfo)
	add("‡", "deadline", t.Deadline, reconcile.SeverityWarning)
	add("…", "deleted", t.ExpiresAt, reconcile.SeverityInfo)
	out = append(out, aheadOf(d)...)
	slices.SortStableFunc(out, func(a, b mark) int { return a.at.Compare(b.at) })
	return out
}

// failed is which attempt failed last. An archived task has spent all of those that
// are counted, and its last failure is not counted any more.
func failed(t *inspect.Task) int {
	if t.State == inspect.StateArchived {
		return t.Retried + 1
	}
	return t.Retried
}

// aheadOf are the attempts to come of a task that waits for one: the next, whose
// time is known, and those after it in the windows that the retry policy leaves.
func aheadOf(d *Dossier) []mark {
	t := &d.Task
	if t.NextProcessAt.IsZero() || t.NextProcessAt.Unix() <= 0 {
		return nil
	}
	out := []mark{{sign: "▸", name: fmt.Sprintf("attempt %d due", t.Retried+1), at: t.NextProcessAt, severity: reconcile.SeverityInfo}}
	first := t.Retried
	for i := first + 1; i < len(d.Attempts) && i <= first+mostAhead-1; i++ {
		a, from := d.Attempts[i], d.Attempts[first]
		out = append(out, mark{
			sign: "━", name: fmt.Sprintf("attempt %d", a.N),
			at:       t.NextProcessAt.Add((a.Earliest - from.Earliest).Duration()),
			until:    t.NextProcessAt.Add((a.Latest - from.Earliest).Duration()),
			severity: reconcile.SeverityInfo,
		})
	}
	return out
}

// times draws the marks to scale. Both ways from now the axis is logarithmic: a
// minute and a month have room on it.
func (s *detail) times(w *writer, d *Dossier) {
	marks := marksOf(d)
	if len(marks) == 0 || w.width < 32 {
		return
	}
	now := s.redisNow()
	labels := 0
	for _, m := range marks {
		labels = max(labels, visible.Width(m.name))
	}
	const words = 10
	columns := w.width - 2 - labels - 3 - words
	if columns < leastAxis {
		s.timesAlone(w, marks, labels)
		return
	}
	axis := newTimeAxis(marks, now, columns)
	w.title("TIMES", visible.Fit("to scale, logarithmic both ways from now", w.width-len("TIMES  ")))
	for _, m := range marks {
		w.raw("  " + visible.Pad(m.name, labels) + " " + s.theme.severity(m.severity, m.sign) + " " + s.drawn1(axis, m) + " " + s.theme.dim.Render(visible.PadLeft(ago(m.at, now), words-1)))
	}
	left := strings.Repeat(" ", 2+labels+3)
	ruler, names := axis.ruler()
	w.raw(left + s.theme.dim.Render(ruler))
	w.raw(left + s.theme.dim.Render(names))
}

// leastAxis is the columns that a scale takes to say anything.
const leastAxis = 16

// timesAlone says when, where there is no room for a scale.
func (s *detail) timesAlone(w *writer, marks []mark, labels int) {
	w.title("TIMES", "")
	for _, m := range marks {
		w.raw("  " + visible.Pad(m.name, labels) + " " + s.theme.severity(m.severity, m.sign) + " " + s.theme.dim.Render(ago(m.at, s.redisNow())))
	}
}

// drawn1 draws one mark's line.
func (s *detail) drawn1(a timeAxis, m mark) string {
	cells := a.blank()
	from := a.column(m.at)
	to := from
	if m.until.After(m.at) {
		to = a.column(m.until)
	}
	var b strings.Builder
	for i, c := range cells {
		switch {
		case i == from && to == from:
			b.WriteString(s.theme.severity(m.severity, m.sign))
		case i >= from && i <= to:
			b.WriteString(s.theme.severity(m.severity, "━"))
		default:
			b.WriteString(s.theme.dim.Render(string(c)))
		}
	}
	return b.String()
}

// timeAxis is the time around now.
type timeAxis struct {
	now          time.Time
	past, future timeline.Scale
	at           int // column of now
	columns      int
}

func newTimeAxis(marks []mark, now time.Time, columns int) timeAxis {
	columns = max(10, columns)
	var back, ahead time.Duration
	for _, m := range marks {
		back = max(back, now.Sub(m.at))
		ahead = max(ahead, m.at.Sub(now), m.until.Sub(now))
	}
	a := timeAxis{now: now, columns: columns}
	switch {
	case ahead <= 0:
		a.at = columns - 1
	case back <= 0:
		a.at = 0
	default:
		a.at = (columns - 1) / 2
	}
	a.past = timeline.NewScale(retry.SecondsOf(back), a.at+1)
	a.future = timeline.NewScale(retry.SecondsOf(ahead), columns-a.at)
	return a
}

// column is where a moment is.
func (a *timeAxis) column(t time.Time) int {
	c := a.at
	if d := t.Sub(a.now); d < 0 {
		c -= a.past.Column(retry.SecondsOf(-d))
	} else {
		c += a.future.Column(retry.SecondsOf(d))
	}
	return min(max(0, c), a.columns-1)
}

// blank is a line with now in it.
func (a *timeAxis) blank() []rune {
	cells := []rune(strings.Repeat(" ", a.columns))
	cells[a.at] = '╎'
	return cells
}

// ruler is the axis, and its labels.
func (a *timeAxis) ruler() (ruler, labels string) {
	line := []rune(strings.Repeat("─", a.columns))
	names := []rune(strings.Repeat(" ", a.columns))
	put := func(column int, name string) {
		from := min(max(0, column-len(name)/2), a.columns-len(name))
		if from < 0 {
			return
		}
		for i := max(0, from-1); i < min(a.columns, from+len(name)+1); i++ {
			if names[i] != ' ' {
				return
			}
		}
		line[column] = '┴'
		copy(names[from:], []rune(name))
	}
	put(a.at, "now")
	for _, t := range slices.Backward(a.past.Ticks()) {
		if t.At > 0 && a.at > 0 {
			put(a.at-t.Column, "-"+t.Label)
		}
	}
	for _, t := range slices.Backward(a.future.Ticks()) {
		if t.At > 0 && a.at < a.columns-1 {
			put(a.at+t.Column, t.Label)
		}
	}
	return string(line), string(names)
}
