package journal

import (
	"errors"
	"fmt"
	"os"
)

// flushSize is how much of a group is kept before it is written.
const flushSize = 64 << 10

// write appends the records as lines, syncs if asked to, and takes everything
// back if it cannot: either all of a group is in the journal or none of it.
func (j *Journal) write(records []Record, sync bool) error {
	if j.failed != nil {
		return j.fault("writing to", j.failed)
	}
	if err := j.untouched(); err != nil {
		return j.fault("writing to", err)
	}
	size, seq := j.size, j.seq
	err := j.appendAll(records)
	if err == nil && sync {
		if err = j.sync(); err == nil {
			return nil
		}
	}
	if err != nil {
		j.takeBack(size, seq)
		return j.fault("writing to", err)
	}
	return nil
}

func (j *Journal) appendAll(records []Record) error {
	var buf []byte
	for i := range records {
		r := &records[i]
		r.Seq = j.seq + 1
		object, err := encode(r)
		if err != nil {
			return fmt.Errorf("item %q: %w", r.Item, err)
		}
		if len(object)+crcSize > MaxLine {
			return fmt.Errorf("item %q: %w: %d bytes of at most %d", r.Item, errTooLong, len(object), MaxLine)
		}
		buf = appendLine(buf, object)
		j.seq++
		if len(buf) < flushSize && i < len(records)-1 {
			continue
		}
		if err := j.append(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return nil
}

func (j *Journal) append(lines []byte) error {
	j.dirty = true
	n, err := j.f.WriteAt(lines, j.size)
	j.size += int64(n)
	return err
}

// takeBack cuts off what a failed write left. Where that fails as well, the next
// Open does it, and this journal has ended.
func (j *Journal) takeBack(size int64, seq uint64) {
	j.size, j.seq = size, seq
	if err := j.f.Truncate(size); err != nil && j.failed == nil {
		j.failed = fmt.Errorf("an earlier write failed and could not be taken back: %w", err)
	}
}

// sync hands everything to the disk. After a failure nothing is sure of what was
// written since the last one, and a second try would report success for pages
// that the system has dropped (fsync(2), EIO), so the journal ends.
func (j *Journal) sync() error {
	if !j.dirty {
		return nil
	}
	if err := j.f.Sync(); err != nil {
		j.failed = fmt.Errorf("an earlier sync failed: %w", err)
		return fmt.Errorf("syncing: %w", err)
	}
	j.dirty = false
	return nil
}

var errTouched = errors.New("another program wrote to it or cut it, without its lock: find out which before you go on")

// untouched refuses to write to a file that is not where and as this journal left
// it.
func (j *Journal) untouched() error {
	stat, err := j.f.Stat()
	if err != nil {
		return err
	}
	if err := inPlace(j.path, stat); err != nil {
		return err
	}
	if stat.Size() != j.size {
		return fmt.Errorf("%w (it has %d bytes instead of %d)", errTouched, stat.Size(), j.size)
	}
	return nil
}

var _ file = (*os.File)(nil)
