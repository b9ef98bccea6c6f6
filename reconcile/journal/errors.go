package journal

import (
	"errors"
	"fmt"
	"time"
)

// ErrClosed is what a closed journal answers.
var ErrClosed = errors.New("the journal is closed")

// TornError is a last line that was not written to its end: a writer was killed
// or its disk was full, or (only beside a live writer) it is being written now.
// Nothing it holds was ever acknowledged, unless a whole line was damaged.
type TornError struct {
	Path string
	// Line counts from 1; Offset and Bytes say where the line stands.
	Line          int
	Offset, Bytes int64
	// SavedAs is the file that holds the bytes since Open cut them off; "" as
	// long as they stand in the journal.
	SavedAs string
}

func (e *TornError) Error() string {
	where := fmt.Sprintf("journal %q: line %d (offset %d, %d bytes) was not written to its end", e.Path, e.Line, e.Offset, e.Bytes)
	if e.SavedAs == "" {
		return where + ": the next writer sets it aside"
	}
	return fmt.Sprintf("%s: it was moved to %q", where, e.SavedAs)
}

// DamagedError is a line that is no record, or not as it was written.
type DamagedError struct {
	Path   string
	Line   int // from 1; 0 when the file changed while it was read
	Offset int64
	// Err says what is wrong with it.
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("journal %q: line %d (offset %d) is damaged: %v: what it said is lost, so check its neighbours by hand",
		e.Path, e.Line, e.Offset, e.Err)
}

// Unwrap is what is wrong with the line.
func (e *DamagedError) Unwrap() error { return e.Err }

// GapError says that lines are missing before a line, or that it stands where it
// does not belong (files that were joined, a line that was copied).
type GapError struct {
	Path        string
	Line        int
	Want, Found uint64 // sequence numbers
}

func (e *GapError) Error() string {
	if e.Found > e.Want {
		missing := "1 record is"
		if n := e.Found - e.Want; n > 1 {
			missing = fmt.Sprintf("%d records are", n)
		}
		return fmt.Sprintf("journal %q: %s missing before line %d: it has seq %d instead of %d",
			e.Path, missing, e.Line, e.Found, e.Want)
	}
	return fmt.Sprintf("journal %q: line %d goes back to seq %d instead of %d: lines were copied or files joined",
		e.Path, e.Line, e.Found, e.Want)
}

// HeldError says that another process writes the journal.
type HeldError struct {
	Path   string
	Holder Holder
	Waited time.Duration
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("journal %q is held by %s (waited %s): let it finish, or end it, and try again", e.Path, e.Holder, e.Waited)
}

// schemaError is a line of another format.
type schemaError struct{ schema string }

func (e *schemaError) Error() string {
	return fmt.Sprintf("schema %q is not %q: another version of idemctl wrote it", e.schema, Schema)
}
