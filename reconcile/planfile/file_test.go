package planfile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/planfile"
)

var now = time.Date(2026, 11, 30, 3, 12, 7, 0, time.UTC)

var here = planfile.Origin{
	Operator: "ada", Host: "ops-1", Context: "prod", Command: "requeue --queue=payments",
	Redis:   inspect.Identity{Mode: "standalone", Addr: "127.0.0.1:6379", RunIDs: []string{"abc"}},
	Ledgers: []planfile.Ledger{{Name: "main", Kind: "postgres", Server: "127.0.0.1/app"}},
	Expiry:  time.Hour,
}

// plan has one task to run and one that is held.
func plan() *reconcile.Plan {
	step := func(id string, status reconcile.Status) reconcile.Step {
		return reconcile.Step{
			Change: journal.ChangeRequeue, Evidence: "sha256:" + strings.Repeat("ab", 32), Relock: 90 * time.Second,
			Finding: reconcile.Finding{
				Code: reconcile.CodeLost, Severity: reconcile.CodeLost.Severity(), Key: "evt_" + id, Status: status, Cause: reconcile.CauseTimeout,
				Task: inspect.Task{
					Ref: inspect.Ref{Queue: "payments", ID: id}, Type: "payment:charge", State: inspect.StateArchived,
					Retried: 3, MaxRetry: 3, LastFailedAt: now.Add(-time.Hour), ArchivedAt: now.Add(-time.Hour),
				},
			},
		}
	}
	held := step("b", reconcile.StatusApplied)
	held.Reason, held.Hold, held.Finding.AppliedAt = reconcile.HoldApplied, "its work is done", now.Add(-time.Hour)
	return &reconcile.Plan{
		MadeAt: now, Steps: []reconcile.Step{step("a", reconcile.StatusNotApplied), held},
		Moves: &reconcile.Moves{
			Action: reconcile.ActionRun, Attempts: 3, Order: reconcile.OrderOldest, Unprotected: []string{"x"}, Idle: []string{},
			Relock: reconcile.Relock{TTL: 90 * time.Second}, Queues: []reconcile.PlannedQueue{{Name: "payments", Served: true, Run: 1}},
		},
	}
}

func written(t *testing.T, p *reconcile.Plan) string {
	t.Helper()
	f, err := planfile.New(p, here)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlanComesBackAsItWasMade(t *testing.T) {
	want := plan()
	f, err := planfile.Read(written(t, want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
	if f.Counts.Run != 1 || f.Counts.Hold["applied"] != 1 {
		t.Errorf("counts %+v", f.Counts)
	}
}

func TestPlanKeepsNamesOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "bytes")) })
		p := plan()
		s := &p.Steps[0].Finding
		s.Task.Queue, s.Task.ID, s.Task.Type, s.Key = name.Draw(t, "queue"), name.Draw(t, "id"), name.Draw(t, "type"), name.Draw(t, "key")
		f, err := planfile.New(p, here)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var read planfile.File
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		got, err := read.Plan()
		if err != nil {
			t.Fatal(err)
		}
		g := got.Steps[0].Finding
		if g.Task.Queue != s.Task.Queue || g.Task.ID != s.Task.ID || g.Task.Type != s.Task.Type || g.Key != s.Key {
			t.Fatalf("%q became %q", []string{s.Task.Queue, s.Task.ID, s.Task.Type, s.Key}, []string{g.Task.Queue, g.Task.ID, g.Task.Type, g.Key})
		}
	})
}

