package journal

import (
	"bufio"
	"errors"
	"io"
)

// entry is a record and where it stands.
type entry struct {
	Record
	offset int64
}

// scanner reads a journal line by line in memory bounded by the longest line.
type scanner struct {
	path   string
	r      *bufio.Reader
	line   int
	offset int64 // of the next line
	want   uint64
	buf    []byte
	ahead  *entry // a record behind the gap that was reported first
}

const readSize = 64 << 10

func newScanner(path string, r io.Reader) *scanner {
	return &scanner{path: path, r: bufio.NewReaderSize(r, readSize), want: 1}
}

// next is the next record, io.EOF at the end, or an error. After TornError comes
// the end; after DamagedError and GapError reading goes on; any other error is
// the reader's and ends it.
func (s *scanner) next() (entry, error) {
	if s.ahead != nil {
		e := *s.ahead
		s.ahead = nil
		return e, nil
	}
	at := s.offset
	size, whole, err := s.readLine()
	if err != nil {
		return entry{}, err
	}
	rec, err := s.parse(size)
	switch {
	case err != nil && !whole:
		return entry{}, &TornError{Path: s.path, Line: s.line, Offset: at, Bytes: size}
	case err != nil:
		s.want++ // a damaged line had a number too
		return entry{}, &DamagedError{Path: s.path, Line: s.line, Offset: at, Err: err}
	}
	e := entry{Record: rec, offset: at}
	want := s.want
	s.want = rec.Seq + 1
	if rec.Seq != want {
		s.ahead = &e
		return entry{}, &GapError{Path: s.path, Line: s.line, Want: want, Found: rec.Seq}
	}
	return e, nil
}

var errTooLong = errors.New("it is longer than any record")

func (s *scanner) parse(size int64) (Record, error) {
	if size > MaxLine {
		return Record{}, errTooLong
	}
	return parseLine(s.buf)
}

// readLine reads one line into buf without its line feed; whole says that it had
// one. Of a line that is too long only the size is kept.
func (s *scanner) readLine() (size int64, whole bool, err error) {
	s.buf = s.buf[:0]
	for {
		part, err := s.r.ReadSlice('\n')
		s.offset += int64(len(part))
		if whole = err == nil; whole {
			part = part[:len(part)-1]
		}
		size += int64(len(part))
		if size <= MaxLine {
			s.buf = append(s.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return size, false, err
		case size == 0 && !whole:
			return 0, false, io.EOF
		}
		s.line++
		return size, whole, nil
	}
}
