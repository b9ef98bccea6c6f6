package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
	"github.com/idemctl/idemctl/tui"
)

// openBackend is the browser's backend as the command line would open it.
func openBackend(t *testing.T, args ...string) *browser {
	t.Helper()
	p := &program{
		streams: &streams{in: strings.NewReader(""), out: os.Stderr, err: os.Stderr, width: func() int { return 80 }, now: time.Now},
		env:     config.Environment{LookupEnv: func(string) (string, bool) { return "", false }, Home: t.TempDir(), ReadFile: os.ReadFile},
		log:     &logger{w: os.Stderr},
	}
	cmd, _, err := newRoot(p).Find([]string{"tui"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	b, err := (&tuiOptions{program: p, write: true}).openBrowser(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// An audit keeps a few findings of each signature. A plan for the signature takes
// all of its tasks, and no others, and its command plans the same.
func TestAPlanForASignatureTakesEveryTaskThatHasIt(t *testing.T) {
	const alike, others = 230, 4
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	db.Exec(`INSERT INTO processed_tasks VALUES ('old', now() - interval '300 days')`)
	server := inspecttest.Start(t)
	failed := time.Now().Add(-time.Hour)
	fill := func(queue string, n int, text string) []inspect.Ref {
		refs := server.Fill(queue, inspect.StateArchived, n, func(i int, m *inspecttest.Message) {
			m.Type, m.MaxRetry, m.Retried, m.LastErr, m.LastFailedAt, m.Timeout = "ledger:sync", 3, 3, fmt.Sprintf(text, i), failed.Unix(), 1
		})
		for _, r := range refs { // they were archived when they failed, and have settled since
			if err := server.Client().ZAdd(t.Context(), "asynq:{"+queue+"}:archived", redis.Z{Score: float64(failed.Unix()), Member: r.ID}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return refs
	}
	want := fill("a", alike, `upstream "eu-%d" said 503`)
	fill("b", others, "disk %d is full")
	done := want[0]
	want = want[1:]
	db.Exec(`INSERT INTO processed_tasks VALUES ($1, $2)`, done.ID, failed.Add(-time.Second))

	b := openBackend(t, "--uri", server.URI(), "--ledger", db.DSN)
	audit, err := b.Audit(t.Context(), func(reconcile.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(audit.Groups, func(g *tui.Group) bool { return g.Code == reconcile.CodeLost && g.Count == alike-1 })
	if at < 0 {
		for _, g := range audit.Groups {
			t.Logf("%s %s %s %q: %d", g.Code, g.Type, g.Cause, g.Text, g.Count)
		}
		t.Fatalf("no signature has %d findings", alike-1)
	}
	g := audit.Groups[at]
	if len(g.Examples) == g.Count {
		t.Fatal("the audit kept every finding: nothing was tested")
	}
	sig := &tui.Signature{Code: g.Code, Type: g.Type, Cause: g.Cause, Text: g.Text, OfEffect: true}
	plan, err := b.Changes().Plan(t.Context(), tui.Ask{Verb: tui.VerbRequeue, Signature: sig}, func(reconcile.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	var got []inspect.Ref
	for _, it := range plan.Items {
		got = append(got, it.Ref)
	}
	byID := func(x, y inspect.Ref) int { return strings.Compare(x.ID, y.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	if !slices.Equal(got, want) {
		t.Errorf("planned %d tasks, want the %d of the signature", len(got), len(want))
	}

	_, out, errs := inProcess(t, "requeue", "--uri", server.URI(), "--ledger", db.DSN, "--code", string(sig.Code), "--where", sig.Where(), "--dry-run", "-o", "ndjson")
	for _, ref := range []inspect.Ref{want[0], want[len(want)-1]} {
		if !strings.Contains(out, ref.ID) {
			t.Errorf("the command does not plan %s:\n%.2000s%s", ref.ID, out, errs)
		}
	}
	if strings.Contains(out, done.ID) || strings.Contains(out, `"queue":"b"`) {
		t.Errorf("the command plans tasks that are not of the signature:\n%.2000s", out)
	}
}

func TestAPlanTooLargeForTheScreenNamesItsCommand(t *testing.T) {
	server := inspecttest.Start(t)
	server.Fill("a", inspect.StateArchived, mostPlanned+1, func(_ int, m *inspecttest.Message) { m.Type, m.MaxRetry, m.Retried, m.LastErr = "t", 3, 3, "boom" })
	db := reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz)`)
	b := openBackend(t, "--uri", server.URI(), "--ledger", db.DSN)
	audit, err := b.Audit(t.Context(), func(reconcile.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	g := audit.Groups[0]
	sig := &tui.Signature{Code: g.Code, Type: g.Type, Cause: g.Cause, Text: g.Text, OfEffect: true}
	plan, err := b.Changes().Plan(t.Context(), tui.Ask{Verb: tui.VerbRequeue, Signature: sig}, func(reconcile.Progress) {})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(mostPlanned+1)) {
		t.Fatalf("a plan of %d tasks: error %v", g.Count, err)
	}
	if want := "idemctl requeue --code=" + string(g.Code) + " --where="; plan == nil || !strings.HasPrefix(plan.Command, want) {
		t.Errorf("the plan that was not made is %+v, want a command that begins with %q", plan, want)
	}
}

// The line of a plan plans the same tasks when it is pasted, whatever they and their
// queues are called; where no line can, there is none.
func TestTheLineOfAPlanPlansTheSame(t *testing.T) {
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	many := make([]string, mostNamed+1)
	for i := range many {
		many[i] = fmt.Sprintf("many-%03d", i)
	}
	for queue, ids := range map[string][]string{"a": {"x", "y", "-x", "it's", "a\"b", "n\x00ul"}, "b": {"x", "y", "\xff"}, "*": {"x"}, "a,b": {"x"}, "many": many} {
		server.Fill(queue, inspect.StateArchived, len(ids), func(i int, m *inspecttest.Message) {
			m.ID, m.LastErr, m.LastFailedAt, m.MaxRetry, m.Retried = ids[i], "no answer", time.Now().Add(-time.Hour).Unix(), 3, 3
		})
	}
	sh := newShell(t, fmt.Sprintf("current_context: night\ncontexts:\n  - {name: night, confirm_after: 200ms, redis: {uri: %q}, ledgers: [{name: main, dsn: %q}]}\n", server.URI(), db.DSN))
	b := openBackend(t, "--uri", server.URI(), "--ledger", db.DSN)
	b.place.Flags = ""
	of := func(queue string, ids ...string) (refs []inspect.Ref) {
		for _, id := range ids {
			refs = append(refs, inspect.Ref{Queue: queue, ID: id})
		}
		return refs
	}
	for name, c := range map[string]struct {
		refs []inspect.Ref
		none bool
	}{
		"one":                          {refs: of("a", "x")},
		"hostile IDs":                  {refs: of("a", "-x", "it's", "a\"b")},
		"a queue that is a pattern":    {refs: of("*", "x")},
		"a queue that is a list":       {refs: of("a,b", "x")},
		"one ID here, another there":   {refs: append(of("a", "x"), of("b", "y")...)},
		"one that is not UTF-8":        {refs: of("b", "\xff")},
		"that and another queue's":     {refs: append(of("a", "x"), of("b", "\xff")...), none: true},
		"one that no shell can say":    {refs: of("a", "n\x00ul"), none: true},
		"as many as a line may name":   {refs: of("many", many[:mostNamed]...)},
		"more than a line should name": {refs: of("many", many...), none: true},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := b.Changes().Plan(t.Context(), tui.Ask{Verb: tui.VerbRequeue, Refs: c.refs}, func(reconcile.Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			if c.none != (plan.Command == "") {
				t.Fatalf("the line is %q", plan.Command)
			}
			if c.none {
				return
			}
			var planned struct{ Steps []named }
			sh.runs(plan.Command+" --dry-run -o json", &planned)
			var got []inspect.Ref
			for _, s := range planned.Steps {
				got = append(got, s.ref(t))
			}
			order := func(x, y inspect.Ref) int { return strings.Compare(x.Queue+"/"+x.ID, y.Queue+"/"+y.ID) }
			want := slices.Clone(c.refs)
			slices.SortFunc(got, order)
			slices.SortFunc(want, order)
			if !slices.Equal(got, want) {
				t.Errorf("%s\nplans %q, want %q", plan.Command, got, want)
			}
		})
	}
}

// A line that is pasted finds the same place; what may be a secret is not in it.
func TestLinesSayWhereTheBrowserLooks(t *testing.T) {
	server := inspecttest.Start(t)
	config := filepath.Join(t.TempDir(), "my config.yaml")
	write(t, config, "current_context: two\ncontexts:\n  - {name: one}\n  - {name: two}\n")
	b := openBackend(t, "--config", config, "--uri", server.Addr, "--db", fmt.Sprint(server.DB), "--username", "default", "--context", "one")
	want := fmt.Sprintf("--context one --config='%s' --db=%d --uri=%s --username=default", config, server.DB, server.Addr)
	if got := b.Place().Flags; got != want {
		t.Errorf("the flags are %q, want %q", got, want)
	}
	for _, uri := range []string{"redis://user:hidden@" + server.Addr, "redis://" + server.Addr + "?password=hidden"} {
		cmd, _, err := newRoot(&program{}).Find([]string{"tui"})
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags([]string{"--uri", uri, "--password", "hidden", "--ledger", "postgres://u:hidden@h/d", "--tls"}); err != nil {
			t.Fatal(err)
		}
		if got := sameFlags(cmd, []string{"--ledger", "--password", "--tls", "--uri"}); got != "--ledger … --password … --tls --uri …" {
			t.Errorf("the flags are %q", got)
		}
	}
}
