package reconcile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Selection says which of an auditor's scope a plan is for.
type Selection struct {
	Codes []Code   // the kinds of findings; nil is all that can be mended
	Keys  []string // lock keys; nil is all
	// Force is the operator's reason for what would be held. It counts only where
	// one task is named by its ID, or locks by their keys.
	Force string
}

// Plan is what is going to be changed, and what is held.
type Plan struct {
	Steps  []Step
	MadeAt time.Time // by Redis's clock
	// Moves says how archived tasks are moved; nil in a plan of repairs or of
	// releases.
	Moves *Moves
}

// Runnable counts the steps that are not held.
func (p *Plan) Runnable() int {
	n := 0
	for i := range p.Steps {
		if p.Steps[i].Hold == "" {
			n++
		}
	}
	return n
}

// maxSteps bounds a plan, which is held in memory whole.
const maxSteps = 100_000

// Structure is what changes are planned and made on. *inspect.Client is one.
type Structure interface {
	Raw(ctx context.Context, refs []inspect.Ref) ([]inspect.Raw, error)
	Servers(ctx context.Context) ([]inspect.Server, error)
	ReleaseLock(ctx context.Context, key, owner string, because inspect.Release) (inspect.Change, error)
	PutBack(ctx context.Context, e inspect.Expect, at time.Time) (inspect.Change, error)
	Archive(ctx context.Context, e inspect.Expect, at time.Time) (inspect.Change, error)
	ExpireLease(ctx context.Context, e inspect.Expect, at time.Time) (inspect.Change, error)
	RegisterGroup(ctx context.Context, queue, group string) (inspect.Change, error)
	DeleteResult(ctx context.Context, r inspect.Ref, fingerprint string) (inspect.Change, error)
	DropLease(ctx context.Context, r inspect.Ref, expiresAt time.Time) (inspect.Change, error)
	DropDangling(ctx context.Context, r inspect.Ref, s inspect.State, group string) (inspect.Change, error)
	SetState(ctx context.Context, e inspect.Expect, to inspect.State) (inspect.Change, error)
	CloseTask(ctx context.Context, e inspect.Expect) (inspect.Change, error)
	Requeue(ctx context.Context, e inspect.Expect, o inspect.Requeue) (inspect.Change, error)
	Resolve(ctx context.Context, e inspect.Expect) (inspect.Change, error)
	Restore(ctx context.Context, image inspect.Restore) (inspect.Change, error)
}

// PlanRepairs plans the one safe repair of everything in scope that the
// structure pass finds. Findings go to the observer, too.
func (a *Auditor) PlanRepairs(ctx context.Context, q Structure, o Observer, sel Selection) (Plan, Report, error) {
	one, ids := a.unnamed()
	found := &keeper{Observer: o, wanted: func(f Finding) bool {
		return sel.wantsCode(f.Code) && (len(ids) == 0 || slices.Contains(ids, f.Task.ID))
	}}
	report, err := one.Integrity(ctx, found)
	if err != nil || !report.Complete {
		return Plan{}, report, err
	}
	now, err := a.queue.Now(ctx)
	if err != nil {
		return Plan{}, report, err
	}
	plan := Plan{MadeAt: now}
	for _, f := range found.kept {
		if s := repairOf(f, now); mendable(f.Code) {
			plan.Steps = append(plan.Steps, s)
		}
	}
	if found.over {
		return Plan{}, report, fmt.Errorf("more than %d findings: select fewer with --queue, --type or --kind", maxSteps)
	}
	if err := a.minding(ctx, plan.Steps); err != nil {
		return Plan{}, report, err
	}
	if err := expectAll(ctx, q, plan.Steps); err != nil {
		return Plan{}, report, err
	}
	force(plan.Steps, ids, sel.Force)
	return plan, report, nil
}

// PlanReleases plans the release of the locks in scope that were left behind.
func (a *Auditor) PlanReleases(ctx context.Context, q Structure, o Observer, sel Selection) (Plan, Report, error) {
	plan := Plan{}
	over := false
	grouping, err := a.grouping(ctx)
	if err != nil {
		return Plan{}, Report{}, err
	}
	report, err := a.Locks(ctx, o, func(h HeldLock) {
		if !sel.wantsCode(h.Code) || len(sel.Keys) > 0 && !slices.Contains(sel.Keys, h.Lock.Key) {
			return
		}
		s := Step{Change: journal.ChangeReleaseLock, Finding: h.Finding, Target: h.Lock.Key}
		switch h.Verdict {
		case LockOrphaned:
			if grouping[h.Queue] && (len(sel.Keys) == 0 || sel.Force == "") {
				s.Hold = "its queue uses groups: an aggregate may be doing its work yet (name it by --key, with a --reason)"
			}
			s.Forced = grouping[h.Queue] && s.Hold == ""
		case LockPhantom:
		default:
			if len(sel.Keys) == 0 {
				return // a lock in use is only spoken of where it is named
			}
			s.Hold = heldWords(h)
		}
		if over = len(plan.Steps) >= maxSteps; !over {
			plan.Steps = append(plan.Steps, s)
		}
	})
	if err != nil || !report.Complete {
		return Plan{}, report, err
	}
	if over {
		return Plan{}, report, fmt.Errorf("more than %d locks: select fewer with --queue or --type", maxSteps)
	}
	if plan.MadeAt, err = a.queue.Now(ctx); err != nil {
		return Plan{}, report, err
	}
	return plan, report, expectAll(ctx, q, plan.Steps)
}

