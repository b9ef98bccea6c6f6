package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// servers runs the tests between the start and the stop of real servers, and
// lets the test binary be the program itself.
type servers struct{ m *testing.M }

func (s servers) Run() int { return reconciletest.Run(s.m) }

type withServers struct{ m *testing.M }

func (w withServers) Run() int { return inspecttest.Run(servers(w)) }

func TestMain(m *testing.M) {
	testscript.Main(withServers{m}, map[string]func(){
		"idemctl": func() { os.Exit(run(os.Args[1:], systemStreams(), systemEnvironment())) },
	})
}

// stage is one script's own Redis database and PostgreSQL database.
type stage struct {
	redis *inspecttest.Server
	db    *reconciletest.Database
}

// The scripts in testdata/script are pages to read: each tells of something that
// goes wrong, and what the command says. Besides testscript's own commands they
// have:
//
//	task OUTCOME ID [queue=Q] [type=T] [payload=P] [unique=1h] [retry=N] [err=TEXT]
//	sql STATEMENT
//	settle               wait until whole seconds lie behind
//	lease QUEUE ID AGO   end a pending task's worker's lease
//	damage KIND QUEUE ID as a crash leaves a task: ghost, unlease, dangle, corrupt, result
//	killed FILE LINES    the journal as if its writer was killed so many lines ago
//	inspector CALL QUEUE asynq's own deletion: delete-pending
//	serve QUEUE          a worker that marks every task as done, until the script ends
//	alter FILE OLD NEW   replace a text in a file
//
// and the variables REDIS (a URI), REDIS_HOST (its host and port),
// OTHER_DB (a database that is not the script's) and LEDGER (a DSN).
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			s := &stage{redis: inspecttest.Start(t), db: reconciletest.Postgres(t)}
			env.Values["stage"] = s
			env.Setenv("REDIS", s.redis.URI())
			host, db, _ := strings.Cut(strings.TrimPrefix(s.redis.URI(), "redis://"), "/")
			env.Setenv("REDIS_HOST", host)
			env.Setenv("OTHER_DB", map[bool]string{true: "14", false: "15"}[db == "15"])
			env.Setenv("LEDGER", s.db.DSN)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/xdg")
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"task":   makeTask,
			"sql":    func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).db.Exec(strings.Join(args, " ")) },
			"settle": func(*testscript.TestScript, bool, []string) { time.Sleep(2100 * time.Millisecond) },
			"lease":  endLease,
			"damage": damage, "inspector": callInspector,
			"serve": serve, "alter": alter,
			"exits": exits, "killed": killed,
			"raw": raw,
		},
	})
}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value("stage").(*stage) }

var outcomes = map[string]inspecttest.Outcome{
	"pending": inspecttest.Pending, "scheduled": inspecttest.Scheduled, "aggregating": inspecttest.Aggregating,
	"retry": inspecttest.Retry, "archived": inspecttest.Archived, "completed": inspecttest.Completed,
	"active": inspecttest.Active,
}

// makeTask has asynq bring a task into a state.
func makeTask(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: task OUTCOME ID [name=value…]")
	}
	outcome, ok := outcomes[args[0]]
	if !ok {
		ts.Fatalf("unknown outcome %q", args[0])
	}
	spec := inspecttest.Spec{Outcome: outcome, ID: args[1]}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "queue":
			spec.Queue = value
		case "type":
			spec.Type = value
		case "payload":
			spec.Payload = []byte(value)
		case "err":
			spec.Err = fmt.Errorf("%s", unescape(value))
		case "unique":
			ttl, err := time.ParseDuration(value)
			ts.Check(err)
			spec.Options = append(spec.Options, asynq.Unique(ttl))
		default:
			ts.Fatalf("unknown option %q", arg)
		}
	}
	stageOf(ts).redis.Make(spec)
}

// unescape reads \n, \t, \r and \e, so that scripts can hold hostile texts.
func unescape(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\e`, "\x1b").Replace(s)
}

func endLease(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: lease QUEUE ID AGO")
	}
	ago, err := time.ParseDuration(args[2])
	ts.Check(err)
	stageOf(ts).redis.Orphan(inspect.Ref{Queue: args[0], ID: args[1]}, time.Now().Add(-ago))
}

// damage leaves a task as a crash does.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: damage KIND QUEUE ID")
	}
	redis, ref := stageOf(ts).redis, inspect.Ref{Queue: args[1], ID: args[2]}
	kinds := map[string]func(inspect.Ref){
		"ghost": redis.Ghost, "unlease": redis.Unlease, "dangle": redis.Dangle, "corrupt": redis.Corrupt, "result": redis.ResultOnly,
	}
	do, ok := kinds[args[0]]
	if !ok {
		ts.Fatalf("unknown damage %q", args[0])
	}
	do(ref)
}

func callInspector(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 || args[0] != "delete-pending" {
		ts.Fatalf("usage: inspector delete-pending QUEUE")
	}
	_, err := stageOf(ts).redis.Inspector().DeleteAllPendingTasks(args[1])
	ts.Check(err)
}

// serve runs a worker that does each task once, by its row.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: serve QUEUE")
	}
	s := stageOf(ts)
	stop := s.redis.Serve(map[string]int{args[0]: 1}, 4, func(_ context.Context, task *asynq.Task) error {
		s.db.Exec(`INSERT INTO processed_tasks (task_id) VALUES ($1) ON CONFLICT DO NOTHING`, task.ResultWriter().TaskID())
		return nil
	})
	ts.Defer(stop)
}

func alter(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: alter FILE OLD NEW")
	}
	file := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// exits runs idemctl and wants an exit code: exits CODE ARGS…
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS…")
	}
	err := ts.Exec("idemctl", args[1:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// raw sends one command to the script's Redis: raw SET name value
func raw(ts *testscript.TestScript, _ bool, args []string) {
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = unescape(a)
	}
	ts.Check(stageOf(ts).redis.Client().Do(context.Background(), words...).Err())
}

// killed leaves a journal as a process does that is killed before it writes its
// last lines: killed FILE LINES
func killed(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: killed FILE LINES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	if n >= len(lines) {
		ts.Fatalf("%s has no %d lines", args[0], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines[:len(lines)-1-n], "")), 0o600))
}
