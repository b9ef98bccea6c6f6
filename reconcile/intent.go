package reconcile

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// intentOf is what the journal says before the change.
func intentOf(it *Applied, raw inspect.Raw, now time.Time) journal.Record {
	s := &it.Step
	r := journal.Record{
		Item: it.Item, Change: s.Change, Queue: s.Ref().Queue, TaskID: s.Ref().ID, Target: s.Target,
		Reason: s.because, Evidence: evidenceJSON(s), Task: imageOf(raw, now),
	}
	if s.restore != nil {
		r.Task = restoredImage(s.restore)
	}
	if l := s.Finding.Lock; l != nil && s.Change == journal.ChangeReleaseLock {
		if r.Task == nil {
			r.Task = &journal.TaskImage{}
		}
		r.Task.Lock = lockImage(*l, s.Finding.ConfirmedAt)
	}
	return r
}

func lockImage(l Lock, at time.Time) *journal.LockImage {
	image := &journal.LockImage{Key: l.Key, Owner: l.Owner}
	if l.TTL > 0 {
		image.ExpireAt = at.Add(l.TTL).UTC()
	}
	return image
}

// intentEvidence is why a step is right, as the journal keeps it: what resume and
// verify need to know of it is in there.
type intentEvidence struct {
	Code        Code       `json:"code"`
	ConfirmedAt time.Time  `json:"confirmed_at"`
	Status      string     `json:"status,omitempty"`
	Reason      Reason     `json:"reason,omitempty"`
	AppliedAt   *time.Time `json:"applied_at,omitempty"`
	Key         string     `json:"key,omitempty"`
	KeyHidden   bool       `json:"key_hidden,omitempty"` // no output may show it
	State       string     `json:"state,omitempty"`
	Fingerprint string     `json:"fingerprint,omitempty"`
	Forced      bool       `json:"forced,omitempty"`
	Overrides   HoldReason `json:"overrides,omitempty"` // why it would be held
	// Also are further reasons why it would be held.
	Also []HoldReason `json:"also_overrides,omitempty"`
	// Evidence is the digest that a move rests on.
	Evidence string `json:"evidence,omitempty"`
	// Attempts, RelockSeconds, Accepted and Idle say how a task is to run again.
	Attempts      *attemptsChange `json:"attempts,omitempty"`
	RelockSeconds float64         `json:"relock_seconds,omitempty"`
	Accepted      bool            `json:"accepted_unprotected,omitempty"`
	// Idle says that its queue was accepted although nothing takes tasks from it.
	Idle bool `json:"accepted_idle,omitempty"`
}

// holdReasons are those that an operator's reason overrides.
type holdReasons []HoldReason

func (h holdReasons) lacks(reason HoldReason) bool { return !slices.Contains(h, reason) }

// overridden are the reasons that were overridden; none where the intent says of
// none.
func (e *intentEvidence) overridden() holdReasons {
	if e.Overrides == "" {
		return nil
	}
	return append(holdReasons{e.Overrides}, e.Also...)
}

// attemptsChange is what a task's counters were, and what they are made.
type attemptsChange struct {
	Given  int         `json:"given"`
	Before retriesJSON `json:"before"`
	After  retriesJSON `json:"after"`
}

// retriesJSON are inspect.Retries.
type retriesJSON struct {
	Retried  int `json:"retried"`
	MaxRetry int `json:"max_retry"`
}

// evidenceJSON is why a step is right, as data.
func evidenceJSON(s *Step) json.RawMessage {
	f := &s.Finding
	e := intentEvidence{
		Code: f.Code, ConfirmedAt: f.ConfirmedAt.UTC(), Reason: f.Reason, Key: f.Key, KeyHidden: f.KeyHidden, Forced: s.Forced,
		Evidence: s.Evidence, Attempts: s.attempts, RelockSeconds: s.requeue.Relock.Seconds(), Accepted: s.accepted, Idle: s.idle,
	}
	if s.Forced {
		e.Overrides, e.Also = s.Reason, s.Also
	}
	if f.OfEffect() {
		e.Status = f.Status.String()
	}
	if at := f.AppliedAt.UTC(); !f.AppliedAt.IsZero() {
		e.AppliedAt = &at
	}
	if s.expect != nil {
		e.State, e.Fingerprint = s.expect.State.String(), s.expect.Fingerprint
	}
	b, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return b
}

// imageOf is a task as Redis holds it at now, by its own clock; nil where there
// is none.
func imageOf(raw inspect.Raw, now time.Time) *journal.TaskImage {
	if raw.Fields == nil {
		return nil
	}
	image := &journal.TaskImage{Key: inspect.TaskKey(raw.Ref)}
	for name, value := range raw.Fields {
		image.Fields = append(image.Fields, journal.Field{Name: name, Value: string(value)})
	}
	slices.SortFunc(image.Fields, func(a, b journal.Field) int { return cmp.Compare(a.Name, b.Name) })
	if raw.Place.Key != "" {
		score := raw.Place.Score
		image.Places = append(image.Places, journal.Place{Key: raw.Place.Key, Score: &score})
	}
	if raw.Lock.Held {
		image.Lock = &journal.LockImage{Key: raw.Lock.Key, Owner: raw.Lock.Owner}
		if raw.Lock.TTL > 0 {
			image.Lock.ExpireAt = now.Add(raw.Lock.TTL).UTC()
		}
	}
	return image
}

// restoredImage is a deleted task that is to be put back.
func restoredImage(r *inspect.Restore) *journal.TaskImage {
	image := &journal.TaskImage{Key: inspect.TaskKey(r.Ref)}
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		image.Fields = append(image.Fields, journal.Field{Name: name, Value: string(r.Fields[name])})
	}
	score := r.Score
	image.Places = []journal.Place{{Key: inspect.ArchiveKey(r.Queue), Score: &score}}
	if r.Lock != "" {
		image.Lock = &journal.LockImage{Key: r.Lock, Owner: r.ID, ExpireAt: r.LockUntil}
	}
	return image
}
