package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// A story of one archived task, default-0 with the payload {"n":0}, whose work
// was lost an hour ago. In some the plan already holds it, in the others something
// happens between plan and application.
type story struct {
	name  string
	given func(*scene)
	// held and words are how the plan holds the task; "": it is to be moved.
	held  reconcile.HoldReason
	words string
	since func(*scene)
	// refused is why the application refuses the task; "": it is not applied.
	refused string
}

// scene is what a story happens in.
type scene struct {
	*workshop
	*stock
	options reconcile.Options
	moves   reconcile.Moves
	edit    func(*inspecttest.Message) // of the task; nil: as it is
	zombie  *reconciletest.Session
	leave   func() // of the workers
	replica *reconciletest.Replica
}

const (
	theTask = "default-0"
	theWork = `{"n":0}`
)

func (s story) tell(t *testing.T) {
	t.Parallel() // they wait for clocks and servers
	sc := newScene(t, 0)
	if s.given != nil {
		s.given(sc)
	}
	if sc.stock == nil {
		sc.archive()
	}
	plan := sc.plan()
	step := stepOn(t, plan, theTask)
	if s.held != reconcile.HoldNone {
		holds(t, plan, theTask, s.held, s.words)
		return
	}
	if step.Hold != "" {
		t.Fatalf("held: %s", step.Hold)
	}
	s.since(sc)
	out, err := sc.perform(sc.options, plan, reconcile.Application{})
	if a := out[theTask]; err != nil || a.Outcome != journal.OutcomeRefused || !strings.Contains(a.Found, s.refused) {
		t.Errorf("%s: %q (%v), want %q; %v", a.Outcome, a.Found, a.Err, s.refused, err)
	}
	if r := sc.journalled(); len(r) != 3 || r[1].Outcome != journal.OutcomeRefused {
		t.Errorf("the journal has something else than one refusal: %+v", r)
	}
}

// newScene has so many tasks archived.
func newScene(t *testing.T, tasks int) *scene {
	t.Helper()
	sc := &scene{workshop: newWorkshop(t), options: reconcile.Options{Settle: time.Second}, moves: idle(reconcile.Moves{})}
	if tasks > 0 {
		sc.stock = stocked(t, sc.workshop.redis, "default", tasks, nil)
	}
	return sc
}

