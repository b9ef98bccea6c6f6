package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// incidents is how often the night of the race test happens; IDEMCTL_INCIDENTS
// replaces it.
func incidents(t *testing.T) int {
	text := os.Getenv("IDEMCTL_INCIDENTS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("IDEMCTL_INCIDENTS=%q: %v", text, err)
	}
	return n
}

const (
	lostKeys = 300
	// lateCommit is how long after its attempt was counted as failed a zombie may
	// commit: less than the settle time.
	lateCommit = 600 * time.Millisecond
	raceSettle = time.Second
)

var raceQueues = []string{"race-a", "race-b"}

// incident is a night: an archive full of work, workers that fail in every way,
// a producer who enqueues the same work again, and two operators who do not know
// of each other. Every attempt is logged, in a table that takes everything;
// effects go into one with a unique index.
type incident struct {
	*workshop
	pool     *pgxpool.Pool
	handlers atomic.Int64 // that are under way; zombies, too
	mu       sync.Mutex
	expected map[string]int  // attempts by task ID: enqueued, or moved by an operator
	tries    map[string]int  // attempts by key
	stays    map[string]bool // tasks with when they were archived, that were moved
	moved    int
	together sync.WaitGroup // the operators, before their first moves
	refused  map[string]int // by what was found
}

func TestOperatorsBesideWorkersAndProducersRunLostWorkOnce(t *testing.T) {
	for n := range incidents(t) {
		t.Run(fmt.Sprint("incident ", n), func(t *testing.T) { newIncident(t).happens(t) })
		if t.Failed() {
			return
		}
	}
}

func newIncident(t *testing.T) *incident {
	t.Helper()
	w := newWorkshop(t)
	w.db.Exec(`CREATE TABLE effects (key text PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp())`)
	w.db.Exec(`INSERT INTO effects VALUES ('long-ago', now() - interval '300 days')`)
	w.db.Exec(`CREATE TABLE attempts (id text NOT NULL, key text NOT NULL)`)
	pool, err := pgxpool.New(t.Context(), w.db.DSN+poolSize(w.db.DSN, 24))
	w.must(err)
	t.Cleanup(pool.Close)
	return &incident{
		workshop: w, pool: pool, expected: map[string]int{}, tries: map[string]int{}, stays: map[string]bool{}, refused: map[string]int{},
	}
}

func (in *incident) happens(t *testing.T) {
	in.archive()
	var stops []func()
	for range 2 {
		stops = append(stops, in.serve())
	}
	in.await("the servers' first heartbeats", func() bool {
		servers, err := in.queue.Servers(t.Context())
		return err == nil && len(servers) == 2
	})
	var people sync.WaitGroup
	people.Go(in.produce)
	in.together.Add(2)
	for n := range 2 {
		people.Go(func() { in.operate(fmt.Sprint("operator-", n)) })
	}
	people.Wait()
	in.await("the end of all work", in.quiet)
	for _, stop := range stops {
		stop()
	}
	over(&in.handlers)
	in.check()
}

// archive fills the archives: three of ten tasks took effect before they failed,
// and one of ten has a twin there, in the other queue.
func (in *incident) archive() {
	add := func(queue, id, key string) {
		stocked(in.t, in.redis, queue, 1, func(_ int, m *inspecttest.Message) {
			m.ID, m.Payload, m.Timeout = id, payloadOf(key, "first"), 1
			m.LastFailedAt -= int64(rand.IntN(3600))
		})
		in.expected[id] = 0
	}
	for i := range lostKeys {
		key, q := fmt.Sprint("k", i), i%2
		add(raceQueues[q], "t-"+key, key)
		if i%10 == 0 {
			add(raceQueues[1-q], "u-"+key, key)
		}
		if i%10 >= 7 {
			in.db.Exec(`INSERT INTO effects (key) VALUES ($1)`, key)
		}
	}
}

func payloadOf(key, by string) []byte { return fmt.Appendf(nil, `{"key":%q,"by":%q}`, key, by) }

