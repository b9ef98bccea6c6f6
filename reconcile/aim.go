package reconcile

import (
	"slices"

	"github.com/idemctl/idemctl/inspect"
)

// aim is what a run is for. The zero value is a whole audit.
type aim uint8

const (
	aimAudit     aim = iota
	aimList          // first verdicts alone: nothing is confirmed, no finding told
	aimStructure     // integrity/* alone
	aimBlocked       // what refuses new work
	aimArchived      // final verdicts on archived tasks: no finding is told
)

// blocking are the codes of what refuses new work and will not do it.
var blocking = []Code{CodeLockBlocks, CodeLockOrphaned, CodeLockPhantom, CodeIDBlocked, CodeGhost, CodeResultOnly}

// aspect is what a report of the run speaks of.
func (a aim) aspect() Aspect {
	switch a {
	case aimStructure:
		return AspectStructure
	case aimBlocked:
		return AspectBlocked
	}
	return AspectAll
}

// tells says whether a code belongs to what the run is for.
func (a aim) tells(c Code) bool {
	switch a {
	case aimList, aimArchived:
		return false
	case aimStructure:
		return c.Family() == "integrity"
	case aimBlocked:
		return slices.Contains(blocking, c)
	}
	return true
}

// judges says whether a task's effect is looked up at all.
func (a aim) judges(t inspect.Task) bool {
	switch a {
	case aimStructure:
		return t.Defect != inspect.DefectNone || t.State == inspect.StateActive && t.LeaseExpiresAt.IsZero()
	case aimBlocked:
		kept := t.State == inspect.StateArchived || t.State == inspect.StateCompleted
		return kept && (ExplicitID(t.ID) || t.UniqueKey != "")
	}
	return true
}

// tally counts a task that is not judged.
func (r *run) tally(t inspect.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.Prev == inspect.StateUnknown {
		r.totals.Tasks++
	} else {
		dec(r.totals.ByState, t.Prev)
	}
	r.totals.ByState[t.State]++
}
