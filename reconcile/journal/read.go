package journal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Read yields the records of the file as it is now, in order. What is wrong comes
// as an error in its place, with a zero record: DamagedError and GapError, after
// which reading goes on, and TornError for the end of a file whose writer was
// killed or writes now. Any other error (wrapping fs.ErrNotExist when there is no
// file) is the last. Memory is bounded by the longest line.
func Read(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		scan(path, func(e entry, err error) bool { return yield(e.Record, err) }, nil)
	}
}

// scan hands every entry and error to each until it answers false, then the open
// file, read as far as it went at first, to after.
func scan(path string, each func(entry, error) bool, after func(io.ReaderAt, int64)) {
	f, size, err := openToRead(path)
	if err != nil {
		each(entry{}, err)
		return
	}
	defer f.Close() //nolint:errcheck // the file is only read
	s := newScanner(path, io.NewSectionReader(f, 0, size))
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !goesOn(err) {
			each(entry{}, fmt.Errorf("reading journal %q: %w", path, err))
			return
		}
		if !each(e, err) {
			return
		}
	}
	if after != nil {
		after(f, size)
	}
}

// goesOn says whether more may be read after the error.
func goesOn(err error) bool {
	var torn *TornError
	var damaged *DamagedError
	var gap *GapError
	var row *DamagedRowError
	return errors.As(err, &torn) || errors.As(err, &damaged) || errors.As(err, &gap) || errors.As(err, &row)
}

func openToRead(path string) (*os.File, int64, error) {
	if err := regular(os.Stat(path)); err != nil {
		return nil, 0, fmt.Errorf("reading journal %q: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading journal %q: %w", path, err)
	}
	stat, err := f.Stat()
	if err != nil {
		f.Close() //nolint:errcheck // nothing was read
		return nil, 0, fmt.Errorf("reading journal %q: %w", path, err)
	}
	return f, stat.Size(), nil
}
