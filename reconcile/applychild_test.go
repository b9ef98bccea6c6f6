package reconcile_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/pgledger"
)

// operatorEnv makes the test binary an operator who plans and applies, or
// resumes, and then ends, or is killed on the way.
const operatorEnv = "RECONCILE_TEST_OPERATOR"

// operator is what such a process is to do.
type operator struct {
	Redis, Postgres, Journal, Queue string
	DB                              int

	Resume bool // go on with what is pending; otherwise plan and apply
	Moves  reconcile.Moves

	// KillAt is the step at which it kills itself, counted from 1: each call that
	// reads a task whole or moves it, before and after, and each time before a
	// record is made for the journal. 0: never.
	KillAt int
	// Torn has it write the beginning of a line before it kills itself.
	Torn bool
	// Limit is how long the files may get that it writes; 0: as long as they like.
	Limit uint64
}

const (
	operatorReady = "ready" // it says so before it changes anything
	stoppedByFull = 3       // its exit code when its journal could not be written
)

// operate is the process. It returns its exit code.
func operate(spec string) int {
	var o operator
	err := json.Unmarshal([]byte(spec), &o)
	if err == nil {
		err = o.run(context.Background())
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	if o.Limit > 0 && isFull(err) {
		return stoppedByFull
	}
	return 1
}

func (o *operator) run(ctx context.Context) error {
	queue, err := inspect.Open(ctx, inspect.Options{URI: o.Redis, DB: o.DB, DialTimeout: time.Minute, ReadTimeout: time.Minute})
	if err != nil {
		return err
	}
	defer queue.Close()
	ledger, err := pgledger.Open(ctx, pgledger.Options{Name: "main", DSN: o.Postgres})
	if err != nil {
		return err
	}
	defer ledger.Close()
	a, err := reconcile.NewAuditor(queue, reconcile.Options{
		Scope: reconcile.Scope{Queues: []string{o.Queue}}, Ledgers: map[string]reconcile.Ledger{"main": ledger}, DefaultLedger: "main",
	})
	if err != nil {
		return err
	}
	if err := limitFiles(o.Limit); err != nil {
		return err
	}
	d := &doomed{operator: o}
	q := &counted{Client: queue, moved: map[inspect.Ref]int{}, before: func(string) { d.step(false) }}
	options := journal.Options{Operator: "killed", Wait: time.Minute, Now: func() time.Time { d.step(true); return time.Now() }}
	if o.Resume {
		return resume(ctx, o.Journal, a, q, options, func(reconcile.Resumption) { fmt.Println(operatorReady) }) //nolint:forbidigo // it speaks to its parent
	}
	plan, err := planFor(ctx, a, o.Moves)
	if err != nil {
		return err
	}
	j, err := journal.Open(ctx, o.Journal, options)
	if err != nil {
		return err
	}
	fmt.Println(operatorReady) //nolint:forbidigo // it speaks to its parent
	err = a.Apply(ctx, q, j, journal.Run{Command: "test"}, plan, reconcile.Application{})
	return errors.Join(err, j.Close())
}

// planFor plans what the moves say.
func planFor(ctx context.Context, a *reconcile.Auditor, m reconcile.Moves) (reconcile.Plan, error) {
	plans := a.PlanRequeue
	if m.Action == reconcile.ActionResolve {
		plans = a.PlanResolve
	}
	plan, report, err := plans(ctx, &collector{}, m)
	if err == nil && !report.Complete {
		err = report.Problem
	}
	return plan, err
}

// doomed counts the steps of an operator that is to be killed.
type doomed struct {
	*operator
	steps int
}

func (d *doomed) step(record bool) {
	d.steps++
	switch {
	case d.KillAt == 0 || d.steps < d.KillAt:
	case !d.Torn:
		d.die()
	case record:
		// A line like the one before it, cut somewhere: what a writer leaves that is
		// killed within a write.
		text, err := os.ReadFile(d.Journal)
		if err != nil || len(text) == 0 {
			return // there is no line yet
		}
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		last := lines[len(lines)-1]
		if err := appendTo(d.Journal, string(last[:1+rand.IntN(len(last)-1)])); err != nil {
			panic(err)
		}
		d.die()
	}
}

// die ends the process in this very instant.
func (d *doomed) die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal is there
}

// process is an operator under way.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	out    *bufio.Reader
	errors bytes.Buffer
}

func (w *workshop) start(t testing.TB, o operator) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Redis, o.DB, o.Postgres = w.redis.Addr, w.redis.DB, w.db.DSN
	spec, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), self)}
	p.cmd.Env = append(os.Environ(), operatorEnv+"="+string(spec))
	p.cmd.Stderr = &p.errors
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// ready waits until it is about to change something; it may be dead before.
func (p *process) ready() { _, _ = p.out.ReadString('\n') }

// end waits for its end, and says whether it was killed, and its exit code.
func (p *process) end() (killed bool, code int) {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	code = p.cmd.ProcessState.ExitCode()
	killed = err != nil && code == -1
	if err != nil && !killed && code != stoppedByFull {
		p.t.Fatalf("an operator failed: %v\n%s", err, strings.TrimSpace(p.errors.String()))
	}
	return killed, code
}
