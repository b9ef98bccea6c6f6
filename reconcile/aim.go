package reconcile

import (
	"context"
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
)

// blocking are the codes of what refuses new work and will not do it.
var blocking = []Code{CodeLockBlocks, CodeLockOrphaned, CodeLockPhantom, CodeIDBlocked}

// tells says whether a code belongs to what the run is for.
func (a aim) tells(c Code) bool {
	switch a {
	case aimList:
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
		return ExplicitID(t.ID) || t.UniqueKey != ""
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

// sweepLocks tells the locks that were left behind.
func (r *run) sweepLocks(ctx context.Context) error {
	known := append(slices.Clone(r.queues), r.others...)
	for page, err := range r.queue.Keys(ctx, inspect.Sweep{Queues: r.sweptQueues(), Known: known}) {
		if err != nil {
			return err
		}
		locks := slices.DeleteFunc(page, func(k inspect.Key) bool { return k.Kind != inspect.KeyLock })
		if err := r.lonelyLocks(ctx, locks); err != nil {
			return err
		}
		r.progress("sweeping", nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.tellLonely(ctx)
}
