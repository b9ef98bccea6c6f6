package payload

import (
	"bytes"
	"slices"
)

func equalSpans(pa []byte, a token, pb []byte, b token) bool {
	return bytes.Equal(pa[a.start:a.end], pb[b.start:b.end])
}

// name is the unescaped name at the current token; nil if there is none.
func (s *side) name(scratch *[]byte) []byte {
	if s.token.kind != tokenName {
		return nil
	}
	content := s.p[s.token.start+1 : s.token.end-1]
	if bytes.IndexByte(content, '\\') < 0 {
		return content
	}
	*scratch = unescape((*scratch)[:0], content)
	return *scratch
}

// scalarsEqual compares two scalars of one kind by value, and notes if equal ones
// are spelled differently.
func (c *comparison) scalarsEqual(a, b token) bool {
	if equalSpans(c.a.p, a, c.b.p, b) {
		return true
	}
	if a.kind != tokenString && a.kind != tokenNumber {
		return false
	}
	c.text[0] = appendScalar(c.text[0][:0], c.a.p, a, c.digits)
	c.text[1] = appendScalar(c.text[1][:0], c.b.p, b, c.digits)
	if !bytes.Equal(c.text[0], c.text[1]) {
		return false
	}
	if a.kind == tokenNumber {
		c.spelling(numberRule(c.a.p[a.start:a.end], c.b.p[b.start:b.end]), a, b)
	} else {
		c.spelling(textRule(c.a.p, a, c.b.p, b), a, b)
	}
	return true
}

func numberRule(a, b []byte) Rule {
	isZero := func(literal []byte) bool { return parseDecimal(literal, make([]byte, 0, maxDigits)).isZero() }
	if (a[0] == '-') != (b[0] == '-') && isZero(a) {
		return NegativeZero
	}
	return NumberFormat
}

// textRule says which rule speaks of two spellings of one text: html-escape if no
// other escape is involved.
func textRule(pa []byte, a token, pb []byte, b token) Rule {
	var ta, tb text
	scanText(pa, a.start, &ta)
	scanText(pb, b.start, &tb)
	if (ta.flags|tb.flags)&textOther == 0 {
		return HTMLEscape
	}
	return StringEscape
}

// orderParts finds where the members that both sides have come in another order:
// the offsets of the first names that do not belong together.
func orderParts(offsets [][2]int) (a, b int, differs bool) {
	slices.SortFunc(offsets, func(x, y [2]int) int { return x[0] - y[0] })
	if slices.IsSortedFunc(offsets, func(x, y [2]int) int { return x[1] - y[1] }) {
		return 0, 0, false
	}
	other := slices.Clone(offsets)
	slices.SortFunc(other, func(x, y [2]int) int { return x[1] - y[1] })
	i := 0
	for offsets[i] == other[i] {
		i++
	}
	return offsets[i][0], other[i][1], true
}

// rules are the value rules that speak of the scalars at the current tokens, as
// long as changes are kept.
func (c *comparison) rules(sides ...*side) []Rule {
	var rules []Rule
	if len(c.values) == MaxChanges {
		return rules
	}
	for _, s := range sides {
		found := c.facts(s.p, s.token)
		for _, f := range factRules {
			if found&f.fact != 0 {
				rules = append(rules, f.rule)
			}
		}
		switch s.token.kind {
		case tokenNull:
			rules = append(rules, NullMember)
		case tokenNumber:
			if d := parseDecimal(s.p[s.token.start:s.token.end], c.digits); !d.isInteger() {
				rules = append(rules, FloatNumber)
			}
		default:
		}
	}
	slices.SortFunc(rules, compareRules)
	return slices.Compact(rules)
}

func (c *comparison) facts(p []byte, t token) facts {
	class := nameClass(0)
	for i := len(c.frames) - 1; i >= 0; i-- {
		if s := c.frames[i].step; s.isKey {
			class = classifyName(s.name)
			break
		}
	}
	switch t.kind {
	case tokenString:
		c.text[0] = unescape(c.text[0][:0], p[t.start+1:t.end-1])
		return stringFacts(c.text[0], class)
	case tokenNumber:
		return numberFacts(parseDecimal(p[t.start:t.end], c.digits), class)
	default:
		return 0
	}
}
