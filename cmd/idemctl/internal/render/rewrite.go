package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// spot is a position in a path that the walk through a payload has reached: the
// step that comes next.
type spot struct{ path, step int }

// apply is the payload as compact JSON with every named field hidden. It fails
// where the payload is not one JSON value.
func (r redactor) apply(payload []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	var start []spot
	for i := range r.paths {
		start = append(start, spot{path: i})
	}
	w := rewriter{redactor: r, dec: dec}
	if err := w.value(start); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return w.out.Bytes(), nil
}

// rewriter copies JSON token by token, so that order, digits and double names
// stay as they were and no depth costs more than its bytes.
type rewriter struct {
	redactor
	dec  *json.Decoder
	out  bytes.Buffer
	open []container
}

// maxDepth is how deep a payload may nest to be shown as JSON. Common readers of
// our own output give up a little beyond it.
const maxDepth = 200

// container is an object or array whose end has not come yet.
type container struct {
	array bool
	n     int // members or elements begun
	spots []spot
	// hidden containers are dropped: their place holds the word for it.
	hidden bool
}

// value copies one value, with all that is in it. It keeps its own stack: a
// payload may nest deeper than goroutines should.
func (w *rewriter) value(spots []spot) error {
	for {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		done, err := w.token(t, &spots)
		if err != nil || done {
			return err
		}
		if spots, err = w.next(); err != nil {
			return err
		}
	}
}

// token copies a token that begins or is a value, or ends a container. It says
// whether the outermost value is complete.
func (w *rewriter) token(t json.Token, spots *[]spot) (bool, error) {
	hiding := len(w.open) > 0 && w.open[len(w.open)-1].hidden
	hide := !hiding && w.ends(*spots)
	if hide {
		w.write(`"` + redacted + `"`)
	}
	switch t {
	case json.Delim('{'), json.Delim('['):
		if !hiding && !hide {
			w.write(t.(json.Delim).String())
		}
		if len(w.open) == maxDepth {
			return false, errors.New("nested too deep")
		}
		w.open = append(w.open, container{array: t == json.Delim('['), spots: *spots, hidden: hiding || hide})
		return false, nil
	case json.Delim('}'), json.Delim(']'):
		return w.close(t.(json.Delim)), nil
	}
	if !hiding && !hide {
		if err := w.scalar(t); err != nil {
			return false, err
		}
	}
	return len(w.open) == 0, nil
}

func (w *rewriter) close(d json.Delim) bool {
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if !last.hidden {
		w.write(d.String())
	}
	return len(w.open) == 0
}

// next goes to the next value inside the innermost container, past its comma and
// name, and says where in the paths that value is. A container's end has no
// spots.
func (w *rewriter) next() ([]spot, error) {
	c := &w.open[len(w.open)-1]
	if !w.dec.More() {
		return nil, nil
	}
	if c.n > 0 && !c.hidden {
		w.write(",")
	}
	c.n++
	if c.array {
		if c.hidden {
			return nil, nil
		}
		return w.element(c.spots, c.n-1), nil
	}
	name, err := w.dec.Token()
	if err != nil || c.hidden {
		return nil, err
	}
	if err := w.scalar(name); err != nil {
		return nil, err
	}
	w.write(":")
	return w.member(c.spots, name.(string)), nil
}

// member is where the paths stand inside an object's member.
func (w *rewriter) member(spots []spot, name string) []spot {
	var inside []spot
	for _, at := range spots {
		s := w.step(at)
		if s == nil {
			continue
		}
		if s.deep {
			inside = reach(inside, at)
		}
		if !s.element && (s.every || strings.EqualFold(s.name, name)) {
			inside = reach(inside, spot{at.path, at.step + 1})
		}
	}
	return inside
}

// reach adds a spot once: steps at any depth would double them at every level.
func reach(spots []spot, at spot) []spot {
	if slices.Contains(spots, at) {
		return spots
	}
	return append(spots, at)
}

// element is where the paths stand inside an array's element: a step that names
// a member waits, and is looked for in every element.
func (w *rewriter) element(spots []spot, index int) []spot {
	var inside []spot
	for _, at := range spots {
		s := w.step(at)
		if s == nil {
			continue
		}
		if !s.element || s.deep {
			inside = reach(inside, at)
		}
		if s.every || s.element && s.index == index {
			inside = reach(inside, spot{at.path, at.step + 1})
		}
	}
	return inside
}

// step is the step that comes next; nil at a path's end.
func (w *rewriter) step(at spot) *step {
	if p := w.paths[at.path]; at.step < len(p) {
		return &p[at.step]
	}
	return nil
}

// ends says whether one of the paths ends here: the value is the named one.
func (w *rewriter) ends(spots []spot) bool {
	for _, at := range spots {
		if w.step(at) == nil {
			return true
		}
	}
	return false
}

func (w *rewriter) scalar(t json.Token) error {
	text, err := marshal(t)
	w.out.Write(text)
	return err
}

func (w *rewriter) write(s string) { w.out.WriteString(s) }