// produce enqueues work again that is archived or under way: other IDs, in either
// queue.
func (in *incident) produce() {
	client := asynq.NewClient(in.redis.AsynqOpt())
	defer client.Close()
	for n := range 150 {
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		key, id := fmt.Sprint("k", rand.IntN(lostKeys)), fmt.Sprint("twin-", n)
		in.mu.Lock()
		in.expected[id] = 1
		in.mu.Unlock()
		options := []asynq.Option{
			asynq.TaskID(id), asynq.Queue(raceQueues[rand.IntN(2)]), asynq.MaxRetry(0), asynq.Timeout(time.Second),
		}
		if n%3 == 0 {
			options = append(options, asynq.ProcessIn(time.Duration(rand.IntN(1500))*time.Millisecond))
		}
		if _, err := client.Enqueue(asynq.NewTask("test:task", payloadOf(key, id)), options...); err != nil {
			in.t.Error("enqueueing:", err)
		}
	}
}

// serve runs workers whose tasks fail in every way.
func (in *incident) serve() (stop func()) {
	return in.redis.ServeConfig(asynq.Config{
		Queues: map[string]int{raceQueues[0]: 1, raceQueues[1]: 1}, Concurrency: 8,
		DelayedTaskCheckInterval: 100 * time.Millisecond, ShutdownTimeout: 5 * time.Second,
	}, func(ctx context.Context, task *asynq.Task) error {
		in.handlers.Add(1)
		defer in.handlers.Add(-1)
		return in.handle(ctx, task)
	})
}

// over waits for handlers that asynq no longer waits for. They begin on their own:
// a WaitGroup would have to be told of each before anybody waits.
func over(handlers *atomic.Int64) {
	for handlers.Load() > 0 {
		time.Sleep(5 * time.Millisecond)
	}
}

func (in *incident) handle(ctx context.Context, task *asynq.Task) error {
	id, key := task.ResultWriter().TaskID(), keyOf(task.Payload())
	whatever := context.WithoutCancel(ctx) // a handler that ignores its context
	if _, err := in.pool.Exec(whatever, `INSERT INTO attempts VALUES ($1, $2)`, id, key); err != nil {
		in.t.Errorf("an attempt of %s could not be logged: %v", id, err)
		return err
	}
	time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	fate := rand.IntN(100)
	in.mu.Lock()
	if in.tries[key]++; in.tries[key] > 2 {
		fate = 50 // for the night to end
	}
	in.mu.Unlock()
	switch {
	case fate < 15:
		return errors.New("upstream refused")
	case fate < 25: // a zombie
		<-ctx.Done()
		time.Sleep(time.Duration(rand.Int64N(int64(lateCommit))))
	}
	_, err := in.pool.Exec(whatever, `INSERT INTO effects (key) VALUES ($1)`, key)
	switch {
	case err != nil && strings.Contains(err.Error(), "SQLSTATE 23505") && fate%2 == 0:
		return nil // it is done: the handler knows
	case err != nil:
		return err
	case fate >= 85:
		return errors.New("notify failed after the commit")
	}
	return nil
}

func keyOf(payload []byte) string { return strings.Split(string(payload), `"`)[3] }

func raceRules() []reconcile.Rule {
	return []reconcile.Rule{{
		Class: reconcile.ClassCreate, Key: "payload.key",
		Sources: []reconcile.Source{{Role: reconcile.RoleEffect, Ledger: "main", Table: "effects", Column: "key", At: "at"}},
	}}
}

// operate plans and applies again and again, until every key has its effect.
func (in *incident) operate(name string) {
	path := filepath.Join(in.t.TempDir(), name+".jsonl")
	queue, err := inspect.Open(in.t.Context(), in.redis.Options())
	if err != nil {
		in.t.Error(err)
		return
	}
	defer queue.Close()
	a, err := reconcile.NewAuditor(queue, reconcile.Options{
		Rules: raceRules(), Ledgers: map[string]reconcile.Ledger{"main": in.ledger}, DefaultLedger: "main", Settle: raceSettle,
	})
	if err != nil {
		in.t.Error(err)
		return
	}
	meet := sync.OnceFunc(func() { in.together.Done(); in.together.Wait() })
	defer meet()
	for end := time.Now().Add(4 * time.Minute); len(in.applied()) < lostKeys; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			in.t.Errorf("%d of %d keys have their effect after four minutes", len(in.applied()), lostKeys)
			return
		}
		if err := in.once(a, queue, path, name, meet); err != nil {
			in.t.Errorf("%s: %v", name, err)
			return
		}
	}
	complete(in.t, path)
}

