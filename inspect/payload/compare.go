package payload

// comparison walks two documents side by side in canonical order. Neither needs a
// tree: members that only one document has show as the smaller of two names.
type comparison struct {
	a, b      side
	frames    []pair
	values    []Change
	spellings []Spelling
	omitted   int
	differs   bool
	general   bool // paths with [*] for every element
	names     [2][]byte
	text      [2][]byte
	digits    []byte
}

// side is one document and the token that comes next in it.
type side struct {
	doc *document
	*cursor
	token token
}

func (s *side) advance() { s.token = s.cursor.next() }

// skip reads past the value at the current token and returns its bytes.
func (s *side) skip() span {
	at := span{s.token.start, s.token.end}
	if s.token.opens() {
		depth := len(s.stack) - 1
		for len(s.stack) > depth {
			at.end = s.cursor.next().end
		}
	}
	s.advance()
	return at
}

// pair is a container that both documents have open.
type pair struct {
	object bool
	step   step
	order  [][2]int // offsets of the members that both have; kept if a side is not in order
}

func newComparison(a, b *document) *comparison {
	c := &comparison{digits: make([]byte, 0, maxDigits)}
	c.a, c.b = side{doc: a, cursor: a.cursor()}, side{doc: b, cursor: b.cursor()}
	c.a.advance()
	c.b.advance()
	return c
}

func (c *comparison) run() {
	c.value()
	for len(c.frames) > 0 {
		if top := &c.frames[len(c.frames)-1]; top.object {
			c.member(top)
		} else {
			c.element(top)
		}
	}
}

// value compares the values at both tokens, or opens them.
func (c *comparison) value() {
	ta, tb := c.a.token, c.b.token
	switch {
	case ta.kind == tb.kind && ta.opens():
		p := pair{object: ta.kind == tokenObject, step: step{index: -1}}
		c.a.advance()
		c.b.advance()
		c.frames = append(c.frames, p)
	case ta.kind == tb.kind && c.scalarsEqual(ta, tb):
		c.a.advance()
		c.b.advance()
	default:
		rules := c.rules(&c.a, &c.b)
		c.change(ChangeValue, c.a.skip().public(), c.b.skip().public(), rules)
	}
}

func (c *comparison) element(top *pair) {
	doneA, doneB := c.a.token.kind == tokenEndArray, c.b.token.kind == tokenEndArray
	top.step.index++
	switch {
	case doneA && doneB:
		c.pop()
	case doneA:
		c.only(ChangeAdded, &c.b)
	case doneB:
		c.only(ChangeRemoved, &c.a)
	default:
		c.value()
	}
}

func (c *comparison) member(top *pair) {
	doneA, doneB := c.a.token.kind == tokenEndObject, c.b.token.kind == tokenEndObject
	if doneA && doneB {
		c.pop()
		return
	}
	nameA, nameB := c.a.name(&c.names[0]), c.b.name(&c.names[1])
	order := 0
	if !doneA && !doneB {
		order = compareNames(nameA, nameB)
	}
	switch {
	case doneB || order < 0:
		top.step = step{isKey: true, name: nameA}
		c.a.advance()
		c.only(ChangeRemoved, &c.a)
	case doneA || order > 0:
		top.step = step{isKey: true, name: nameB}
		c.b.advance()
		c.only(ChangeAdded, &c.b)
	default:
		// Deeper objects overwrite the scratch that an unescaped name stands in.
		top.step = step{isKey: true, name: append([]byte(nil), nameA...)}
		c.bothHave(top)
	}
}

func (c *comparison) bothHave(top *pair) {
	ta, tb := c.a.token, c.b.token
	if len(c.a.doc.shuffled)+len(c.b.doc.shuffled) > 0 {
		top.order = append(top.order, [2]int{ta.start, tb.start})
	}
	if !equalSpans(c.a.p, ta, c.b.p, tb) {
		c.spelling(textRule(c.a.p, ta, c.b.p, tb), ta, tb)
	}
	c.a.advance()
	c.b.advance()
	c.value()
}

// pop leaves a container, whose closing brackets are the current tokens.
func (c *comparison) pop() {
	top := c.frames[len(c.frames)-1]
	c.frames = c.frames[:len(c.frames)-1]
	if a, b, differs := orderParts(top.order); differs {
		c.spelling(KeyOrder, token{start: a, end: skipString(c.a.p, a)}, token{start: b, end: skipString(c.b.p, b)})
	}
	c.a.advance()
	c.b.advance()
}

// only notes a value that one side alone has.
func (c *comparison) only(kind ChangeKind, s *side) {
	rules := c.rules(s)
	at := s.skip().public()
	if kind == ChangeAdded {
		c.change(kind, noRange, at, rules)
		return
	}
	c.change(kind, at, noRange, rules)
}

func (c *comparison) change(kind ChangeKind, a, b Range, rules []Rule) {
	c.differs = true
	if len(c.values) == MaxChanges {
		c.omitted++
		return
	}
	c.values = append(c.values, Change{Path: c.path(), Kind: kind, A: a, B: b, Rules: rules})
}

func (c *comparison) spelling(rule Rule, a, b token) {
	if len(c.spellings) == MaxChanges {
		c.omitted++
		return
	}
	c.spellings = append(c.spellings, Spelling{
		Path: c.path(), Rule: rule, A: Range{a.start, a.end}, B: Range{b.start, b.end},
	})
}

// path is that of the current value.
func (c *comparison) path() string {
	path, _ := formatPath(len(c.frames), func(i int) step {
		s := c.frames[i].step
		if c.general && !s.isKey {
			s.index = -1
		}
		return s
	})
	return path
}
