package render

import "github.com/idemctl/idemctl/reconcile"

// The contracts of locks, of the answer to `locks why`, and of changes. The
// same rules hold as in json.go.
const (
	SchemaLocks   = "idemctl.locks/v1"
	SchemaWhy     = "idemctl.why/v1"
	SchemaChanges = "idemctl.changes/v1"
)

// heldLockJSON is one uniqueness lock.
type heldLockJSON struct {
	Verdict  string  `json:"verdict"`
	Severity *string `json:"severity"` // null: nothing is wrong
	Code     *string `json:"code"`
	Key      string  `json:"key"`
	Queue    string  `json:"queue"`
	Type     string  `json:"type"` // as the key names it
	Owner    *string `json:"owner"`
	OwnerHex *string `json:"owner_hex"`
	// TaskID is the task the line speaks of: the owner, or of verdicts lost and
	// taken the task that should be.
	TaskID        string   `json:"task_id"`
	TaskIDHex     *string  `json:"task_id_hex"`
	State         *string  `json:"state"` // of that task; null: it is gone
	Status        *string  `json:"status"`
	Reason        *string  `json:"reason"`
	AppliedAt     *string  `json:"applied_at"`
	TTLSeconds    *float64 `json:"ttl_seconds"`
	EndsAt        *string  `json:"ends_at"`
	NeededSeconds *float64 `json:"needed_seconds"`
	ConfirmedAt   *string  `json:"confirmed_at"`
	Message       string   `json:"message"`
	Consequence   *string  `json:"consequence"`
	Action        *string  `json:"action"`
}

// locksJSON is a list of locks without the locks.
type locksJSON struct {
	Schema     string         `json:"schema"`
	Summary    bool           `json:"summary,omitempty"`
	Complete   bool           `json:"complete"`
	Problem    *string        `json:"problem"`
	StartedAt  *string        `json:"started_at"`
	FinishedAt *string        `json:"finished_at"`
	Redis      redisJSON      `json:"redis"`
	Ledgers    []ledgerJSON   `json:"ledgers"`
	Scope      scopeJSON      `json:"scope"`
	ByVerdict  map[string]int `json:"by_verdict"`
	Omitted    int            `json:"omitted"`
}

// whyJSON answers whether one enqueue would be refused.
type whyJSON struct {
	Schema      string        `json:"schema"`
	ConfirmedAt *string       `json:"confirmed_at"`
	Queue       string        `json:"queue"`
	QueueKnown  bool          `json:"queue_known"`
	QueuePaused bool          `json:"queue_paused"`
	QueueServed bool          `json:"queue_served"`
	Type        *string       `json:"type"`
	TaskID      *string       `json:"task_id"`
	LockKey     *string       `json:"lock_key"`
	Refused     bool          `json:"refused"`
	Refusals    []refusalJSON `json:"refusals"` // in the order in which asynq meets them
	Elsewhere   []refJSON     `json:"elsewhere"`
}

// refusalJSON is one barrier in the way of the enqueue.
type refusalJSON struct {
	By        string    `json:"by"`    // lock or task-id
	Error     string    `json:"error"` // what asynq returns
	Verdict   *string   `json:"verdict"`
	TaskID    string    `json:"task_id"`
	TaskIDHex *string   `json:"task_id_hex"`
	Type      *string   `json:"type"`
	State     *string   `json:"state"`
	Status    *string   `json:"status"`
	Reason    *string   `json:"reason"`
	AppliedAt *string   `json:"applied_at"`
	Lock      *lockJSON `json:"lock"`
	Until     *string   `json:"until"`
	Ends      string    `json:"ends"`
	Next      string    `json:"next"`
	Command   *string   `json:"command"`
}

func shapeHeldLock(h *reconcile.HeldLock) heldLockJSON {
	s := heldLockJSON{
		Verdict: string(h.Verdict), Code: text(h.Code), Queue: h.Queue, Type: h.Type,
		TaskID: h.Task.ID, TaskIDHex: hexOf(h.Task.ID), State: stateOrNull(&h.Finding),
		Reason: text(h.Reason), AppliedAt: instant(h.AppliedAt), ConfirmedAt: instant(h.ConfirmedAt),
		Message: lockMessage(h), Consequence: text(h.Consequence()), Action: text(lockAction(h)),
	}
	if h.Code != "" {
		s.Severity = text(h.Severity.String())
	}
	if s.State != nil {
		s.Status = text(h.Status.String())
	}
	if l := shapeLock(h.Lock, h.ConfirmedAt); l != nil {
		s.Key, s.Owner, s.TTLSeconds, s.EndsAt, s.NeededSeconds = l.Key, l.Owner, l.TTLSeconds, l.EndsAt, l.NeededSeconds
		s.OwnerHex = hexOf(h.Lock.Owner)
	}
	return s
}

// lockMessage is the finding's, or what is right where nothing is wrong.
func lockMessage(h *reconcile.HeldLock) string {
	switch h.Verdict {
	case reconcile.LockGuards:
		return "it guards a task that is " + h.Task.State.String()
	case reconcile.LockForeign:
		return "the key holds something that asynq does not write"
	case reconcile.LockUnclear:
		return "its owner's message cannot be read"
	}
	return h.Message()
}

func lockAction(h *reconcile.HeldLock) string {
	if h.Code == "" {
		return ""
	}
	return h.Action()
}

func stateOrNull(f *reconcile.Finding) *string {
	if f.Task.State == 0 {
		return nil
	}
	return text(f.Task.State.String())
}

func shapeLocks(r *reconcile.Report, h *Header, counts map[string]int, omitted int) locksJSON {
	return locksJSON{
		Schema: SchemaLocks, Complete: r.Complete, Problem: text(problemOf(r)),
		StartedAt: instant(r.StartedAt), FinishedAt: instant(r.FinishedAt),
		Redis: shapeRedis(h.Redis), Ledgers: shapeLedgers(r, h), Scope: shapeScope(r, h),
		ByVerdict: counts, Omitted: omitted,
	}
}

func shapeWhy(a *reconcile.Answer) whyJSON {
	s := whyJSON{
		Schema: SchemaWhy, ConfirmedAt: instant(a.ConfirmedAt), Queue: a.Queue, QueueKnown: a.Known,
		QueuePaused: a.Paused, QueueServed: a.Served, Type: text(a.Type), TaskID: text(a.ID),
		LockKey: text(a.LockKey), Refused: a.Refused(), Refusals: []refusalJSON{}, Elsewhere: []refJSON{},
	}
	for i := range a.Refusals {
		f := &a.Refusals[i]
		s.Refusals = append(s.Refusals, refusalJSON{
			By: string(f.Barrier), Error: f.Barrier.Error(), Verdict: text(f.Verdict),
			TaskID: f.Task.ID, TaskIDHex: hexOf(f.Task.ID), Type: text(f.Task.Type), State: stateOrNull(&f.Finding),
			Status: text(f.Status.String()), Reason: text(f.Reason), AppliedAt: instant(f.AppliedAt),
			Lock: shapeLock(f.Lock, f.ConfirmedAt), Until: instant(f.Until), Ends: f.Why, Next: f.Next, Command: text(f.Command),
		})
	}
	for _, ref := range a.Elsewhere {
		s.Elsewhere = append(s.Elsewhere, refOf(ref))
	}
	return s
}
