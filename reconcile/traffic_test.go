package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/reconcile"
)

// zombieLimit is how long the traffic's handlers may go on after their attempt
// was counted as failed; the audits settle by it.
const zombieLimit = time.Second

var liveQueues = []string{"live-a", "live-b"}

// traffic is producers and workers with faults, and a recorder of what truly
// happened.
type traffic struct {
	t     *testing.T
	w     *world
	total int
	pool  *pgxpool.Pool

	mu      sync.Mutex
	commits map[string]commit // by key
	keys    map[string]string // by task ID
	running map[string]int    // server number by queue and ID of tasks under way
	tries   map[string][]try  // by task ID
	killed  map[string]bool   // IDs of tasks that a killed server had under way
	noted   []reconcile.Finding

	servers  []*killable
	handlers atomic.Int64 // that are under way; also those that asynq no longer waits for
}

// try is one attempt: from when the handler was called to when it returned.
type try struct{ began, ended time.Time }

// commit is when a key's transaction began and ended to commit, and when asynq had
// given its attempt up before; zero: it had not.
type commit struct{ began, ended, gaveUp time.Time }

// late says whether the commit came so long after its attempt was given up that
// audits took the attempt for over: the machine stood still meanwhile.
func (c commit) late() bool { return !c.gaveUp.IsZero() && c.ended.Sub(c.gaveUp) > zombieLimit }

func newTraffic(t *testing.T, w *world, total int) *traffic {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), w.db.DSN+poolSize(w.db.DSN, 24))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &traffic{
		t: t, w: w, total: total, pool: pool,
		commits: map[string]commit{}, keys: map[string]string{}, running: map[string]int{},
		tries: map[string][]try{}, killed: map[string]bool{},
	}
}

func poolSize(dsn string, n int) string {
	if strings.Contains(dsn, "?") {
		return fmt.Sprintf("&pool_max_conns=%d", n)
	}
	if strings.Contains(dsn, "://") {
		return fmt.Sprintf("?pool_max_conns=%d", n)
	}
	return fmt.Sprintf(" pool_max_conns=%d", n)
}

func (tr *traffic) began(key string) (time.Time, bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	c, ok := tr.commits[key]
	return c.began, ok
}

func (tr *traffic) ended(key string) (time.Time, bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	c, ok := tr.commits[key]
	return c.ended, ok
}

// cameLate is commit.late for a key.
func (tr *traffic) cameLate(key string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.commits[key].late()
}

func (tr *traffic) keyOf(id string) string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.keys[id]
}

// run produces and works off all tasks, and kills a worker now and then.
func (tr *traffic) run() {
	for range 2 {
		tr.serve()
	}
	var producers sync.WaitGroup
	const crews = 2
	for n := range crews {
		producers.Go(func() { tr.produce(n, tr.total/crews) })
	}
	produced := make(chan struct{})
	go func() { producers.Wait(); close(produced) }()
	kills := time.NewTicker(4 * time.Second)
	defer kills.Stop()
	for {
		select {
		case <-kills.C:
			tr.kill()
			tr.serve()
		case <-produced:
			tr.quiet()
			return
		}
	}
}

// produce enqueues tasks; some keys come twice at once, in two queues.
func (tr *traffic) produce(crew, count int) {
	client := asynq.NewClient(tr.w.redis.AsynqOpt())
	defer client.Close()
	random := rand.New(rand.NewPCG(1, uint64(crew)))
	for n := range count {
		key := fmt.Sprintf("k-%d-%d", crew, n)
		tr.enqueue(client, random, key, liveQueues[n%2])
		if random.IntN(40) == 0 {
			tr.enqueue(client, random, key, liveQueues[(n+1)%2])
		}
		if n%64 == 0 {
			tr.throttle()
		}
	}
}

// throttle keeps the backlog short, so that tasks move while audits run.
func (tr *traffic) throttle() {
	for {
		n, err := tr.w.redis.Client().LLen(context.Background(), "asynq:{live-a}:pending").Result()
		if err != nil || n < 1500 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// faults are what a handler does, and how many of a thousand do it.
var faults = []struct {
	name   string
	weight int
}{
	{"ok", 640},
	{"retained", 100},
	{"unmarked", 20},
	{"before", 80},
	{"after", 60},
	{"panic", 20},
	{"slow-commit", 20},
	{"zombie", 10},
	{"flaky", 50},
}

func pickFault(random *rand.Rand) string {
	n := random.IntN(1000)
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			return f.name
		}
	}
	return faults[0].name
}

