package render

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// spool sorts any number of records in bounded memory: what does not fit is
// sorted in runs into a temporary file, and the runs are merged when read back.
// The file is unlinked as soon as it is open, so nothing is left behind however
// the process ends. Only its owner can read it.
type spool struct {
	// most is how many bytes of records are held in memory; 0 means spoolMemory.
	most int

	held []record
	size int
	file *os.File
	name string // "" when the file could be unlinked while open
	end  int64
	runs []run
	n    int
}

const (
	spoolMemory = 8 << 20
	// recordCost is what a record weighs beside its bytes.
	recordCost = 64
	// mergeMemory is shared by the readers of all runs.
	mergeMemory = 8 << 20
	leastBuffer = 4 << 10
	mostBuffer  = 64 << 10
)

type record struct{ key, blob []byte }

type run struct{ at, size int64 }

// add takes a record; it is sorted by the bytes of its key, and records of equal
// keys stay in the order in which they came. The spool keeps both slices.
func (s *spool) add(key, blob []byte) error {
	s.held = append(s.held, record{key, blob})
	s.size += len(key) + len(blob) + recordCost
	s.n++
	if s.size < cmp.Or(s.most, spoolMemory) {
		return nil
	}
	return s.spill()
}

// each calls f with every record's blob in order, until f fails. It may be
// called once.
func (s *spool) each(f func(blob []byte) error) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.held {
			if err := f(r.blob); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	return s.merge(f)
}

// close removes the temporary file. It is safe to repeat.
func (s *spool) close() error {
	s.held = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	s.file = nil
	return err
}

func (s *spool) sort() {
	slices.SortStableFunc(s.held, func(a, b record) int { return bytes.Compare(a.key, b.key) })
}

// spill writes the records held as one sorted run.
func (s *spool) spill() error {
	if len(s.held) == 0 {
		return nil
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return fmt.Errorf("keeping results for sorting: %w", err)
		}
	}
	s.sort()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.end), mostBuffer)
	var size int64
	for _, r := range s.held {
		for _, part := range [...][]byte{r.key, r.blob} {
			var head [binary.MaxVarintLen64]byte
			n := binary.PutUvarint(head[:], uint64(len(part)))
			size += int64(n + len(part))
			if _, err := w.Write(head[:n]); err != nil {
				return fmt.Errorf("keeping results for sorting: %w", err)
			}
			if _, err := w.Write(part); err != nil {
				return fmt.Errorf("keeping results for sorting: %w", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("keeping results for sorting: %w", err)
	}
	s.runs = append(s.runs, run{at: s.end, size: size})
	s.end += size
	clear(s.held)
	s.held, s.size = s.held[:0], 0
	return nil
}

func (s *spool) open() error {
	f, err := os.CreateTemp("", "idemctl-*") // mode 0600
	if err != nil {
		return err
	}
	s.file = f
	if os.Remove(f.Name()) != nil {
		s.name = f.Name() // an open file cannot be unlinked here: close does it
	}
	return nil
}

// merge reads all runs side by side.
func (s *spool) merge(f func(blob []byte) error) error {
	buffer := min(max(mergeMemory/len(s.runs), leastBuffer), mostBuffer)
	var heads runHeap
	for i, r := range s.runs {
		h := &runReader{order: i, r: bufio.NewReaderSize(io.NewSectionReader(s.file, r.at, r.size), buffer)}
		ok, err := h.next()
		if err != nil {
			return err
		}
		if ok {
			heads = append(heads, h)
		}
	}
	heap.Init(&heads)
	for len(heads) > 0 {
		h := heads[0]
		if err := f(h.blob); err != nil {
			return err
		}
		ok, err := h.next()
		if err != nil {
			return err
		}
		if !ok {
			heap.Pop(&heads)
			continue
		}
		heap.Fix(&heads, 0)
	}
	return nil
}

// runReader stands at one record of a run.
type runReader struct {
	record
	order int
	r     *bufio.Reader
}

func (h *runReader) next() (bool, error) {
	if _, err := h.r.Peek(1); errors.Is(err, io.EOF) {
		return false, nil
	}
	for _, part := range [...]*[]byte{&h.key, &h.blob} {
		n, err := binary.ReadUvarint(h.r)
		if err != nil {
			return false, fmt.Errorf("reading sorted results back: %w", err)
		}
		// The key is compared against other runs and the blob is handed out:
		// both may outlive this call.
		*part = make([]byte, n)
		if _, err := io.ReadFull(h.r, *part); err != nil {
			return false, fmt.Errorf("reading sorted results back: %w", err)
		}
	}
	return true, nil
}

type runHeap []*runReader

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*runReader)) }
func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
