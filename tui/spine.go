package tui

import (
	"bytes"
	"encoding/hex"

	"github.com/idemctl/idemctl/inspect"
)

// spine is the IDs of a list in their order, in about 23 bytes each where they are
// UUIDs, so that a million of them fit beside everything else. It holds nothing
// that the garbage collector would have to look at.
type spine struct {
	queues []string
	number map[string]uint16
	parts  []*spinePart
	n      int
}

// spinePart holds as many IDs as fit a part.
type spinePart struct {
	queue []uint16
	end   []uint32 // of each ID's code in data
	data  []byte
}

const partSize = 4096

// add appends a task.
func (s *spine) add(r inspect.Ref) {
	if s.n%partSize == 0 {
		s.parts = append(s.parts, &spinePart{})
	}
	p := s.parts[len(s.parts)-1]
	p.queue = append(p.queue, s.queueNumber(r.Queue))
	p.data = appendID(p.data, r.ID)
	p.end = append(p.end, uint32(len(p.data)))
	s.n++
	if s.n%partSize == 0 { // it grows no more
		p.data = bytes.Clone(p.data)
	}
}

func (s *spine) queueNumber(name string) uint16 {
	if n, ok := s.number[name]; ok {
		return n
	}
	if s.number == nil {
		s.number = map[string]uint16{}
	}
	n := uint16(len(s.queues))
	s.number[name] = n
	s.queues = append(s.queues, name)
	return n
}

// len is how many there are.
func (s *spine) len() int { return s.n }

// at is the task in a place.
func (s *spine) at(i int) inspect.Ref {
	p, k := s.parts[i/partSize], i%partSize
	return inspect.Ref{Queue: s.queues[p.queue[k]], ID: idOf(p.code(k))}
}

func (p *spinePart) code(k int) []byte {
	from := uint32(0)
	if k > 0 {
		from = p.end[k-1]
	}
	return p.data[from:p.end[k]]
}

// find is the place of a task, -1 where it is not there. It begins beside a place
// where it may be.
func (s *spine) find(r inspect.Ref, near int) int {
	number, ok := s.number[r.Queue]
	if !ok || s.n == 0 {
		return -1
	}
	code := appendID(nil, r.ID)
	is := func(i int) bool {
		p, k := s.parts[i/partSize], i%partSize
		return p.queue[k] == number && bytes.Equal(p.code(k), code)
	}
	near = min(max(0, near), s.n-1)
	for d := range s.n {
		if near+d < s.n && is(near+d) {
			return near + d
		}
		if near-d >= 0 && is(near-d) {
			return near - d
		}
	}
	return -1
}

// The first byte of a code says what follows: a UUID in 16 bytes, or the ID itself.
const (
	codeUUID = 'u'
	codeText = 't'
)

// appendID appends the code of an ID.
func appendID(b []byte, id string) []byte {
	if raw, ok := uuidBytes(id); ok {
		return append(append(b, codeUUID), raw[:]...)
	}
	return append(append(b, codeText), id...)
}

// idOf is the ID of a code.
func idOf(code []byte) string {
	if code[0] == codeText {
		return string(code[1:])
	}
	var out [36]byte
	raw := code[1:]
	for i, n := 0, 0; i < len(out); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			out[i] = '-'
			continue
		}
		if n%2 == 0 {
			out[i] = "0123456789abcdef"[raw[n/2]>>4]
		} else {
			out[i] = "0123456789abcdef"[raw[n/2]&15]
		}
		n++
	}
	return string(out[:])
}

// uuidBytes reads a UUID as asynq writes it: lower case, with hyphens. Any other
// spelling is another ID.
func uuidBytes(id string) (raw [16]byte, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return raw, false
	}
	var digits [32]byte
	n := 0
	for i := range len(id) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			continue
		}
		c := id[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return raw, false
		}
		digits[n] = c
		n++
	}
	_, err := hex.Decode(raw[:], digits[:])
	return raw, err == nil
}