func (tr *traffic) enqueue(c *asynq.Client, random *rand.Rand, key, queue string) {
	fault := pickFault(random)
	id := uuid.NewString()
	options := []asynq.Option{
		asynq.Queue(queue), asynq.TaskID(id), asynq.MaxRetry(random.IntN(3)), asynq.Timeout(30 * time.Second),
	}
	switch fault {
	case "retained", "unmarked":
		options = append(options, asynq.Retention(time.Hour))
	case "zombie":
		options = append(options, asynq.Timeout(time.Second), asynq.MaxRetry(0))
	}
	if random.IntN(20) == 0 {
		options = append(options, asynq.ProcessIn(time.Duration(random.IntN(3))*time.Second))
	}
	tr.mu.Lock()
	tr.keys[id] = key
	tr.mu.Unlock()
	payload := fmt.Appendf(nil, `{"key":%q,"fault":%q}`, key, fault)
	if _, err := c.Enqueue(asynq.NewTask("live:"+fault, payload), options...); err != nil {
		tr.t.Errorf("enqueue: %v", err)
	}
}

// handle is one attempt. It goes on after asynq has given up on it.
func (tr *traffic) handle(ctx context.Context, server int, task *asynq.Task) error {
	tr.handlers.Add(1)
	defer tr.handlers.Add(-1)
	id := task.ResultWriter().TaskID()
	queue, _ := asynq.GetQueueName(ctx)
	ref := queue + " " + id
	tr.mu.Lock()
	tr.running[ref] = server
	key := tr.keys[id]
	n := len(tr.tries[id])
	tr.tries[id] = append(tr.tries[id], try{began: time.Now()})
	tr.mu.Unlock()
	defer func() {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.tries[id][n].ended = time.Now()
		if !tr.servers[server].dead.Load() {
			delete(tr.running, ref)
		}
	}()
	return tr.attempt(ctx, task.Type(), key)
}

// waited says whether the task can have been waiting at an instant: no attempt
// of it was under way, and one was still to come. It does not know of tasks that
// a killed server had, nor of zombies, whose attempts overlap.
func (tr *traffic) waited(id string, at time.Time) (waited, known bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.killed[id] {
		return false, false
	}
	for _, t := range tr.tries[id] {
		if t.began.After(at) {
			waited = true
			continue
		}
		if t.ended.IsZero() || t.ended.After(at) {
			return false, true
		}
	}
	return waited, true
}

func (tr *traffic) attempt(ctx context.Context, kind, key string) error {
	var gaveUp atomic.Pointer[time.Time]
	defer context.AfterFunc(ctx, func() { gaveUp.Store(new(time.Now())) })()
	switch kind {
	case "live:before":
		return errors.New("upstream refused")
	case "live:panic":
		panic("live: bad state")
	case "live:unmarked":
		return nil
	case "live:flaky":
		if rand.IntN(2) == 0 {
			return errors.New("flaky upstream")
		}
	case "live:zombie":
		<-ctx.Done()
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
	}
	if err := tr.apply(key, kind == "live:slow-commit", &gaveUp); err != nil {
		return err
	}
	if kind == "live:after" {
		return errors.New("notify failed after the commit")
	}
	return nil
}

