package reconcile

import "github.com/idemctl/idemctl/inspect"

// Proof is what can be said of one item of a run that was carried out. The zero
// value is ProofUnknown.
type Proof string

const (
	ProofUnknown    Proof = ""              // nobody can say: its ledger, its rule or its intent does not
	ProofApplied    Proof = "applied-once"  // gone or kept as completed, and its effect is there
	ProofEnded      Proof = "ended"         // gone or kept as completed, and no row is to say so
	ProofWaiting    Proof = "waiting"       // pending, active, or on its way there
	ProofFailed     Proof = "failed-again"  // in retry, or archived again
	ProofTwice      Proof = "applied-twice" // its effect is there more often than it may be
	ProofUnproven   Proof = "unproven"      // gone or kept as completed, and no row says that its work is done
	ProofStill      Proof = "not-moved"     // archived, as it was
	ProofDeleted    Proof = "deleted"       // deleted since its work was done, and it is
	ProofEffectGone Proof = "effect-gone"   // deleted since its work was done, and no row says so any more
	ProofBack       Proof = "back"          // deleted, and put back since
	ProofRestored   Proof = "restored"      // put back, and there
	ProofOpen       Proof = "open"          // its change has no known outcome
	ProofNotChanged Proof = "not-changed"   // refused or failed
	ProofNotJudged  Proof = "not-judged"    // a change that no effect hangs on
)

// Proofs lists every proof, the worst first.
func Proofs() []Proof {
	return []Proof{
		ProofTwice, ProofEffectGone, ProofUnproven, ProofFailed, ProofStill,
		ProofUnknown, ProofOpen, ProofWaiting,
		ProofNotChanged, ProofBack, ProofNotJudged, ProofRestored, ProofDeleted, ProofEnded, ProofApplied,
	}
}

// String is the proof's name in every output.
func (p Proof) String() string {
	if p == ProofUnknown {
		return "unknown"
	}
	return string(p)
}

// Bad says that the run did not come to what it was for.
func (p Proof) Bad() bool {
	switch p {
	case ProofTwice, ProofEffectGone, ProofUnproven, ProofFailed, ProofStill:
		return true
	}
	return false
}

// Open says that nobody can say yet.
func (p Proof) Open() bool { return p == ProofUnknown || p == ProofOpen || p == ProofWaiting }

var proofWords = map[Proof]string{
	ProofUnknown:    "nobody can say",
	ProofApplied:    "its work is done, once",
	ProofEnded:      "it ended well, as asynq has it, and no row is to say so",
	ProofWaiting:    "it waits or runs",
	ProofFailed:     "it failed again",
	ProofTwice:      "its effect is there more often than it may be",
	ProofUnproven:   "it is gone, and no row says that its work is done",
	ProofStill:      "it is in the archive, as it was",
	ProofDeleted:    "it is gone, and its work is done",
	ProofEffectGone: "it was deleted since its work was done, and no row says so any more",
	ProofBack:       "it was put back since",
	ProofRestored:   "it is in the archive again",
	ProofOpen:       "nobody knows yet whether it was changed (idemctl journal resume)",
	ProofNotChanged: "it was not changed",
	ProofNotJudged:  "no effect hangs on the change",
}

// Words says the proof as a clause.
func (p Proof) Words() string { return proofWords[p] }

// proofOfRun reads the fate of a task that was run again, or put back.
func proofOfRun(w *Watched, restored bool) Proof {
	switch w.Fate {
	case FateWaiting:
		return ProofWaiting
	case FateApplied:
		return ProofApplied
	case FateTwice:
		return ProofTwice
	case FateFailed:
		return ProofFailed
	case FateUnproven:
		if w.Succeeded() {
			return ProofEnded
		}
		return ProofUnproven
	case FateStill:
		if restored {
			return ProofRestored
		}
		return ProofStill
	case FateUnknown:
	}
	return ProofUnknown
}

// proofOfDeletion reads the fate of a task that was deleted: if its ID has another
// one now, that is what resolving is for.
func proofOfDeletion(before inspect.Task, w *Watched) Proof {
	t := w.Task
	switch {
	case t.State == inspect.StateArchived && t.LastFailedAt.Equal(before.LastFailedAt) && t.Retried == before.Retried && t.Type == before.Type:
		return ProofBack
	case w.Fate == FateTwice:
		return ProofTwice
	case w.Status == StatusApplied:
		return ProofDeleted
	case w.Status.Absent():
		return ProofEffectGone
	}
	return ProofUnknown
}
