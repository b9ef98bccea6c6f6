package journal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// Pending yields the intents, in order, that have no result or whose last result
// is of unknown outcome: what a killed or cut-off run may or may not have done.
// First it yields what is wrong with the file, as Read does. A line that is damaged
// may have been an intent that nothing else names. Beside a live writer the items
// it works on are pending too: whoever acts on them opens the journal first.
//
// It reads the file twice and holds 24 bytes (and the map's overhead) for each
// item that is open at one time.
func Pending(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		items := pendingItems{}
		each := func(e entry, err error) bool {
			switch {
			case err != nil:
				return yield(Record{}, err)
			case e.Kind == KindIntent:
				items.intent(e)
			case e.Kind == KindResult:
				items.result(e)
			}
			return true
		}
		scan(path, each, func(r io.ReaderAt, size int64) { items.yield(path, r, size, yield) })
	}
}

// yield reads the intents again.
func (p pendingItems) yield(path string, r io.ReaderAt, size int64, yield func(Record, error) bool) {
	offsets := make([]int64, 0, len(p))
	for _, at := range p {
		offsets = append(offsets, at>>1)
	}
	slices.Sort(offsets)
	s := newScanner(path, nil)
	for _, at := range offsets {
		rec, err := s.readAt(r, at, size)
		if !yield(rec, err) {
			return
		}
	}
}

var errMoved = errors.New("it changed while the journal was read")

// readAt reads the one line that begins at the offset.
func (s *scanner) readAt(r io.ReaderAt, at, size int64) (Record, error) {
	s.r.Reset(io.NewSectionReader(r, at, size-at))
	n, _, err := s.readLine()
	if err != nil {
		return Record{}, fmt.Errorf("reading journal %q at offset %d: %w", s.path, at, err)
	}
	rec, err := s.parse(n)
	if err != nil || rec.Kind != KindIntent {
		return Record{}, &DamagedError{Path: s.path, Offset: at, Err: errMoved}
	}
	return rec, nil
}