// apply writes mark and effect in one transaction, and records when.
func (tr *traffic) apply(key string, slow bool, gaveUp *atomic.Pointer[time.Time]) error {
	ctx := context.Background() // a handler that ignores its context
	tx, err := tr.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `INSERT INTO processed_tasks (task_id) VALUES ($1)`, key); err != nil {
		return err // a unique violation: the twin was first
	}
	if slow {
		time.Sleep(200 * time.Millisecond)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO effects (key) VALUES ($1)`, key); err != nil {
		return err
	}
	began := time.Now()
	tr.mu.Lock()
	tr.commits[key] = commit{began: began}
	tr.mu.Unlock()
	err = tx.Commit(ctx)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if err != nil {
		delete(tr.commits, key)
		return err
	}
	c := commit{began: began, ended: time.Now()}
	if at := gaveUp.Load(); at != nil {
		c.gaveUp = *at
	}
	tr.commits[key] = c
	return nil
}

// killable is a server whose connection to Redis can be cut for good.
type killable struct {
	server *asynq.Server
	client *redis.Client
	dead   atomic.Bool
}

func (tr *traffic) serve() {
	tr.mu.Lock()
	number := len(tr.servers)
	k := &killable{}
	tr.servers = append(tr.servers, k)
	tr.mu.Unlock()
	opt := tr.w.redis.Client().Options()
	k.client = redis.NewClient(&redis.Options{
		Network: opt.Network, Addr: opt.Addr, DB: opt.DB, MaxRetries: -1,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if k.dead.Load() {
				return nil, errors.New("cut")
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &cutConn{Conn: conn, dead: &k.dead}, nil
		},
	})
	k.server = asynq.NewServerFromRedisClient(k.client, asynq.Config{
		Concurrency: 16, Queues: map[string]int{"live-a": 1, "live-b": 1},
		TaskCheckInterval: 20 * time.Millisecond, DelayedTaskCheckInterval: 200 * time.Millisecond,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return time.Duration(rand.IntN(900)) * time.Millisecond },
		ShutdownTimeout: 50 * time.Millisecond, Logger: mute{}, LogLevel: asynq.FatalLevel,
	})
	if err := k.server.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		return tr.handle(ctx, number, t)
	})); err != nil {
		tr.t.Fatal(err)
	}
}

// kill cuts the oldest living server off, waits until its handlers are done
// with the world, and lets its leases run out, so that the next server's
// recoverer takes its tasks.
func (tr *traffic) kill() {
	tr.mu.Lock()
	var victim *killable
	number := 0
	for n, k := range tr.servers {
		if !k.dead.Load() {
			victim, number = k, n
			break
		}
	}
	tr.mu.Unlock()
	if victim == nil {
		return
	}
	victim.dead.Store(true)
	victim.server.Shutdown() // nothing of it reaches Redis any more
	time.Sleep(zombieLimit + 1000*time.Millisecond)
	tr.w.await("the end of the killed server's handlers", func() bool { return !tr.handling(number) })
	taken := tr.taken()
	for range 5 { // the others' are taken for a moment
		time.Sleep(100 * time.Millisecond)
		still := tr.taken()
		maps.DeleteFunc(taken, func(id, queue string) bool { return still[id] != queue })
	}
	for id, queue := range taken {
		tr.expire(queue, id) // it was cut off while it took the task
		tr.mu.Lock()
		tr.killed[id] = true
		tr.mu.Unlock()
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for ref, server := range tr.running {
		if server != number {
			continue
		}
		queue, id, _ := strings.Cut(ref, " ")
		tr.expire(queue, id)
		delete(tr.running, ref)
		tr.killed[id] = true
	}
}

// handling says whether an attempt of a server is still under way.
func (tr *traffic) handling(server int) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for ref, number := range tr.running {
		_, id, _ := strings.Cut(ref, " ")
		if number == server && slices.ContainsFunc(tr.tries[id], func(t try) bool { return t.ended.IsZero() }) {
			return true
		}
	}
	return false
}

// expire moves a lease so far into the past that a recoverer takes the task.
func (tr *traffic) expire(queue, id string) {
	tr.w.redis.Client().ZAddXX(context.Background(), "asynq:{"+queue+"}:lease",
		redis.Z{Score: float64(time.Now().Add(-40 * time.Second).Unix()), Member: id})
}

// taken are the tasks, by ID with their queue, that have a lease and whose
// handler was never called, or was and is done.
func (tr *traffic) taken() map[string]string {
	taken := map[string]string{}
	for _, q := range liveQueues {
		ids, err := tr.w.redis.Client().ZRange(context.Background(), "asynq:{"+q+"}:lease", 0, -1).Result()
		if err != nil {
			tr.t.Error(err)
		}
		tr.mu.Lock()
		for _, id := range ids {
			if _, running := tr.running[q+" "+id]; !running {
				taken[id] = q
			}
		}
		tr.mu.Unlock()
	}
	return taken
}

// quiet waits until nothing is left to run.
func (tr *traffic) quiet() {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		left := int64(0)
		for _, q := range liveQueues {
			left += tr.w.redis.Waiting(q)
		}
		if left == 0 {
			return
		}
	}
	tr.t.Error("the traffic did not come to rest")
}

// drain stops the servers and waits for handlers that asynq gave up on.
func (tr *traffic) drain() {
	for _, k := range tr.servers {
		if !k.dead.Load() {
			k.server.Shutdown()
		}
		_ = k.client.Close()
	}
	over(&tr.handlers)
}

type cutConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return 0, errors.New("cut")
	}
	return c.Conn.Write(b)
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.dead.Load() {
		return 0, errors.New("cut")
	}
	return n, err
}

type mute struct{}

func (mute) Debug(...any) {}
func (mute) Info(...any)  {}
func (mute) Warn(...any)  {}
func (mute) Error(...any) {}
func (mute) Fatal(...any) {}
