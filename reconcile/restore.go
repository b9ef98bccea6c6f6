package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// A deleted task is put back into the archive, from where nothing runs by itself,
// as its intent kept it: every field of its hash and its score byte for byte, and
// its lock for the time that is left. One that was closed where it was, outside of
// the archive, is archived as of now.

// What asynq leaves in an archive whenever it adds a task to it
// (asynq rdb.go: archiveCmd, maxArchiveSize, archivedExpirationInDays).
const (
	archiveRoom = 9_999
	archiveTime = 90 * 24 * time.Hour
)

// PlanRestore plans to put deleted tasks back into the archive, from the intents
// of their deletion. Steps are held for what cannot be put back, with the reason.
// The last intent of a task counts.
func (a *Auditor) PlanRestore(ctx context.Context, q Structure, intents ...journal.Record) (Plan, error) {
	var deletions []Deletion
	for i := range intents {
		d := Deletion{Ref: refOf(&intents[i]), Intent: &intents[i]}
		deletions = slices.DeleteFunc(deletions, func(e Deletion) bool { return e.Ref == d.Ref })
		deletions = append(deletions, d)
	}
	return a.PlanUndo(ctx, q, deletions, "")
}

// PlanUndo is PlanRestore for what FindDeletions found. With one deletion and a
// reason, what asynq might soon delete again is put back all the same.
func (a *Auditor) PlanUndo(ctx context.Context, q Structure, deletions []Deletion, because string) (Plan, error) {
	now, err := a.queue.Now(ctx)
	if err != nil {
		return Plan{}, err
	}
	refs := make([]inspect.Ref, len(deletions))
	for i := range deletions {
		refs[i] = deletions[i].Ref
	}
	there, err := q.Raw(ctx, refs)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{MadeAt: now}
	archived := map[string]int{}
	for i := range deletions {
		s := deletions[i].step(there[i], now)
		if err := a.makeRoom(ctx, &s, archived); err != nil {
			return Plan{}, err
		}
		plan.Steps = append(plan.Steps, s)
	}
	a.hideKeys(plan.Steps)
	if len(refs) == 1 {
		force(plan.Steps, []string{refs[0].ID}, because)
	}
	return plan, nil
}

// makeRoom holds the step where its queue's archive has no room. archived is how
// many each will hold.
func (a *Auditor) makeRoom(ctx context.Context, s *Step, archived map[string]int) error {
	name := s.Ref().Queue
	if s.Hold != "" {
		return nil
	}
	if _, known := archived[name]; !known {
		queue, err := a.queue.Queue(ctx, name)
		if err != nil && !errors.Is(err, inspect.ErrQueueNotFound) {
			return err
		}
		archived[name] = queue.Archived
	}
	if archived[name] >= archiveRoom {
		s.Hold = fmt.Sprintf("the archive of its queue holds %d tasks, and asynq deletes the oldest of more than %d when it archives the next", archived[name], archiveRoom)
		return nil
	}
	archived[name]++
	return nil
}

// step puts the task back, where there is nothing now.
func (d *Deletion) step(there inspect.Raw, now time.Time) Step {
	s := Step{Change: journal.ChangeRestore, Finding: Finding{Task: inspect.Task{Ref: d.Ref}, ConfirmedAt: now}, never: true}
	if d.Intent == nil {
		if s.Hold = d.Why; there.Fields != nil {
			s.Hold += "; it is " + placeWords(there.Task()) + " now"
		}
		return s
	}
	k := keptIn(d.Intent)
	s.Finding = k.finding(now)
	s.note = fmt.Sprintf("it was deleted at %s by run %s", stamp(d.Intent.At), d.Intent.Run)
	if d.Intent.Change == journal.ChangeRestore {
		s.note = fmt.Sprintf("run %s was to do it at %s", d.Intent.Run, stamp(d.Intent.At))
	}
	switch {
	case there.Fields != nil:
		s.Hold = takenWords(&k, there)
	case d.Why != "":
		s.Hold = d.Why
	case k.raw.Fields == nil:
		s.Hold = "the journal keeps no image of it"
	case k.redacted():
		s.Hold = "its payload was redacted in the journal, so that nothing can put it back as it was"
	case k.raw.State == inspect.StateUnknown:
		s.Hold = "its image is in no state that asynq knows"
	default:
		s.never = false
		s.restore = k.restore(&s, now)
		s.Hold = d.doubt(s.restore, now)
	}
	return s
}

// takenWords say who has the ID.
func takenWords(k *kept, there inspect.Raw) string {
	if k.sameMessage(there) {
		return "it is there already: " + placeWords(there.Task())
	}
	return "another task has its ID, which is " + placeWords(there.Task())
}

// doubt is why the task might not stay, or not belong there any more.
func (d *Deletion) doubt(r *inspect.Restore, now time.Time) string {
	if d.Since != "" {
		return d.Since
	}
	if at := time.Unix(int64(r.Score), 0); at.Before(now.Add(-archiveTime)) {
		return fmt.Sprintf("it was archived at %s, and asynq deletes what is older than 90 days when it archives the next", stamp(at))
	}
	return ""
}

// restore is the task as it is put back.
func (k *kept) restore(s *Step, now time.Time) *inspect.Restore {
	if lock := k.rec.Task.Lock; lock != nil {
		k.raw.Lock = inspect.Lock{Key: lock.Key, Held: true, Owner: lock.Owner}
	}
	image := k.raw.Restore(now)
	if image.Lock != "" {
		image.LockUntil = k.rec.Task.Lock.ExpireAt
	}
	if k.raw.State != inspect.StateArchived {
		s.note += fmt.Sprintf(", when it was %s", k.raw.State)
		image.Fields["state"] = []byte(inspect.StateArchived.String())
		image.Score = 0
	}
	if image.Score == 0 {
		image.Score = float64(now.Unix())
	}
	s.Finding.Task.State = inspect.StateArchived
	s.Finding.Task.ArchivedAt = time.Unix(int64(image.Score), 0)
	return &image
}

// finding is what the intent knew of the task.
func (k *kept) finding(now time.Time) Finding {
	f := Finding{Task: k.task, Key: k.evidence.Key, KeyHidden: k.evidence.KeyHidden, Reason: k.evidence.Reason, ConfirmedAt: now}
	f.Task.Payload = nil
	f.Status = k.evidence.status()
	if at := k.evidence.AppliedAt; at != nil {
		f.AppliedAt = *at
	}
	return f
}

func (e *intentEvidence) status() Status {
	if i := slices.Index(statusNames[:], e.Status); i > 0 {
		return Status(i)
	}
	return StatusUnknown
}
