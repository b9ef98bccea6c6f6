package payload

// reorder writes the canonical form of a document in which only members stand in
// another order, as in every Go struct: whole members are copied, not tokens.
func (d *document) reorder() []byte {
	r := reordering{document: d, out: make([]byte, 0, d.end-d.body), from: d.body, to: d.end}
	for r.advance() {
	}
	return r.out
}

// reordering copies a document. From and to bound what is copied next.
type reordering struct {
	*document
	out      []byte
	from, to int
	next     int // the first object of shuffled that was not written
	open     []reopened
}

// reopened is an object whose members are being copied.
type reopened struct {
	at      int // in shuffled
	written uint32
	to      int // what bounds the copy after the object
}

// advance writes up to the next object that needs its members sorted, or up to the end
// of a member. It is false when all is written.
func (r *reordering) advance() bool {
	if at := r.inside(); at >= 0 {
		s := &r.shuffled[at]
		r.out = append(r.out, r.payload[r.from:s.open+1]...)
		r.open = append(r.open, reopened{at: at, to: r.to})
		r.next = at + 1
		r.member()
		return true
	}
	r.out = append(r.out, r.payload[r.from:r.to]...)
	if len(r.open) == 0 {
		return false
	}
	top := &r.open[len(r.open)-1]
	s := &r.shuffled[top.at]
	if top.written < s.count {
		r.out = append(r.out, ',')
		r.member()
		return true
	}
	r.from, r.to = int(s.end), top.to
	r.open = r.open[:len(r.open)-1]
	return true
}

// member goes on with the next member of the innermost object.
func (r *reordering) member() {
	top := &r.open[len(r.open)-1]
	m := r.order[r.shuffled[top.at].first+top.written]
	top.written++
	r.from, r.to = int(m.open), int(m.end)
}

// inside is the first object of shuffled between from and to, or -1.
func (r *reordering) inside() int {
	at := r.next
	// Objects follow each other as in the payload, unless members moved.
	if at > 0 && int(r.shuffled[at-1].open) >= r.from || at < len(r.shuffled) && int(r.shuffled[at].open) < r.from {
		at = r.firstShuffled(r.from)
	}
	if at < len(r.shuffled) && int(r.shuffled[at].open) < r.to {
		return at
	}
	return -1
}
