package journal

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// brokenFile is a real file whose disk fails when told to.
type brokenFile struct {
	file
	room               int // bytes that still fit; -1 is no limit
	noSync, noTruncate bool
	syncs              int
}

func (b *brokenFile) WriteAt(p []byte, at int64) (int, error) {
	if b.room < 0 {
		return b.file.WriteAt(p, at)
	}
	if len(p) <= b.room {
		b.room -= len(p)
		return b.file.WriteAt(p, at)
	}
	n, err := b.file.WriteAt(p[:b.room], at)
	b.room = 0
	return n, errors.Join(err, syscall.ENOSPC)
}

func (b *brokenFile) Sync() error {
	b.syncs++
	if b.noSync {
		return syscall.EIO
	}
	return b.file.Sync()
}

func (b *brokenFile) Truncate(size int64) error {
	if b.noTruncate {
		return syscall.EIO
	}
	return b.file.Truncate(size)
}

// openBroken has the intent "1" acknowledged.
func openBroken(t *testing.T) (*Journal, *brokenFile, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := mustOpen(t, path)
	mustBegin(t, j)
	must(t, j.Intend(intent("1", 10)))
	b := &brokenFile{file: j.f, room: -1}
	j.f = b
	return j, b, path
}

func TestFailedWriteLeavesNoPartOfItsGroup(t *testing.T) {
	for _, room := range []int{0, 1, 500, 1500} {
		j, disk, path := openBroken(t)
		disk.room = room
		if err := j.Intend(intent("2", 100), intent("3", 2000)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("room for %d bytes: %v, want ENOSPC", room, err)
		}
		if got := items(readWhole(t, path), KindIntent); got != "1" {
			t.Errorf("room for %d bytes: intents %q are left", room, got)
		}
		disk.room = -1
		must(t, j.Settle(Record{Item: "1", Outcome: OutcomeDone}))
		must(t, j.Intend(intent("2", 100)))
		if got := items(readWhole(t, path), KindIntent); got != "1 2" {
			t.Errorf("after room was made: intents %q", got)
		}
	}
}

// More than one write is needed for a group above flushSize.
func TestFailedWriteTakesBackWhatEarlierWritesOfItsGroupLeft(t *testing.T) {
	j, disk, path := openBroken(t)
	disk.room = 3 * flushSize
	group := []Record{intent("2", flushSize), intent("3", flushSize), intent("4", flushSize), intent("5", flushSize)}
	if err := j.Intend(group...); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v, want ENOSPC", err)
	}
	if got := items(readWhole(t, path), KindIntent); got != "1" {
		t.Errorf("intents %q are left", got)
	}
}

func TestWriteThatCannotBeTakenBackEndsTheJournalAndIsHealed(t *testing.T) {
	j, disk, path := openBroken(t)
	disk.room, disk.noTruncate = 200, true
	if err := j.Intend(intent("2", 100)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v, want ENOSPC", err)
	}
	disk.room, disk.noTruncate = -1, false
	if err := j.Intend(intent("3", 100)); !errors.Is(err, syscall.EIO) {
		t.Errorf("the next intent, behind half a line: %v, want what ended the journal", err)
	}
	must(t, j.Close())
	again := mustOpen(t, path)
	if torn := again.Torn(); torn == nil || torn.Bytes != 200 {
		t.Errorf("torn %v, want 200 bytes", torn)
	}
	mustBegin(t, again)
	must(t, again.Intend(intent("4", 1)))
	if got := items(readWhole(t, path), KindIntent); got != "1 4" {
		t.Errorf("intents %q, want 1 and 4", got)
	}
}

func TestFailedSyncEndsTheJournal(t *testing.T) {
	j, disk, path := openBroken(t)
	disk.noSync = true
	if err := j.Intend(intent("2", 10)); !errors.Is(err, syscall.EIO) {
		t.Fatalf("%v, want EIO", err)
	}
	disk.noSync = false // the next one would report success for pages that are gone
	for name, err := range map[string]error{
		"intend": j.Intend(intent("3", 10)), "settle": j.Settle(Record{Item: "1", Outcome: OutcomeDone}), "sync": j.Sync(),
	} {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%s after a failed sync: %v, want EIO", name, err)
		}
	}
	if got := items(readWhole(t, path), KindIntent); got != "1" {
		t.Errorf("intents %q, want the acknowledged one", got)
	}
	must(t, j.Close())
	must(t, mustOpen(t, path).Close())
}

func TestIntendSyncsOncePerGroupAndSettleLater(t *testing.T) {
	j, disk, _ := openBroken(t)
	must(t, j.Intend(intent("2", 10), intent("3", 10), intent("4", 10)))
	if disk.syncs != 1 {
		t.Errorf("%d syncs for a group, want 1", disk.syncs)
	}
	must(t, j.Settle(Record{Item: "2", Outcome: OutcomeDone}))
	if disk.syncs != 1 {
		t.Errorf("%d syncs after a result, want 1", disk.syncs)
	}
	must(t, j.Sync())
	must(t, j.Sync())
	if disk.syncs != 2 {
		t.Errorf("%d syncs after Sync, want 2", disk.syncs)
	}
	must(t, j.Settle(Record{Item: "3", Outcome: OutcomeDone}))
	must(t, j.Close())
	if disk.syncs != 3 {
		t.Errorf("%d syncs after Close, want 3", disk.syncs)
	}
}
