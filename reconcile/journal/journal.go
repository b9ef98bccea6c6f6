package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DefaultWait is how long commands wait for another writer.
const DefaultWait = 10 * time.Second

// Options say who writes and how.
type Options struct {
	// Operator and Host name the writer in runs, intents and the lock file;
	// Command what it was called with, without secrets, in the lock file.
	Operator, Host, Command string
	// Wait is how long to wait for another writer; 0 is not at all.
	Wait time.Duration
	// Redact hides parts of a task before it is written; nil hides nothing. It
	// is given a copy. An image it changed is marked as redacted.
	Redact func(*TaskImage)
	// Copy takes the records as well, once the file has them; nil is none. Open
	// adds what it lacks, and fails with a CopyError where it cannot. The caller
	// closes it, after the journal.
	Copy Copy
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Journal writes one journal and holds its lock. It may be used by several
// goroutines.
type Journal struct {
	path string
	opt  Options
	torn *TornError

	mu     sync.Mutex
	f      file
	size   int64  // bytes of whole lines; the next line begins here
	seq    uint64 // of the last line
	dirty  bool   // something was written since the last sync
	failed error  // why nothing may be written any more
	run    Run
	open   map[itemKey]struct{} // intents of this run without a known outcome
	copied int64                // bytes of lines that the copy has
	behind *CopyError           // why it has no more
}

// file is what a journal needs of an *os.File.
type file interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
	Close() error
}

// Open opens the journal for writing, and makes it (mode 0600) and its folder
// (mode 0700) where they do not exist. The file itself must not be a symbolic
// link, nor readable or writable by all users. Open waits for another writer
// as Options.Wait says, then fails with a HeldError; it ends a torn last line, see
// Torn. The caller closes the journal.
func Open(ctx context.Context, path string, opt Options) (*Journal, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	j := &Journal{path: path, opt: opt, open: map[itemKey]struct{}{}}
	if err := j.start(ctx); err != nil {
		var held *HeldError
		if errors.As(err, &held) {
			return nil, err
		}
		return nil, fmt.Errorf("opening journal %q: %w", path, err)
	}
	if err := j.openCopy(ctx); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// start takes the lock before it looks at anything that a writer may change.
func (j *Journal) start(ctx context.Context) error {
	folder := filepath.Dir(j.path)
	if err := makeFolder(folder); err != nil {
		return err
	}
	f, made, err := openPrivate(j.path)
	if err != nil {
		return err
	}
	if made {
		err = syncFolder(folder)
	}
	if err == nil {
		err = lock(ctx, j.path, f, j.opt.Wait)
	}
	if err == nil {
		err = j.readFrom(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// readFrom finds where to go on writing, and says who does.
func (j *Journal) readFrom(f *os.File) error {
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	if err := inPlace(j.path, stat); err != nil {
		return err
	}
	t, err := readTail(f, stat.Size())
	if err != nil {
		return err
	}
	now := j.opt.Now()
	if j.torn, err = heal(j.path, f, &t, now); err != nil {
		return err
	}
	j.f, j.size, j.seq = f, t.end, t.seq
	return writeHolder(j.path, &Holder{
		PID: os.Getpid(), Host: j.opt.Host, Since: now.UTC(), Operator: j.opt.Operator, Command: j.opt.Command,
	})
}

// inPlace refuses a file that its path does not name any more: what is written
// to it would be found by nobody.
func inPlace(path string, stat os.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("it is gone: %w", err)
	}
	if !os.SameFile(now, stat) {
		return errors.New("it was moved or replaced: try again")
	}
	return nil
}

// Torn is the torn last line that Open found and set aside; nil when the file
// was whole.
func (j *Journal) Torn() *TornError { return j.torn }

// Sync hands to the disk, and then to the copy, what Settle wrote. That the copy
// could not take it is no error: Behind says so.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return j.fault("syncing", j.failed)
	}
	err := j.sync()
	j.copyLast()
	return err
}

// Close syncs, gives up the lock and closes the file. A second Close does
// nothing. When it fails, what was written since the last sync may be lost; no
// acknowledged intent is. A copy that lags is no failure, see Behind.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.failed, ErrClosed) {
		return nil
	}
	var err error
	if j.failed == nil {
		err = j.sync()
	}
	j.copyLast()
	j.failed = ErrClosed
	err = errors.Join(err, writeHolder(j.path, nil), j.f.Close())
	if err != nil {
		return j.fault("closing", err)
	}
	return nil
}

func (j *Journal) fault(doing string, err error) error {
	return fmt.Errorf("%s journal %q: %w", doing, j.path, err)
}
