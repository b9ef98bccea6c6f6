package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A copy is brought up from the file, in the order of the file, and only with
// what the disk has confirmed. So it always holds what the file holds up to some
// line, whatever failed in between, and never a line that a power cut takes out of
// the file again. The writer needs to remember no more than that line's offset,
// and a writer that opens the journal finds it by asking the copy.

// A batch is written at once.
const (
	batchEntries = 500
	batchBytes   = 4 << 20
)

// Behind is a CopyError that says what the copy lacks, and why; nil when it has
// all that was synced, or there is none. It may be asked after Close.
func (j *Journal) Behind() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.behind == nil {
		return nil
	}
	return j.behind
}

// openCopy finds what the copy lacks and adds it, so that a copy that cannot be
// written is known before anything is planned on it.
func (j *Journal) openCopy(ctx context.Context) error {
	if j.opt.Copy == nil {
		return nil
	}
	var err error
	if j.copied, err = copiedUpTo(ctx, j.path, j.f, j.size, j.opt.Copy); err != nil {
		j.behind = &CopyError{Path: j.path, Copy: j.opt.Copy.String(), Bytes: -1, Err: err}
		return j.behind
	}
	return j.copyNow(ctx)
}

// copyNow brings the copy up to the end of the file, all of which must be on the
// disk.
func (j *Journal) copyNow(ctx context.Context) error {
	if j.opt.Copy == nil {
		return nil
	}
	j.behind = nil
	if err := j.copyOn(ctx); err != nil {
		j.behind = &CopyError{Path: j.path, Copy: j.opt.Copy.String(), Bytes: j.size - j.copied, Err: err}
		return j.behind
	}
	return nil
}

// copyLast is copyNow where nothing depends on it any more: it keeps the failure
// for Behind. What has just failed is not waited for again.
func (j *Journal) copyLast() {
	if j.behind == nil && j.failed == nil && !j.dirty {
		_ = j.copyNow(context.Background()) // kept for Behind
	}
}

func (j *Journal) copyOn(ctx context.Context) error {
	if j.copied == j.size {
		return nil
	}
	s := newScanner(j.path, io.NewSectionReader(j.f, j.copied, j.size-j.copied))
	s.offset = j.copied
	var batch []Entry
	bytes := 0
	for {
		e, err := s.next()
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			if goesOn(err) {
				continue // what is damaged cannot be copied, and its neighbours can
			}
			return fmt.Errorf("reading journal %q: %w", j.path, err)
		}
		if !end {
			line := append([]byte(nil), s.buf...)
			batch, bytes = append(batch, Entry{Record: e.Record, Line: line}), bytes+len(line)
		}
		if len(batch) > 0 && (end || len(batch) == batchEntries || bytes >= batchBytes) {
			if err := j.opt.Copy.Write(ctx, batch); err != nil {
				return err
			}
			j.copied = s.offset
			batch, bytes = batch[:0], 0
		}
		if end {
			j.copied = j.size
			return nil
		}
	}
}

// copiedUpTo is an offset up to which the copy holds every record of the file. It
// looks at the last record, then further and further back for one that the copy
// has: some that it has already may be sent again.
func copiedUpTo(ctx context.Context, path string, r io.ReaderAt, size int64, c Copy) (int64, error) {
	s := newScanner(path, nil)
	for end, step := size, int64(1); end > 0; step = max(2*step, readSize) {
		start, err := afterLineFeed(r, max(0, end-step))
		if err != nil {
			return 0, err
		}
		at, has, err := s.firstCopied(ctx, r, start, end, c)
		if has || err != nil {
			return at, err
		}
		end = start
	}
	return 0, nil
}

// firstCopied asks the copy for the first record between two offsets at which
// lines begin. at is behind it.
func (s *scanner) firstCopied(ctx context.Context, r io.ReaderAt, start, end int64, c Copy) (at int64, has bool, err error) {
	s.r.Reset(io.NewSectionReader(r, start, end-start))
	s.offset = start
	for s.offset < end {
		n, _, err := s.readLine()
		if err != nil {
			return 0, false, err
		}
		rec, err := s.parse(n)
		if err != nil {
			continue // damaged: nobody has it
		}
		has, err := c.Has(ctx, rec.Run, rec.Seq)
		return s.offset, has, err
	}
	return 0, false, nil
}
