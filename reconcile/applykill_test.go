package reconcile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// killRounds is how many applications there are at least, and how many kills;
// IDEMCTL_KILL_ROUNDS replaces it.
func killRounds(t *testing.T) int {
	text := os.Getenv("IDEMCTL_KILL_ROUNDS")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("IDEMCTL_KILL_ROUNDS=%q: %v", text, err)
	}
	return n
}

// An operator is killed at any step of an application, and then perhaps at any
// step of the resumptions. No task is lost, none is moved twice, and the journal
// tells of all.
func TestKilledApplicationsLoseNothingAndRepeatNothing(t *testing.T) {
	w := newWorkshop(t)
	kills := map[string]int{}
	total := func() (n int) {
		for _, of := range kills {
			n += of
		}
		return n
	}
	// Some operators are faster than their killer, at whatever step that is.
	least, rounds := killRounds(t), 0
	for ; rounds < least || total() < least && rounds < 5*least; rounds++ {
		k := newKilling(t, w, rounds)
		k.round(kills)
		if t.Failed() {
			t.Fatalf("round %d: %d tasks, %+v, killed by %v", rounds, len(k.refs), k.moves, k.killed)
		}
	}
	t.Logf("%d kills in %d rounds: %v", total(), rounds, kills)
	if total() < least {
		t.Errorf("only %d kills in %d rounds", total(), rounds)
	}
}

// killing is one plan whose operators are killed.
type killing struct {
	*stock
	w      *workshop
	moves  reconcile.Moves
	path   string
	unique bool // its tasks have locks
	pushed int  // what Redis had put into lists before
	killed []string
}

func newKilling(t *testing.T, w *workshop, n int) *killing {
	t.Helper()
	k := &killing{w: w, path: filepath.Join(t.TempDir(), "journal.jsonl")}
	queue, tasks := fmt.Sprint("k", n), 5+rand.IntN(16)
	if rand.IntN(8) == 0 {
		tasks += 96 // more than one group of them
	}
	k.unique = rand.IntN(3) == 0
	k.stock = stocked(t, w.redis, queue, tasks, func(_ int, m *inspecttest.Message) {
		if k.unique {
			m.UniqueKey = inspect.UniqueKey(queue, m.Type, m.Payload)
		}
	})
	k.moves = reconcile.Moves{Action: reconcile.ActionRun, Idle: []string{queue}}
	switch rand.IntN(4) {
	case 0:
		k.moves.Action = reconcile.ActionResolve
		w.db.Exec(`INSERT INTO processed_tasks (task_id) SELECT $1 || n FROM generate_series(0, $2::int - 1) AS n`, queue+"-", tasks)
	case 1:
		k.moves.Attempts = 1 + rand.IntN(9)
		k.keep(k.moves.Attempts)
	case 2:
		k.moves.Relock.TTL = 2 * time.Hour
	}
	k.pushed = k.pushes()
	return k
}

// pushes is how many lists Redis has put something into.
func (k *killing) pushes() int {
	k.t.Helper()
	info := k.redis.Client().Info(context.Background(), "commandstats").Val()
	_, rest, _ := strings.Cut(info, "cmdstat_lpush:calls=")
	text, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(text)
	if err != nil && rest != "" {
		k.t.Fatal(err)
	}
	return n
}

func (k *killing) round(kills map[string]int) {
	k.t.Helper()
	k.kill(operator{Moves: k.moves}, kills)
	for rand.IntN(2) == 0 {
		k.kill(operator{Resume: true}, kills)
	}
	k.resumeAll()
}

// resumeAll goes on with what is pending, and then with what is left.
func (k *killing) resumeAll() {
	k.t.Helper()
	if err := resume(k.t.Context(), k.path, k.auditor(), k.w.queue, journal.Options{Operator: "second"}, nil); err != nil {
		k.t.Error("resuming:", err)
	}
	complete(k.t, k.path)
	k.truthful(k.path)
	k.finish()
	k.check()
	k.drop()
}

