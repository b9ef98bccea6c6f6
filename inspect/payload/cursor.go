package payload

import "encoding/binary"

// tokenKind is a part of a document. The zero value is tokenUnknown.
type tokenKind uint8

const (
	tokenUnknown tokenKind = iota
	tokenEnd
	tokenObject
	tokenEndObject
	tokenArray
	tokenEndArray
	tokenName
	tokenString
	tokenNumber
	tokenBool
	tokenNull
)

// token is one part of a document and its bytes, quotes and brackets included.
type token struct {
	kind       tokenKind
	start, end int
}

func (t token) opens() bool { return t.kind == tokenObject || t.kind == tokenArray }

// cursor walks a valid document without recursion, members either in canonical
// order or as written.
type cursor struct {
	doc       *document
	p         []byte
	i         int
	after     bool // a value was read; a comma or a bracket comes next
	stack     []level
	asWritten bool
	hint      int // the object of doc.shuffled that probably comes next
}

// level is an open container.
type level struct {
	object bool
	fresh  bool // nothing of it was read
	order  *shuffled
	next   uint32 // members of order that were read
}

func (d *document) cursor() *cursor {
	return &cursor{doc: d, p: d.payload, i: d.body}
}

// rewind starts over, in another document, with members as written.
func (c *cursor) rewind(d *document) {
	*c = cursor{doc: d, p: d.payload, i: d.body, stack: c.stack[:0], asWritten: true}
}

// next returns the next token, and tokenEnd after the last one.
func (c *cursor) next() token {
	if len(c.stack) == 0 {
		if c.after {
			return token{kind: tokenEnd}
		}
		return c.value()
	}
	top := &c.stack[len(c.stack)-1]
	switch {
	case !top.object:
		return c.element(top)
	case c.after || top.fresh:
		return c.member(top)
	default:
		return c.value()
	}
}

// element reads the value or the bracket that comes next in an array.
func (c *cursor) element(top *level) token {
	next := c.peek()
	if next == ']' {
		return c.closeAt(c.i, tokenEndArray)
	}
	if !top.fresh {
		c.i++
	}
	top.fresh = false
	return c.value()
}

// member reads the name or the bracket that comes next in an object.
func (c *cursor) member(top *level) token {
	if top.order != nil {
		if top.next == top.order.count {
			return c.closeAt(int(top.order.end), tokenEndObject)
		}
		c.i = int(c.doc.order[top.order.first+top.next].open)
		top.next++
	} else {
		next := c.peek()
		if next == '}' {
			return c.closeAt(c.i, tokenEndObject)
		}
		if next == ',' {
			c.i++
			c.peek()
		}
	}
	top.fresh = false
	c.after = false
	t := token{tokenName, c.i, skipString(c.p, c.i)}
	c.i = t.end
	c.peek()
	c.i++ // the colon
	return t
}

func (c *cursor) closeAt(i int, kind tokenKind) token {
	c.stack = c.stack[:len(c.stack)-1]
	c.i = i + 1
	c.after = true
	return token{kind, i, i + 1}
}

func (c *cursor) value() token {
	first := c.peek()
	start := c.i
	c.after = true
	var kind tokenKind
	switch first {
	case '{':
		return c.open(level{object: true, fresh: true, order: c.memberOrder(start)}, tokenObject)
	case '[':
		return c.open(level{fresh: true}, tokenArray)
	case '"':
		kind = tokenString
		c.i = skipString(c.p, start)
	case 't', 'n':
		kind = tokenBool
		if first == 'n' {
			kind = tokenNull
		}
		c.i += len("true")
	case 'f':
		kind = tokenBool
		c.i += len("false")
	default:
		kind = tokenNumber
		c.i, _ = scanNumber(c.p, start)
	}
	return token{kind, start, c.i}
}

func (c *cursor) memberOrder(open int) *shuffled {
	if c.asWritten {
		return nil
	}
	// Objects come mostly in the order of the payload.
	if c.hint < len(c.doc.shuffled) && int(c.doc.shuffled[c.hint].open) == open {
		c.hint++
		return &c.doc.shuffled[c.hint-1]
	}
	found := c.doc.memberOrder(open)
	if found >= 0 {
		c.hint = found + 1
		return &c.doc.shuffled[found]
	}
	return nil
}

func (c *cursor) open(l level, kind tokenKind) token {
	c.stack = append(c.stack, l)
	c.after = false
	c.i++
	return token{kind, c.i - 1, c.i}
}

// peek skips whitespace and returns the next byte; a valid document has one
// wherever it is asked.
func (c *cursor) peek() byte {
	for isBlank(c.p[c.i]) {
		c.i++
	}
	return c.p[c.i]
}

// skipString returns the offset after the closing quote of a valid literal.
func skipString(p []byte, open int) int {
	i := open + 1
	for {
		for i+8 <= len(p) {
			w := binary.LittleEndian.Uint64(p[i:])
			quote := w ^ '"'*everyByte
			slash := w ^ '\\'*everyByte
			if ((quote-everyByte)&^quote|(slash-everyByte)&^slash)&highBits != 0 {
				break
			}
			i += 8
		}
		for p[i] != '"' && p[i] != '\\' {
			i++
		}
		if p[i] == '"' {
			return i + 1
		}
		i += 2
	}
}