// once plans and applies. Whatever had its effect before must not be run.
func (in *incident) once(a *reconcile.Auditor, queue *inspect.Client, path, name string, meet func()) error {
	before := in.applied()
	plan, err := planFor(in.t.Context(), a, reconcile.Moves{Action: reconcile.ActionRun})
	if err != nil {
		return err
	}
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Hold == "" && before[s.Finding.Key] {
			in.t.Errorf("%s is to be run by %s, and its key %s had its effect before the plan", s.Ref().ID, name, s.Finding.Key)
		}
	}
	time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
	before = in.applied()
	j, err := journal.Open(in.t.Context(), path, journal.Options{Operator: name})
	if err != nil {
		return err
	}
	q := &counted{Client: queue, moved: map[inspect.Ref]int{}, before: func(step string) {
		if step == "move" {
			meet()
		}
	}}
	err = a.Apply(in.t.Context(), q, j, journal.Run{}, plan, reconcile.Application{Tell: func(ap reconcile.Applied) { in.told(&ap, before, name) }})
	return errors.Join(err, j.Close())
}

func (in *incident) told(a *reconcile.Applied, before map[string]bool, name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.Outcome != journal.OutcomeDone {
		why, _, _ := strings.Cut(strings.TrimPrefix(a.Found, "to be held now: "), ":")
		why, _, _ = strings.Cut(why, " at 2")
		in.refused[why]++
		return
	}
	stay := fmt.Sprint(a.Step.Ref().ID, " ", a.Step.Finding.Task.ArchivedAt.Unix())
	if in.stays[stay] {
		in.t.Errorf("%s was moved twice out of the archive that it entered once", a.Step.Ref().ID)
	}
	in.stays[stay] = true
	in.moved++
	in.expected[a.Step.Ref().ID]++
	if before[a.Step.Finding.Key] {
		in.t.Errorf("%s was run by %s, and its key %s had its effect before", a.Step.Ref().ID, name, a.Step.Finding.Key)
	}
}

// applied are the keys that have their effect now.
func (in *incident) applied() map[string]bool {
	keys := map[string]bool{}
	rows, err := in.pool.Query(context.Background(), `SELECT key FROM effects WHERE key <> 'long-ago'`)
	if err != nil {
		in.t.Error(err)
		return keys
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			in.t.Error(err)
		}
		keys[key] = true
	}
	if err := rows.Err(); err != nil {
		in.t.Error(err)
	}
	return keys
}

// quiet says that nothing is left to run.
func (in *incident) quiet() bool {
	left := int64(0)
	for _, q := range raceQueues {
		left += in.redis.Waiting(q)
	}
	return left == 0
}

// check compares what the workers did with what they were given: an attempt of a
// task for each time that it was enqueued or moved, and an effect of each key.
func (in *incident) check() {
	if got := len(in.applied()); got != lostKeys {
		in.t.Errorf("%d of %d keys have their effect", got, lostKeys)
	}
	attempts := map[string]int{}
	for _, line := range strings.Fields(in.db.Value(`SELECT coalesce(string_agg(id || '=' || n, ' '), '') FROM (SELECT id, count(*) AS n FROM attempts GROUP BY id) AS x`)) {
		id, n, _ := strings.Cut(line, "=")
		attempts[id], _ = strconv.Atoi(n)
	}
	total := 0
	for id, want := range in.expected {
		if attempts[id] != want {
			in.t.Errorf("%s was attempted %d times; it was enqueued or moved %d times", id, attempts[id], want)
		}
		total += attempts[id]
	}
	in.t.Logf("%d moves, %d attempts, %d effects; not moved: %v", in.moved, total, lostKeys, in.refused)
	if in.moved < lostKeys/2 || len(in.refused) < 3 {
		in.t.Error("nothing much happened: nothing was tested")
	}
}