// performMeanwhile plans, and applies while something happens: after an item, or
// before a step.
func (sc *scene) performMeanwhile(how reconcile.Application, after func(reconcile.Applied), before func(step string)) (map[string]reconcile.Applied, error) {
	t := sc.workshop.t
	t.Helper()
	plan, out := sc.plan(), map[string]reconcile.Applied{}
	how.Tell = func(a reconcile.Applied) {
		out[a.Step.Ref().ID] = a
		if after != nil {
			after(a)
		}
	}
	j, err := journal.Open(t.Context(), sc.path, journal.Options{Operator: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	q := &counted{Client: sc.workshop.queue, moved: map[inspect.Ref]int{}, before: before}
	return out, sc.auditor(sc.options).Apply(t.Context(), q, j, journal.Run{}, plan, how)
}

func (sc *scene) inspector() *asynq.Inspector { return sc.workshop.redis.Inspector() }

// setPayload gives the task another one.
func (sc *scene) setPayload(text string) {
	m := inspecttest.Message{Type: "test:task", ID: theTask, Queue: "default", Payload: []byte(text)}
	sc.workshop.redis.SetMessage(ref(theTask), m.Encode())
}

func (sc *scene) archive() {
	sc.stock = stocked(sc.workshop.t, sc.workshop.redis, "default", 1, func(_ int, m *inspecttest.Message) {
		if sc.edit != nil {
			sc.edit(m)
		}
	})
}

func (sc *scene) plan() reconcile.Plan {
	sc.workshop.t.Helper()
	if sc.moves.Action == reconcile.ActionResolve {
		return sc.resolve(sc.options, sc.moves)
	}
	return sc.requeue(sc.options, sc.moves)
}

// failedAgo has the task archived some time ago.
func (sc *scene) failedAgo(d time.Duration) {
	sc.edit = func(m *inspecttest.Message) { m.LastFailedAt = time.Now().Add(-d).Unix() }
}

// begins is the zombie's transaction, which has written nothing yet.
func (sc *scene) begins() {
	sc.zombie = sc.db.Session()
	sc.zombie.Exec(`BEGIN; SET LOCAL application_name = 'zombie'`)
}

// begun is when the zombie's transaction began.
func (sc *scene) begun() time.Time {
	t := sc.workshop.t
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, sc.db.Value(`SELECT to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
		FROM pg_stat_activity WHERE application_name = 'zombie' AND datname = current_database()`))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (sc *scene) writes() {
	sc.zombie.Exec(`INSERT INTO processed_tasks (task_id) VALUES ('` + theTask + `')`)
}

// overSettle has a zombie begin its transaction right after its attempt failed,
// and waits until an absence would be believed.
func (sc *scene) overSettle(meanwhile func()) {
	sc.begins()
	failed := sc.begun().Unix() // the second in which it began
	sc.edit = func(m *inspecttest.Message) { m.LastFailedAt = failed }
	sc.archive()
	meanwhile()
	time.Sleep(3200 * time.Millisecond) // settle, whole seconds, clocks
}

// onReplica has the ledger be a replica that knows its primary.
func (sc *scene) onReplica() {
	t := sc.workshop.t
	sc.replica = sc.db.Replica()
	sc.replica.CatchUp()
	ledger, err := pgledger.Open(t.Context(), pgledger.Options{
		Name: "main", DSN: sc.replica.DSN, PrimaryDSN: sc.db.DSN, Timeout: 8 * time.Second, // also of statements
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	sc.ledger = ledger
	sc.apply("another") // a position within a segment, which the replica reaches
}

// pruned has rows of the ledger forgotten that are older.
func (sc *scene) pruned(age string) {
	sc.db.Exec(`DELETE FROM processed_tasks`)
	sc.db.Exec(`INSERT INTO processed_tasks VALUES ('recent', now() - interval '` + age + `')`)
}

// served has a worker take tasks of the queue, which then nobody need accept.
func (sc *scene) served() (stop func()) {
	sc.moves.Idle = nil
	return sc.workshop.redis.Serve(map[string]int{"default": 1}, 1, asynq.NotFound)
}

// twin makes a task with the same key in another queue.
func (sc *scene) twin(o inspecttest.Outcome, queue string) {
	sc.workshop.redis.Make(inspecttest.Spec{Outcome: o, ID: "twin", Queue: queue, Payload: []byte(theWork)})
}

// locked has the lock of the task's content belong to another ID.
func (sc *scene) locked(owner string) {
	key := inspect.UniqueKey("default", "test:task", []byte(theWork))
	sc.must(sc.workshop.redis.Client().Set(sc.workshop.t.Context(), key, owner, time.Hour).Err())
}

// keyed has keys made of payloads.
func (sc *scene) keyed() {
	sc.options.Rules = []reconcile.Rule{{
		Class: reconcile.ClassCreate, Key: "payload.n",
		Sources: []reconcile.Source{{Role: reconcile.RoleMark, Ledger: "main", Table: "processed_tasks", Column: "task_id", At: "processed_at"}},
	}}
}

func TestZombiesAreWaitedForOrSeen(t *testing.T) {
	for _, s := range []story{
		{
			name: "it may still commit, within the settle time", given: func(sc *scene) { sc.options.Settle = time.Minute; sc.failedAgo(20 * time.Second) },
			held: reconcile.HoldUnsettled, words: "its last attempt may still be writing: it can be judged after ",
		},
		{
			name: "it may run as long as its own timeout", given: func(sc *scene) {
				sc.options.Settle = -1 // the operator says nothing
				sc.edit = func(m *inspecttest.Message) {
					m.LastFailedAt, m.Timeout = time.Now().Add(-20*time.Minute).Unix(), int64((30 * time.Minute).Seconds())
				}
			},
			held: reconcile.HoldUnsettled, words: "it can be judged after ",
		},
		{
			name: "it committed within the settle time", given: func(sc *scene) { sc.options.Settle = time.Minute; sc.failedAgo(20 * time.Second); sc.apply(theTask) },
			held: reconcile.HoldApplied, words: "its work was done at ",
		},
		{
			name: "it committed beyond the settle time, before the plan", given: func(sc *scene) { sc.apply(theTask) },
			held: reconcile.HoldApplied, words: "its work was done at ",
		},
		{
			name: "its transaction began within the settle time and is open beyond it", given: func(sc *scene) {
				sc.overSettle(sc.writes)
			},
			held: reconcile.HoldUnsettled, words: "a transaction that is older than its last attempt still writes",
		},
		{
			name: "it began within the settle time and writes after the plan", given: func(sc *scene) { sc.overSettle(func() {}) },
			since: (*scene).writes, refused: "to be held now: a transaction that is older than its last attempt still writes",
		},
		{
			name: "it began within the settle time and commits after the plan", given: func(sc *scene) { sc.overSettle(func() {}) },
			since: func(sc *scene) { sc.writes(); sc.zombie.Exec(`COMMIT`) }, refused: "to be held now: its work was done at ",
		},
		{
			name: "it took back after the plan what was to be resolved", given: func(sc *scene) { sc.moves.Action = reconcile.ActionResolve; sc.apply(theTask) },
			since:   func(sc *scene) { sc.db.Exec(`DELETE FROM processed_tasks WHERE task_id = $1`, theTask) },
			refused: "to be held now: its work is not done",
		},
		{
			name: "another attempt failed after the plan", since: func(sc *scene) { sc.failedAgo(10 * time.Second); sc.archive() },
			refused: "it ran, or was archived, again since this was planned",
		},
	} {
		t.Run(s.name, s.tell)
	}
}

func TestNothingIsMovedOnAnAbsenceThatNobodyCanProve(t *testing.T) {
	const lags = "nobody can say whether its work is done: the ledger is a replica, which cannot prove that a row is absent"
	const forgets = "nobody can say whether its work is done: its row may have been pruned since"
	for _, s := range []story{
		{
			name: "the replica lags", given: func(sc *scene) { sc.onReplica(); sc.replica.Pause(); sc.apply("unseen") },
			held: reconcile.HoldUnknown, words: lags,
		},
		{
			name: "the replica lags since the plan, and the effect is on the primary", given: (*scene).onReplica,
			since: func(sc *scene) { sc.replica.Pause(); sc.apply(theTask) }, refused: "to be held now: " + lags,
		},
		{
			name: "its rows are kept for less time", given: func(sc *scene) {
				sc.keyed()
				sc.options.Rules[0].Sources[0].Retention.For = 30 * time.Minute
			},
			held: reconcile.HoldUnknown, words: forgets,
		},
		{
			name: "the table begins later than the task", given: func(sc *scene) { sc.pruned("20 minutes") },
			held: reconcile.HoldUnknown, words: forgets,
		},
		{
			name: "the table was pruned since the plan", since: func(sc *scene) { sc.pruned("20 minutes") }, refused: "to be held now: " + forgets,
		},
	} {
		t.Run(s.name, s.tell)
	}
}

func TestTasksThatNobodyWouldRunAreHeld(t *testing.T) {
	for _, s := range []story{
		{
			name: "its deadline is past", given: func(sc *scene) {
				sc.edit = func(m *inspecttest.Message) { m.Deadline = time.Now().Add(-time.Minute).Unix() }
			},
			held: reconcile.HoldDeadline, words: "its deadline passed at ",
		},
		{
			name: "its deadline passed since the plan", given: func(sc *scene) {
				sc.edit = func(m *inspecttest.Message) { m.Deadline = time.Now().Add(12 * time.Second).Unix() }
			},
			since: func(*scene) { time.Sleep(12 * time.Second) }, refused: "to be held now: its deadline passed at ",
		},
		{
			name: "its queue was paused since the plan", given: func(sc *scene) { sc.served() },
			since:   func(sc *scene) { sc.must(sc.workshop.redis.Inspector().PauseQueue("default")) },
			refused: "to be held now: its queue is paused",
		},
		{
			name: "its workers left since the plan", given: func(sc *scene) { sc.leave = sc.served() },
			since:   func(sc *scene) { sc.leave() },
			refused: "to be held now: no live server takes tasks of its queue",
		},
	} {
		t.Run(s.name, s.tell)
	}
}

func TestWorkOfATwinIsLeftToIt(t *testing.T) {
	const words = "a live or unsettled task has the same key: that one will do the work"
	stories := []story{
		{
			name: "a twin was archived just now", given: func(sc *scene) { sc.keyed(); sc.options.Settle = time.Minute; sc.twin(inspecttest.Archived, "low") },
			held: reconcile.HoldTwin, words: words,
		},
		{
			name: "a task of its ID is live elsewhere", given: func(sc *scene) {
				sc.workshop.redis.Make(inspecttest.Spec{Outcome: inspecttest.Pending, ID: theTask, Queue: "low"})
			},
			held: reconcile.HoldIDShared, words: "another queue has a task of the same ID, and both mean the same row",
		},
		{
			name: "a task of its ID came since the plan, into a new queue", since: func(sc *scene) {
				sc.workshop.redis.Make(inspecttest.Spec{Outcome: inspecttest.Scheduled, ID: theTask, Queue: "low"})
			},
			refused: "to be held now: another queue has a task of the same ID",
		},
	}
	for name, o := range map[string]inspecttest.Outcome{
		"pending": inspecttest.Pending, "scheduled": inspecttest.Scheduled, "active": inspecttest.Active,
		"in retry": inspecttest.Retry, "aggregating": inspecttest.Aggregating,
	} {
		stories = append(
			stories,
			story{
				name: "a twin is " + name, given: func(sc *scene) { sc.keyed(); sc.twin(o, "low") },
				held: reconcile.HoldTwin, words: words,
			},
			story{
				name: "a twin is " + name + " since the plan", given: (*scene).keyed, since: func(sc *scene) { sc.twin(o, "low") },
				refused: "to be held now: " + words,
			},
		)
	}
	for _, s := range stories {
		t.Run(s.name, s.tell)
	}
}

func TestLocksOfOthersAreRespected(t *testing.T) {
	const gone = `the lock of its work belongs to task "nobody", which is gone (idemctl locks why)`
	owner := func(o inspecttest.Outcome) func(*scene) {
		return func(sc *scene) {
			sc.workshop.redis.Make(inspecttest.Spec{Outcome: o, ID: "owner", Payload: []byte("other")})
			sc.locked("owner")
		}
	}
	unique := func(sc *scene) {
		sc.edit = func(m *inspecttest.Message) { m.UniqueKey = inspect.UniqueKey("default", m.Type, m.Payload) }
	}
	for _, s := range []story{
		{name: "of one who is gone", given: func(sc *scene) { sc.locked("nobody") }, held: reconcile.HoldLocked, words: gone},
		{
			name: "of an archived task with other content", given: owner(inspecttest.Archived),
			held: reconcile.HoldLocked, words: `the lock of its work belongs to task "owner", which is archived (idemctl locks why)`,
		},
		{
			name: "of a completed task with other content", given: owner(inspecttest.Completed),
			held: reconcile.HoldLocked, words: `the lock of its work belongs to task "owner", which is completed (idemctl locks why)`,
		},
		{
			name: "of a live task with other content", given: owner(inspecttest.Scheduled),
			held: reconcile.HoldTwin, words: `task "owner", which is scheduled, holds the lock of its work`,
		},
		{
			name: "its own lock is another's", given: func(sc *scene) { unique(sc); sc.archive(); sc.locked("nobody") },
			held: reconcile.HoldLocked, words: gone,
		},
		{
			name: "its own lock is another's since the plan", given: unique, since: func(sc *scene) { sc.locked("nobody") },
			refused: "to be held now: " + gone,
		},
	} {
		t.Run(s.name, s.tell)
	}
}
