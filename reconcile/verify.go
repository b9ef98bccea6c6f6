package reconcile

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Verified is one item of a run, and what can be said of it now.
type Verified struct {
	Item   string
	Change journal.Change
	Ref    inspect.Ref // its ID is "" where a lock or a group was changed, or the intent is lost
	Target string
	Type   string
	Proof  Proof
	// Outcome and Found are the journal's, and so is Error.
	Outcome      journal.Outcome
	Found, Error string
	// Key is what its effect was looked up by, and Watched what is known of it now:
	// for items that an effect hangs on.
	Key string
	// KeyHidden says that no output may show the key, see ShownKey.
	KeyHidden bool
	Watched
	// Note says what is to be known besides; "" for nothing.
	Note string
}

// ShownKey is the key as an output may show it.
func (v *Verified) ShownKey() string { return shownKey(v.Key, v.KeyHidden) }

// Looked says whether the task was read and its effect looked up.
func (v *Verified) Looked() bool { return v.Watched.Ref != inspect.Ref{} }

// Verification is a run as a whole.
type Verification struct {
	journal.Run
	Operator, Host string
	// Began is zero where the run's first record cannot be read, Ended where it
	// wrote no end.
	Began, Ended time.Time
	// Items counts those that the run began, and NotBegun the planned ones that it did
	// not: 0 where the journal does not say how many were planned. EndedBy is why it
	// ended early, in words.
	Items, NotBegun int
	EndedBy         string
	ByProof         map[Proof]int
}

// Bad counts the items that did not come to what the run was for.
func (v *Verification) Bad() int { return v.count(Proof.Bad) }

// Open counts the items of which nobody can say yet.
func (v *Verification) Open() int { return v.count(Proof.Open) }

func (v *Verification) count(is func(Proof) bool) int {
	n := 0
	for proof, items := range v.ByProof {
		if is(proof) {
			n += items
		}
	}
	return n
}

// verifySize is how many items are looked up together.
const verifySize = 500

// Verify says what became of each item of a run: the task is read, and then the
// ledger. Tasks and keys are those of the journal, so that it makes no difference
// whether the task still exists. Items are told in no order; those that nobody has
// settled come last. Items that the run ended before are not told, but counted. What
// is wrong with the journal goes to damaged.
//
// Memory is bounded by the run's number of items, at some 50 bytes each.
func (a *Auditor) Verify(ctx context.Context, records iter.Seq2[journal.Record, error], id string, tell func(Verified), damaged func(error)) (Verification, error) {
	v := &verifying{
		look: &run{Auditor: a, out: &findingList{}}, id: id, tell: tell,
		open: map[string]*awaited{}, closed: map[string]struct{}{},
		sum: Verification{Run: journal.Run{ID: id}, ByProof: map[Proof]int{}},
	}
	if err := a.Prepare(ctx); err != nil {
		return v.sum, err
	}
	for r, err := range records {
		switch {
		case err != nil && !journal.GoesOn(err):
			return v.sum, err
		case err != nil:
			damaged(err)
		case r.Run == id:
			if err := v.record(ctx, r); err != nil {
				return v.sum, err
			}
		}
		if ctx.Err() != nil {
			return v.sum, ctx.Err()
		}
	}
	return v.sum, v.end(ctx)
}

// awaited is an item until it is told.
type awaited struct {
	Verified
	before inspect.Task
	at     time.Time // of its intent
}

// verifying is one Verify under way.
type verifying struct {
	look   *run
	id     string
	tell   func(Verified)
	open   map[string]*awaited // items without an outcome
	closed map[string]struct{}
	batch  []*awaited
	sum    Verification
}

func (v *verifying) record(ctx context.Context, r journal.Record) error {
	switch r.Kind {
	case journal.KindRun:
		v.sum.Run = journal.Run{ID: r.Run, Context: r.Context, Command: r.Command, Reason: r.Reason, PlanDigest: r.PlanDigest, Planned: r.Planned}
		v.sum.Operator, v.sum.Host, v.sum.Began = r.Operator, r.Host, r.At
	case journal.KindEnd:
		v.sum.Ended, v.sum.NotBegun = r.At, r.NotBegun
		if v.sum.Planned > 0 || r.NotBegun > 0 {
			v.sum.EndedBy = r.Error
		}
	case journal.KindIntent:
		v.open[r.Item] = v.await(r)
	case journal.KindResult:
		return v.result(ctx, r)
	}
	return nil
}

