package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// tail is the end of a journal as a writer finds it.
type tail struct {
	seq  uint64 // of the last line, damaged ones counted
	end  int64  // behind the last whole line
	torn int64  // bytes after that
	bare bool   // the last record lacks only its line feed, which end counts in
}

var errNotJournal = errors.New("no line of it is a record, so it is not a journal (or wholly damaged): move it away, or name another file")

// readTail reads backwards until it meets a good record, which is the last line
// unless that was damaged.
func readTail(r io.ReaderAt, size int64) (tail, error) {
	end, err := afterLineFeed(r, size)
	if err != nil {
		return tail{}, err
	}
	t := tail{end: end, torn: size - end}
	if t.torn > 0 {
		if rec, err := recordBetween(r, end, size); err == nil {
			return tail{seq: rec.Seq, end: size, bare: true}, nil
		} else if foreign(err) {
			return tail{}, err
		}
	}
	return t, t.findSeq(r)
}

// findSeq sets seq. A damaged line is taken to have had one number, as readers
// take it.
func (t *tail) findSeq(r io.ReaderAt) error {
	var damaged uint64
	for end := t.end; end > 0; damaged++ {
		start, err := afterLineFeed(r, end-1)
		if err != nil {
			return err
		}
		rec, err := recordBetween(r, start, end-1)
		if err == nil {
			t.seq = rec.Seq + damaged
			return nil
		}
		if foreign(err) || !isDamage(err) {
			return err
		}
		end = start
	}
	if damaged > 0 {
		return errNotJournal
	}
	return t.firstLine(r)
}

// firstLine tells a journal whose very first line is torn from a file of somebody
// else's that has no line end: that one must not be cut.
func (t *tail) firstLine(r io.ReaderAt) error {
	const opening = `{"schema":"` + Schema + `",`
	head := make([]byte, min(t.torn, int64(len(opening))))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.HasPrefix([]byte(opening), head) {
		return errNotJournal
	}
	return nil
}

// damage wraps what is wrong with a line, as opposed to with reading it.
type damage struct{ error }

func isDamage(err error) bool {
	var d damage
	return errors.As(err, &d)
}

// foreign says that the line is sound and of another schema, to which nothing
// may be appended.
func foreign(err error) bool {
	var s *schemaError
	var d damage
	return errors.As(err, &d) && errors.As(d.error, &s)
}

func recordBetween(r io.ReaderAt, start, end int64) (Record, error) {
	if end-start > MaxLine {
		return Record{}, damage{errTooLong}
	}
	line := make([]byte, end-start)
	if _, err := io.ReadFull(io.NewSectionReader(r, start, end-start), line); err != nil {
		return Record{}, fmt.Errorf("reading at offset %d: %w", start, err)
	}
	rec, err := parseLine(line)
	if err != nil {
		return Record{}, damage{err}
	}
	return rec, nil
}

// afterLineFeed is the offset behind the last line feed before end, or 0.
func afterLineFeed(r io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, min(end, readSize))
	for end > 0 {
		part := buf[:min(end, int64(len(buf)))]
		end -= int64(len(part))
		if _, err := r.ReadAt(part, end); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}