// grouping says which queues aggregate tasks now. A member's hash is deleted when
// its aggregate is enqueued, its lock is not (asynq rdb.go: deleteAggregationSetCmd),
// and nothing links the two any more.
func (a *Auditor) grouping(ctx context.Context) (map[string]bool, error) {
	queues, err := a.queue.Queues(ctx)
	if err != nil {
		return nil, err
	}
	grouping := map[string]bool{}
	for _, q := range queues {
		groups, err := a.queue.Groups(ctx, q)
		if err != nil {
			return nil, err
		}
		sets, err := a.queue.AggregationSets(ctx, q)
		if err != nil {
			return nil, err
		}
		grouping[q] = len(groups)+len(sets) > 0
	}
	return grouping, nil
}

// heldWords say why a lock is not released.
func heldWords(h HeldLock) string {
	switch h.Verdict {
	case LockBlocks:
		return "its owner is archived: run or delete that task, which frees the lock as well"
	case LockForeign:
		return "it is no lock that asynq wrote"
	case LockMissing, LockStolen:
		return "it is not the lock of this task any more"
	case LockUnclear:
		return "its owner's message cannot be read"
	}
	return fmt.Sprintf("it is in use: its owner is %s", lives(h.Task.State))
}

func (s Selection) wantsCode(c Code) bool {
	return len(s.Codes) == 0 || slices.Contains(s.Codes, c)
}

// mendable says whether a finding is one that a repair is planned, or held, for.
func mendable(c Code) bool {
	switch c {
	case CodeGhost, CodeResultOnly, CodeDangling, CodeUndecodable, CodeNoLease, CodeStaleLease, CodeGroupUnregistered, CodeStateMismatch:
		return true
	}
	return false
}

// unnamed is the auditor without the IDs of its scope: what no list holds cannot
// be found by its ID.
func (a *Auditor) unnamed() (*Auditor, []string) {
	one := &Auditor{queue: a.queue, opt: a.opt, rules: a.rules}
	one.opt.Scope.IDs, one.opt.Scope.States = nil, nil
	return one, a.opt.Scope.IDs
}

// keeper passes findings on and keeps those that are wanted.
type keeper struct {
	Observer
	wanted func(Finding) bool
	kept   []Finding
	over   bool
}

func (k *keeper) Finding(f Finding) {
	k.Observer.Finding(f)
	if !k.wanted(f) {
		return
	}
	if len(k.kept) >= maxSteps {
		k.over = true
		return
	}
	k.kept = append(k.kept, f)
}

// expectAll notes what each step's hash is to be when it is applied. A task that
// changed since it was found is held.
func expectAll(ctx context.Context, q Structure, steps []Step) error {
	var refs []inspect.Ref
	var at []int
	for i := range steps {
		if steps[i].Ref().ID != "" {
			refs = append(refs, steps[i].Ref())
			at = append(at, i)
		}
	}
	raws, err := q.Raw(ctx, refs)
	if err != nil {
		return err
	}
	for n, raw := range raws {
		s := &steps[at[n]]
		if raw.Fields == nil {
			continue
		}
		e := raw.Expect()
		s.expect = &e
		if s.Finding.Task.Digest != [16]byte{} && digestOf(raw.Fields["msg"]) != s.Finding.Task.Digest {
			s.Hold = "it changed while this was planned"
		}
	}
	return nil
}

// digestOf is what inspect.Task.Digest is of a stored message.
func digestOf(msg []byte) [16]byte {
	sum := sha256.Sum256(msg)
	return [16]byte(sum[:16])
}

// force lets what would be held through, where one task is named and a reason
// given. Work that a worker runs, and what cannot be put into words, stays held.
func force(steps []Step, ids []string, reason string) {
	if reason == "" || len(ids) != 1 {
		return
	}
	for i := range steps {
		s := &steps[i]
		if s.Hold != "" && s.Change != "" && !s.never && (s.expect != nil || s.Evidence != "" || s.restore != nil) {
			s.Overrides, s.Hold, s.Forced, s.depends = strings.Join(append([]string{s.Hold}, s.alsoWords...), "; and "), "", true, false
		}
	}
}