// await keeps of an intent what is needed of it.
func (v *verifying) await(r journal.Record) *awaited {
	k := keptIn(&r)
	w := &awaited{
		Verified: Verified{Item: r.Item, Change: r.Change, Ref: refOf(&r), Target: r.Target, Type: k.task.Type, Key: k.evidence.Key, KeyHidden: k.evidence.KeyHidden},
		before:   k.task, at: r.At,
	}
	w.before.Payload = nil
	if !judgedLater(r.Change) {
		return w
	}
	now, problem := v.keyNow(&k)
	b := v.look.match(k.task.Type, k.task.Queue)
	w.KeyHidden = w.KeyHidden || b.HidesKey()
	switch {
	case b == nil || now == "" && problem == "":
	case w.Key == "":
		w.Key = now
	case problem != "":
		w.Note = "its rule gives it no key now: " + problem
	case b.canonical(now) != b.canonical(w.Key):
		w.Note = fmt.Sprintf("its rule gives it the key %q now; looked up by the one it had", shownKey(now, w.KeyHidden))
	}
	return w
}

// judgedLater says whether an effect hangs on the change.
func judgedLater(c journal.Change) bool {
	switch c {
	case journal.ChangeRequeue, journal.ChangeResolve, journal.ChangeClose, journal.ChangeRestore:
		return true
	}
	return false
}

// keyNow is what the rule makes of the task; "" where it makes nothing of it, or
// where the journal does not hold what it is made of.
func (v *verifying) keyNow(k *kept) (key, problem string) {
	b := v.look.match(k.task.Type, k.task.Queue)
	if b == nil || k.redacted() && !b.key.TaskID() {
		return "", ""
	}
	key, problem, _ = v.look.keyAgain(b, k.task)
	return key, problem
}

func (v *verifying) result(ctx context.Context, r journal.Record) error {
	w, known := v.open[r.Item]
	if _, told := v.closed[r.Item]; told {
		return nil
	}
	if r.NotBegun > 0 && v.sum.Planned > 0 {
		v.close(r.Item)
		return nil
	}
	if !known {
		w = &awaited{Verified: Verified{Item: r.Item, Change: r.Change, Ref: refOf(&r), Target: r.Target}}
	}
	w.Outcome, w.Found, w.Error = r.Outcome, r.Found, r.Error
	switch {
	case r.Outcome == journal.OutcomeUnknown:
		return nil // it stays open
	case r.Outcome != journal.OutcomeDone:
		w.Proof = ProofNotChanged
	case !known:
		w.Note = "the journal has a result of it, and no intent"
	case !judgedLater(w.Change):
		w.Proof = ProofNotJudged
	default:
		v.close(r.Item)
		v.batch = append(v.batch, w)
		if len(v.batch) == verifySize {
			return v.lookUp(ctx)
		}
		return nil
	}
	v.close(r.Item)
	v.say(&w.Verified)
	return nil
}

func (v *verifying) close(item string) {
	delete(v.open, item)
	v.closed[item] = struct{}{}
}

func (v *verifying) say(w *Verified) {
	v.sum.Items++
	v.sum.ByProof[w.Proof]++
	v.tell(*w)
}

// lookUp tells what became of a batch.
func (v *verifying) lookUp(ctx context.Context) error {
	moved := make([]Moved, len(v.batch))
	for i, w := range v.batch {
		moved[i] = Moved{Item: w.Item, Task: w.before, Key: w.Key}
	}
	watched, err := v.look.fates(ctx, moved)
	if err != nil {
		return err
	}
	for i, w := range v.batch {
		w.Watched = watched[i]
		w.conclude()
		v.say(&w.Verified)
	}
	v.batch = v.batch[:0]
	return nil
}

func (w *awaited) conclude() {
	switch w.Change {
	case journal.ChangeRequeue:
		w.Proof = proofOfRun(&w.Watched, false)
		if w.Proof == ProofApplied && !w.AppliedAt.IsZero() && w.AppliedAt.Before(w.at) {
			w.note(fmt.Sprintf("its row is of %s, before it was run again", stamp(w.AppliedAt)))
		}
	case journal.ChangeRestore:
		w.Proof = proofOfRun(&w.Watched, true)
	default:
		w.Proof = proofOfDeletion(w.before, &w.Watched)
		if w.Proof != ProofBack && !gone(w.Task) {
			w.note("its ID has another task now, which is " + placeWords(w.Task))
		}
	}
	if w.Proof == ProofUnknown && w.Reason != ReasonNone {
		w.note(w.Reason.Words())
	}
}

func (w *awaited) note(words string) {
	if w.Note != "" {
		words = "; " + words
	}
	w.Note += words
}

// end tells the items that are left.
func (v *verifying) end(ctx context.Context) error {
	if len(v.batch) > 0 {
		if err := v.lookUp(ctx); err != nil {
			return err
		}
	}
	for _, w := range v.open {
		w.Proof = ProofOpen
		v.say(&w.Verified)
	}
	if v.sum.Ended.IsZero() {
		v.sum.NotBegun = max(0, v.sum.Planned-v.sum.Items)
	}
	return nil
}
