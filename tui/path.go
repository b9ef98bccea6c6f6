package tui

import (
	"github.com/idemctl/idemctl/internal/visible"
)

// The second line says how one came here and what is shown. Where there is little
// room the way here gives way first, then the end of the filter, then what other
// lines say as well, then the end of the screen's name. Position and marks stay.

const (
	// leastFilter is what is left of a filter before more than the way gives way.
	leastFilter = 12
	leastTitle  = 10
)

// path draws the line.
func (m *Model) path(w int) string {
	names := make([]string, len(m.stack))
	for i, s := range m.stack {
		names[i] = safe(s.name())
	}
	last := len(names) - 1
	s := m.top().shown()
	before, title, right := "", names[last], s.line(s.more)
	for first := range names {
		if way := wayTo(names, first); visible.Width(way+title)+2+visible.Width(right) <= w {
			return m.pathLine(way, title, right, w)
		}
	}
	right, fits := s.within(w - 2 - visible.Width(title))
	if !fits {
		right, _ = s.within(w - 2 - min(leastTitle, visible.Width(title)))
	}
	if right != "" {
		title = visible.Fit(title, max(1, w-2-visible.Width(right)))
	}
	return m.pathLine(before, title, right, w)
}

func (m *Model) pathLine(way, title, right string, w int) string {
	left := m.theme.dim.Render(way) + m.theme.title.Render(title)
	return clip(sides(left, m.theme.dim.Render(right), w), w)
}

// wayTo is the names before the last, from one on.
func wayTo(names []string, first int) string {
	way := ""
	if first > 0 {
		way = "… › "
	}
	for _, n := range names[first : len(names)-1] {
		way += n + " › "
	}
	return way
}

// line is all that is said beside the name, the filter last.
func (s *shown) line(more []string) string {
	return joined(joined(s.words, joined(more...), s.busy), s.filterWords())
}

func (s *shown) filterWords() string {
	if s.filter == "" {
		return ""
	}
	return "/" + safe(s.filter)
}

// within is as much of it as there is room for. Where even the least does not fit,
// it is cut.
func (s *shown) within(room int) (line string, fits bool) {
	filter := s.filterWords()
	least := min(visible.Width(filter), leastFilter)
	for n := len(s.more); n >= 0; n-- {
		if line := s.line(s.more[:n]); visible.Width(line)-visible.Width(filter)+least <= room {
			return visible.Fit(line, room), true
		}
	}
	return visible.Fit(joined(s.words, filter), max(0, room)), false
}