// Whatever is changed in the file, it is refused: a plan is what was reviewed.
func TestAlteredPlansAreRefused(t *testing.T) {
	path := written(t, plan())
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"task_id": "a"`, `"task_id": "c"`},
		{`"action": "hold"`, `"action": "run"`},
		{`"attempts": 3`, `"attempts": 9`},
		{`"expires_at": "2026-11-30T04`, `"expires_at": "2026-12-30T04`},
		{`"run_ids": [`, `"run_ids": ["other",`},
		{`"accept_unprotected": [`, `"accept_unprotected": ["y",`},
		{`"cause": "timeout"`, `"cause": "timeout", "forced": true`},
		{`"schema": "idemctl.plan/v1"`, `"schema": "idemctl.plan/v2"`},
		{`"order": "oldest"`, `"order": "oldest", "more": 1`},
	} {
		altered := strings.Replace(string(sound), change[0], change[1], 1)
		if altered == string(sound) {
			t.Fatalf("%s is not in the file", change[0])
		}
		if err := os.WriteFile(path, []byte(altered), 0o600); err != nil {
			t.Fatal(err)
		}
		var refused *planfile.Error
		if _, err := planfile.Read(path); !errors.As(err, &refused) {
			t.Errorf("%s is taken: %v", change[1], err)
		}
	}
}

// A file whose digest was computed anew still may not force more than one task,
// nor do what a plan of its kind cannot.
func TestForgedPlansAreRefused(t *testing.T) {
	for name, forge := range map[string]func(f *planfile.File){
		"two forced":         func(f *planfile.File) { f.Options.ForceReason = "x"; f.Items[0].Forced, f.Items[1].Forced = true, true },
		"forced, no reason":  func(f *planfile.File) { f.Items[0].Forced = true },
		"resolve in requeue": func(f *planfile.File) { f.Items[0].Action = "resolve" },
		"no evidence":        func(f *planfile.File) { f.Items[0].Evidence = "" },
		"no ID":              func(f *planfile.File) { f.Items[0].TaskID = "" },
		"attempts":           func(f *planfile.File) { f.Options.Attempts = 100_000 },
		"action":             func(f *planfile.File) { f.Action = "delete" },
		"hex":                func(f *planfile.File) { f.Items[0].TaskIDHex = "zz" },
		"its own code":       func(f *planfile.File) { f.Items[0].Code = "effect/\x1b[31m" },
		"its own cause":      func(f *planfile.File) { f.Items[0].Cause = "\x1b]0;title\a" },
		"its own reason":     func(f *planfile.File) { f.Items[0].Reason = "\x1b[2J" },
		"its own also":       func(f *planfile.File) { f.Items[0].Also = []string{"because"} },
	} {
		f, err := planfile.New(plan(), here)
		if err != nil {
			t.Fatal(err)
		}
		forge(f)
		if _, err := f.Plan(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestPlanFitsOnlyWhereAndWhileItWasMade(t *testing.T) {
	f, err := planfile.New(plan(), here)
	if err != nil {
		t.Fatal(err)
	}
	renamed := here.Redis
	renamed.Addr = "localhost:6379"
	restarted := here.Redis
	restarted.RunIDs = []string{"def"}
	elsewhere := here.Redis
	elsewhere.RunIDs, elsewhere.Addr = nil, "10.0.0.1:6379"
	silent := here.Redis
	silent.RunIDs = nil
	other := here.Redis
	other.DB = 3
	for name, tt := range map[string]struct {
		at      time.Time
		redis   inspect.Identity
		ledgers []planfile.Ledger
		refused string
	}{
		"as it was":         {now, here.Redis, here.Ledgers, ""},
		"by another name":   {now, renamed, here.Ledgers, ""},
		"that does not say": {now, silent, here.Ledgers, ""},
		"just in time":      {now.Add(time.Hour - time.Second), here.Redis, here.Ledgers, ""},
		"too late":          {now.Add(time.Hour), here.Redis, here.Ledgers, "expired"},
		"restarted":         {now, restarted, here.Ledgers, "run id def instead of abc"},
		"elsewhere":         {now, elsewhere, here.Ledgers, "address 10.0.0.1:6379"},
		"other database":    {now, other, here.Ledgers, "database 3 instead of 0"},
		"other ledger":      {now, here.Redis, []planfile.Ledger{{Name: "main", Kind: "postgres", Server: "127.0.0.1/test"}}, "ledger main"},
	} {
		err := f.Fits("p", tt.at, tt.redis, tt.ledgers)
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v, want %q", name, err, tt.refused)
		}
	}
}

func TestPlanReplacesNothingButAPlan(t *testing.T) {
	path := written(t, plan())
	f, err := planfile.New(plan(), here)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(path); err != nil {
		t.Error("a plan is not replaced:", err)
	}
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Error(err, stat.Mode())
	}
	other := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(other); err == nil {
		t.Error("another file is replaced")
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Error(err, string(text))
	}
	if err := f.Write(filepath.Join(t.TempDir(), "no", "folder")); err == nil {
		t.Error("a folder that is not there is written to")
	}
}

func TestPlanKeepsToItsSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../docs/schema/plan.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	empty := &reconcile.Plan{MadeAt: now, Moves: &reconcile.Moves{Action: reconcile.ActionResolve, Order: reconcile.OrderOldest}}
	for _, p := range []*reconcile.Plan{plan(), empty} {
		b, err := os.ReadFile(written(t, p))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%v\n%s", err, b)
		}
	}
}

func FuzzReadPlan(f *testing.F) {
	file, err := planfile.New(plan(), here)
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(file)
	if err != nil || len(b) == 0 {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":"idemctl.plan/v1"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := planfile.Read(path)
		if err != nil {
			return
		}
		if _, err := file.Plan(); err == nil && file.Schema != planfile.Schema {
			t.Error("a plan without its schema is taken")
		}
	})
}

// A value of another kind than a plan has there is named as it stands in the file.
func TestPlanOfAnotherShapeSaysWhichValueIsWrong(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"attempts": 3`, `"attempts": {}`}:   `its options.attempts is an object, expected a whole number`,
		{`"attempts": 3`, `"attempts": 1.5`}:  `its options.attempts is a number 1.5, expected a whole number`,
		{`"mode": "standalone"`, `"mode": 1`}: `its redis.mode is a number, expected a string`,
		{`"digest"`, `"digets"`}:              `unknown field "digets"`,
	} {
		path := written(t, plan())
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		altered := strings.Replace(string(sound), change[0], change[1], 1)
		if altered == string(sound) {
			t.Fatalf("%s is not in the plan:\n%s", change[0], sound)
		}
		if err := os.WriteFile(path, []byte(altered), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := planfile.Read(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: want %q in %v", change[1], want, err)
		}
	}
}
