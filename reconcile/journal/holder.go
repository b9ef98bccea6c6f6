package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Holder is the process that writes a journal, as it named itself. PID is 0
// when it has not done so yet.
type Holder struct {
	PID      int       `json:"pid"`
	Host     string    `json:"host"`
	Since    time.Time `json:"since"`
	Operator string    `json:"operator"`
	Command  string    `json:"command"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that has not named itself"
	}
	return fmt.Sprintf("process %d on host %q (operator %q, command %q) since %s",
		h.PID, h.Host, h.Operator, h.Command, h.Since.UTC().Format(time.RFC3339))
}

// HeldBy says whether a process writes the journal now, and which. The lock is
// looked at, not taken from anybody; an Open at the same instant may have to try
// twice.
func HeldBy(path string) (holder Holder, held bool, err error) {
	f, _, err := openToRead(path)
	if err != nil {
		return Holder{}, false, err
	}
	defer f.Close() //nolint:errcheck // the file was not even read
	held, err = tryLock(f, false)
	if err != nil {
		return Holder{}, false, fmt.Errorf("looking at the lock of journal %q: %w", path, err)
	}
	if held {
		holder = readHolder(path)
	}
	return holder, held, nil
}

// lockPoll is how often a waiting writer asks again: flock has no time limit of
// its own.
const lockPoll = 50 * time.Millisecond

// lock takes the lock of the journal, waiting for another writer as long as
// wait says.
func lock(ctx context.Context, path string, f *os.File, wait time.Duration) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	again := time.NewTicker(lockPoll)
	defer again.Stop()
	for {
		taken, err := tryLock(f, true)
		if err != nil || !taken {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", readHolder(path), ctx.Err())
		case <-limit.C:
			return &HeldError{Path: path, Holder: readHolder(path), Waited: wait}
		case <-again.C:
		}
	}
}

func holderPath(path string) string { return path + ".lock" }

// maxHolder bounds what is read of a file anybody in the group may have written.
const maxHolder = 64 << 10

// readHolder is best effort: the lock counts, not the line that explains it.
func readHolder(path string) Holder {
	var h Holder
	f, _, err := openToRead(holderPath(path))
	if err != nil {
		return Holder{}
	}
	defer f.Close() //nolint:errcheck // the file is only read
	b, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}

// writeHolder names the process that has the lock; a nil holder says that nobody
// has.
func writeHolder(path string, h *Holder) error {
	f, _, err := openPrivate(holderPath(path))
	if err != nil {
		return fmt.Errorf("lock file %q: %w", holderPath(path), err)
	}
	err = f.Truncate(0)
	if h != nil && err == nil {
		err = json.NewEncoder(f).Encode(h)
	}
	return errors.Join(err, f.Close())
}