// kill starts an operator and kills it, if it is not faster.
func (k *killing) kill(o operator, kills map[string]int) {
	k.t.Helper()
	o.Journal, o.Queue = k.path, k.stock.queue
	name := "at a step"
	switch rand.IntN(5) {
	case 0:
		name, o.Torn, o.KillAt = "within a line", true, 1+rand.IntN(4*len(k.refs)+4)
	case 1:
		name = "at an instant"
	default:
		o.KillAt = 1 + rand.IntN(4*len(k.refs)+6)
	}
	if o.Resume {
		name = "resuming, " + name
		if left := 1 + 4*count(k.places(), "archived"); o.KillAt > 0 {
			o.KillAt = 1 + rand.IntN(left+4)
		}
	}
	k.killed = append(k.killed, fmt.Sprintf("%s %d", name, o.KillAt))
	p := k.w.start(k.t, o)
	if o.KillAt == 0 {
		p.ready()
		time.Sleep(time.Duration(rand.IntN(15_000)) * time.Microsecond)
		_ = p.cmd.Process.Kill()
	}
	if dead, _ := p.end(); dead {
		kills[name]++
	}
	k.places()
	if _, err := os.Stat(k.path); err == nil {
		k.foreseen(k.path)
	}
}

func (k *killing) auditor() *reconcile.Auditor {
	k.t.Helper()
	return k.w.auditor(reconcile.Options{Scope: reconcile.Scope{Queues: []string{k.stock.queue}}})
}

// finish applies a new plan to what is left.
func (k *killing) finish() {
	k.t.Helper()
	a := k.auditor()
	plan, err := planFor(k.t.Context(), a, k.moves)
	if err != nil {
		k.t.Fatal(err)
	}
	j, err := journal.Open(k.t.Context(), k.path, journal.Options{Operator: "third"})
	if err != nil {
		k.t.Fatal(err)
	}
	defer j.Close()
	if err := a.Apply(k.t.Context(), k.w.queue, j, journal.Run{}, plan, reconcile.Application{}); err != nil {
		k.t.Error("applying what is left:", err)
	}
}

// check looks at the end of it all: each task was moved, once.
func (k *killing) check() {
	k.t.Helper()
	places, want, pushes := k.places(), "pending", len(k.refs)
	if k.moves.Action == reconcile.ActionResolve {
		want, pushes = "gone", 0
	}
	if got := count(places, want); got != len(k.refs) {
		k.t.Errorf("%d of %d are %s in the end", got, len(k.refs), want)
	}
	if got := k.pushes() - k.pushed; got != pushes {
		k.t.Errorf("tasks were put into pending %d times, want %d", got, pushes)
	}
	complete(k.t, k.path)
	k.foreseen(k.path)
	k.checkLocks()
}

func (k *killing) checkLocks() {
	k.t.Helper()
	if !k.unique {
		return
	}
	ctx := context.Background()
	cmds := k.pipe(func(p redis.Pipeliner) {
		for _, r := range k.refs {
			key := inspect.UniqueKey(r.Queue, "test:task", []byte(fmt.Sprintf(`{"n":%s}`, strings.TrimPrefix(r.ID, r.Queue+"-"))))
			p.Get(ctx, key)
			p.TTL(ctx, key)
		}
	})
	for i, r := range k.refs {
		owner, left := cmds[2*i].(*redis.StringCmd).Val(), cmds[2*i+1].(*redis.DurationCmd).Val()
		switch {
		case k.moves.Action == reconcile.ActionResolve:
			if owner != "" {
				k.t.Errorf("the lock of %s, which is resolved, belongs to %q", r.ID, owner)
			}
		case owner != r.ID:
			k.t.Errorf("the lock of %s belongs to %q", r.ID, owner)
		case k.moves.Relock.TTL > 0 && left < 119*time.Minute:
			k.t.Errorf("the lock of %s lives for %s more", r.ID, left)
		}
	}
}
