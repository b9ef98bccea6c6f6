package journal

import (
	"context"
	"errors"
	"fmt"
)

// Copy is a second place for a journal's records, such as a table that several
// hosts fill. The file is what counts: a copy may lag behind it, never run ahead.
type Copy interface {
	// Has says whether the copy holds a record, named by its run and number. The
	// number alone does not name one: every file counts from 1.
	Has(ctx context.Context, run string, seq uint64) (bool, error)
	// Write adds the entries, all of them or none. It is safe to repeat: an entry
	// that is there already is left as it is. One whose place another record has
	// fails with ErrCopyDiffers.
	Write(ctx context.Context, entries []Entry) error
	// String names the copy for messages, without secrets.
	String() string
}

// Entry is a record and the line that holds it, without its line feed. The line
// is as it stands in the file, checksum included, so that ParseLine reads it back.
type Entry struct {
	Record
	Line []byte
}

// ParseLine reads a line that a Copy kept, and checks it.
func ParseLine(line []byte) (Record, error) { return parseLine(line) }

// ErrCopyDiffers says that a copy holds another record of the same run and
// number: two files that were one went on apart.
var ErrCopyDiffers = errors.New("another record of the same run and number stands there: " +
	"this journal was copied or brought back, and both went on: give one of them another table")

// CopyError says that a copy could not be brought up to what the file holds. The
// file has the records; the next writer that is given the copy adds them.
type CopyError struct {
	Path string // of the journal
	Copy string // as it names itself
	// Bytes of the file that the copy lacks; less than 0 when it could not even
	// be asked.
	Bytes int64
	Err   error
}

func (e *CopyError) Error() string {
	return fmt.Sprintf("the copy of journal %q in %s cannot be written: %v", e.Path, e.Copy, e.Err)
}

// Unwrap is what the copy said.
func (e *CopyError) Unwrap() error { return e.Err }

// DamagedRowError is a row of a copy that is no record, or not as it was written.
type DamagedRowError struct {
	Copy string
	Run  string
	Seq  int64
	Err  error
}

func (e *DamagedRowError) Error() string {
	return fmt.Sprintf("%s: the record of run %q with seq %d is damaged: %v", e.Copy, e.Run, e.Seq, e.Err)
}

// Unwrap is what is wrong with the record.
func (e *DamagedRowError) Unwrap() error { return e.Err }
