package reconcile

// LockVerdict says how a lock and its task stand to each other. The zero value
// is LockUnjudged.
type LockVerdict string

const (
	LockUnjudged LockVerdict = ""
	LockGuards   LockVerdict = "guards"        // its owner is live: as it should be
	LockEarly    LockVerdict = "expires-early" // its owner is live, and can outlive it
	LockBlocks   LockVerdict = "blocks"        // its owner is archived: nothing runs, and equal work is refused
	LockOrphaned LockVerdict = "orphaned"      // its owner is gone
	LockPhantom  LockVerdict = "phantom"       // its owner is another work
	LockDrifted  LockVerdict = "drift"         // its owner's payload was changed since
	LockForeign  LockVerdict = "foreign"       // the key holds something that is no lock of asynq's
	LockUnclear  LockVerdict = "unclear"       // its owner cannot be read
	LockStuck    LockVerdict = "stuck"         // no list or set holds its owner, which will never run
	// The lock of a live task that does not hold it.
	LockMissing LockVerdict = "lost"  // nobody holds it
	LockStolen  LockVerdict = "taken" // another task does
)

// lockRank orders verdicts by what hurts first.
var lockRank = []LockVerdict{
	LockStolen, LockMissing, LockStuck, LockOrphaned, LockPhantom, LockBlocks, LockDrifted, LockEarly, LockForeign, LockUnclear, LockGuards,
}

// LockVerdicts lists every verdict, what hurts most first.
func LockVerdicts() []LockVerdict { return append([]LockVerdict(nil), lockRank...) }

// Rank is the verdict's place in LockVerdicts.
func (v LockVerdict) Rank() int {
	for i, known := range lockRank {
		if v == known {
			return i
		}
	}
	return len(lockRank)
}

// Code is the finding that says the same; "" where nothing is wrong or nobody
// can say.
func (v LockVerdict) Code() Code {
	switch v {
	case LockEarly:
		return CodeLockExpiresEarly
	case LockBlocks:
		return CodeLockBlocks
	case LockOrphaned:
		return CodeLockOrphaned
	case LockPhantom:
		return CodeLockPhantom
	case LockDrifted:
		return CodeLockDrift
	case LockStuck:
		return CodeGhost
	case LockMissing:
		return CodeLockLost
	case LockStolen:
		return CodeLockTaken
	}
	return ""
}
