package tui

// list is where one is in a list of any length: a cursor that is always on an item
// where there is one, and a window that always shows the cursor. It holds no items,
// so that a million of them cost nothing.
type list struct {
	n           int
	cursor, top int
	height      int  // lines of the window; 0 before the first drawing
	moved       bool // somebody has moved the cursor since it was put on the first
}

// first puts the cursor and the window where a list begins.
func (l *list) first() { l.cursor, l.top, l.moved = 0, 0, false }

// resize says how many items there are, and how many lines for them.
func (l *list) resize(n, height int) {
	l.n, l.height = max(0, n), max(1, height)
	l.settle()
}

// settle brings the cursor into the list and the window to the cursor.
func (l *list) settle() {
	l.cursor = min(max(0, l.cursor), max(0, l.n-1))
	h := max(1, l.height)
	l.top = min(l.top, l.cursor)
	l.top = max(l.top, l.cursor-h+1)
	l.top = min(l.top, max(0, l.n-h))
	l.top = max(0, l.top)
}

// move moves the cursor by so many items.
func (l *list) move(by int) {
	l.cursor += by
	l.moved = true
	l.settle()
}

// to moves the cursor to an item.
func (l *list) to(i int) {
	l.cursor = i
	l.moved = true
	l.settle()
}

// keep moves the cursor to where its item is now, and leaves it on its line of the
// screen if it can.
func (l *list) keep(i int) {
	line := l.cursor - l.top
	l.cursor = i
	l.top = max(0, i-line)
	l.settle()
}

// window is which items are shown.
func (l *list) window() (from, to int) {
	return l.top, min(l.n, l.top+max(1, l.height))
}

// half is how far Ctrl-d goes.
func (l *list) half() int { return max(1, l.height/2) }

// page is how far PgDn goes.
func (l *list) page() int { return max(1, l.height-1) }
