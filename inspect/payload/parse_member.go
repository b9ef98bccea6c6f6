package payload

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// name reads a member name and its colon, and compares the name with the one
// before it.
func (s *parser) name() bool {
	if s.peek() != '"' {
		return s.fail("expected a member name in quotes")
	}
	open := s.i
	if !s.scan() {
		return false
	}
	m := member{open: uint32(open), start: uint32(s.text.start), end: uint32(s.text.end)}
	if s.text.flags&(textEscaped|textBad) != 0 {
		m.inArena = true
		m.start = uint32(len(s.arena))
		s.arena = unescape(s.arena, s.p[s.text.start:s.text.end])
		m.end = uint32(len(s.arena))
	}
	s.setPrefix(&m)
	s.members = append(s.members, m)
	s.compareWithPrevious()
	s.judgeText()
	if s.peek() != ':' {
		return s.fail("expected a colon after the member name")
	}
	s.i++
	return true
}

// setPrefix keeps what decides most comparisons.
func (s *parser) setPrefix(m *member) {
	name := s.nameOf(m)
	if len(name) >= 8 {
		m.prefix = binary.BigEndian.Uint64(name)
	} else {
		for i, c := range name {
			m.prefix |= uint64(c) << (56 - 8*i)
		}
	}
	m.wide = m.prefix&highBits != 0
}

func (s *parser) compare(a, b *member) int {
	if a.prefix != b.prefix && !a.wide && !b.wide {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return compareNames(s.nameOf(a), s.nameOf(b))
}

// scan reads the string literal at the current offset into s.text.
func (s *parser) scan() bool {
	next := scanText(s.p, s.i, &s.text)
	if next >= 0 {
		s.i = next
		return true
	}
	s.i = ^next
	switch {
	case s.i >= len(s.p):
		return s.fail("the string has no closing quote")
	case s.p[s.i] < ' ':
		return s.fail("control character in a string")
	default:
		return s.fail("unknown escape in a string")
	}
}

func (s *parser) nameOf(m *member) []byte {
	if m.inArena {
		return s.arena[m.start:m.end]
	}
	return s.p[m.start:m.end]
}

func (s *parser) compareWithPrevious() {
	f := &s.frames[len(s.frames)-1]
	last := len(s.members) - 1
	if last == int(f.base) {
		return
	}
	switch order := s.compare(&s.members[last-1], &s.members[last]); {
	case order == 0:
		f.twice = true
	case order > 0 && !f.mixed:
		f.mixed = true
		s.find(KeyOrder, atObject, s.spanOf(&s.members[last]), "members are not sorted")
	}
}

// spanOf is where the name stands in the payload, with its quotes.
func (s *parser) spanOf(m *member) span {
	if !m.inArena {
		return span{int(m.open), int(m.end) + 1}
	}
	var t text
	return span{int(m.open), scanText(s.p, int(m.open), &t)}
}

func (s *parser) closeObject() {
	f := &s.frames[len(s.frames)-1]
	if f.mixed || f.twice {
		s.arrange(f)
	}
	s.close()
}

// arrange sorts the members of an object that is about to be closed, finds
// duplicate names, and keeps the order for the canonical form.
func (s *parser) arrange(f *frame) {
	own := s.members[f.base:]
	for i := range own[1:] {
		own[i].tail = own[i+1].open - 1
	}
	own[len(own)-1].tail = uint32(s.i)
	if f.mixed && s.sort(own) {
		f.twice = true
	}
	if f.twice {
		s.findTwice(own)
	}
	if !f.mixed {
		return
	}
	s.shuffled = append(s.shuffled, shuffled{
		open: f.open, end: uint32(s.i), first: uint32(len(s.order)), count: uint32(len(own)),
	})
	for i := range own {
		s.order = append(s.order, slot{own[i].open, own[i].tail})
	}
}

// sort keeps the order of equal names, and says whether there are any: a sort
// cannot leave two equal neighbours uncompared.
func (s *parser) sort(own []member) (twice bool) {
	const few = 16
	if len(own) > few {
		slices.SortFunc(own, func(a, b member) int {
			if order := s.compare(&a, &b); order != 0 {
				return order
			}
			twice = twice || a.open != b.open
			return cmp.Compare(a.open, b.open)
		})
		return twice
	}
	for i := 1; i < len(own); i++ {
		moved := own[i]
		j := i
		for ; j > 0; j-- {
			order := s.compare(&own[j-1], &moved)
			twice = twice || order == 0
			if order <= 0 {
				break
			}
			own[j] = own[j-1]
		}
		own[j] = moved
	}
	return twice
}

func (s *parser) findTwice(own []member) {
	for i := 1; i < len(own); i++ {
		if s.compare(&own[i-1], &own[i]) == 0 {
			where := s.spanOf(&own[i])
			s.forbid(DuplicateKey, where)
			s.find(DuplicateKey, atObject, where, undefinedMessages[DuplicateKey])
			return
		}
	}
}

// forbid notes that there is no canonical form.
func (s *parser) forbid(rule Rule, at span) {
	if s.undefined == RuleUnknown {
		s.undefined, s.at = rule, at
	}
}
