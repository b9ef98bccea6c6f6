package tui

import (
	"fmt"
	"strings"
)

func (s *tasks) shown() shown {
	out := shown{at: s.read, filter: s.where.text}
	n := s.now.spine.len()
	if n == 0 || s.now.keeps {
		out.at = s.listed // rows come with it, or there are none
	}
	var parts []string
	switch {
	case n == 0 && !s.now.done:
	case s.now.done && !s.now.full:
		parts = append(parts, fmt.Sprintf("%s of %s", count(min(n, s.list.cursor+1)), count(n)))
	default:
		of := count(n) + " or more"
		if total, known := s.countOf(s.state); known && total > n && !s.now.keeps {
			of = count(total)
		}
		parts = append(parts, count(s.list.cursor+1)+" of "+of)
	}
	if len(s.marks) > 0 {
		parts = append(parts, "● "+count(len(s.marks))+" marked")
	}
	out.words = joined(parts...)
	if n := len(s.unseen); n > 0 {
		out.more = append(out.more, "↑ "+count(n)+" new above")
	}
	if s.err != nil && n > 0 {
		out.more = append(out.more, "! broke off; "+s.triedAgain())
	}
	if n := s.now.leftOut(); n > 0 {
		out.more = append(out.more, "! filter fails for "+count(n))
	}
	if s.order.by >= 0 {
		out.more = append(out.more, "by "+strings.ToLower(s.table.columns[s.order.by].title))
	}
	if n == 0 {
		out.unread = s.err
	}
	switch {
	case s.now.full:
		out.busy = "the first " + count(maxRows) + " only"
	case s.desk.waits(slotList) && s.now.keeps:
		out.busy = "read " + brief(s.now.read) + " …"
	case s.desk.waits(slotList):
		out.busy = "reading …"
	}
	return out
}
