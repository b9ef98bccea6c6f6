package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/idemctl/idemctl/inspect"
)

// guarded is a rule whose sources have these indexes.
func guarded(t failer, r Rule, unique ...Uniqueness) *Bound {
	t.Helper()
	b := bound(t, r)
	for i := range r.Sources {
		b.facts[i] = SourceFacts{Source: r.Sources[i], Table: r.Sources[i].Table, Column: r.Sources[i].Column}
		if i < len(unique) {
			b.facts[i].Unique = unique[i]
		}
	}
	return b
}

func codesOf(codes []Code) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

func TestCoverageSpeaksOfBothBracketsOfAType(t *testing.T) {
	const yes, no, prefix = UniqueYes, UniqueNo, UniquePrefix
	mark, both := []Source{markSource}, []Source{markSource, effectSource}
	inbox := []Source{markSource, inboxSource}
	tests := []struct {
		name    string
		rule    Rule
		unique  []Uniqueness
		locked  int
		own     int // tasks with an explicit ID
		want    string
		noRules bool
	}{
		{name: "no rule", noRules: true, locked: 3, own: 3, want: "coverage/unclassified"},
		{name: "create, nothing", rule: Rule{Class: ClassCreate}, want: "coverage/unprotected"},
		{name: "increment, nothing", rule: Rule{Class: ClassIncrement}, want: "coverage/unprotected"},
		{name: "no class, nothing", rule: Rule{}, want: "coverage/unprotected"},
		{name: "create, locks alone", rule: Rule{Class: ClassCreate}, locked: 1, want: "coverage/entry-only"},
		{name: "create, own IDs alone", rule: Rule{Class: ClassCreate}, own: 1, want: "coverage/entry-only"},
		{name: "increment, locks alone", rule: Rule{Class: ClassIncrement}, locked: 3, want: "coverage/entry-only"},
		{name: "overwrite, nothing", rule: Rule{Class: ClassOverwrite}},
		{name: "set-status, locks", rule: Rule{Class: ClassSetStatus}, locked: 3},
		{name: "delete, own IDs", rule: Rule{Class: ClassDelete}, own: 3},
		{name: "mark alone", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{yes}, want: "coverage/exit-only"},
		{name: "mark and lock", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{yes}, locked: 1},
		{name: "mark and own ID", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{yes}, own: 1},

		{name: "mark without an index", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{no}, locked: 1, want: "coverage/no-unique-index"},
		{name: "mark without an index or entry", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{no}, want: "coverage/no-unique-index, coverage/exit-only"},
		{name: "mark with an index over more", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{prefix}, locked: 1, want: "coverage/no-unique-index"},
		{name: "one of two is enough", rule: Rule{Class: ClassCreate, Sources: both}, unique: []Uniqueness{no, yes}, locked: 1},
		{name: "the other of two is enough", rule: Rule{Class: ClassCreate, Sources: both}, unique: []Uniqueness{yes, no}, locked: 1},
		{name: "neither", rule: Rule{Class: ClassCreate, Sources: both}, unique: []Uniqueness{no, no}, locked: 1, want: "coverage/no-unique-index"},
		{name: "one of two transactions is not", rule: Rule{Class: ClassCreate, Sources: both, NotAtomic: true}, unique: []Uniqueness{no, yes}, locked: 1, want: "coverage/no-unique-index"},
		{name: "both of two transactions", rule: Rule{Class: ClassCreate, Sources: both, NotAtomic: true}, unique: []Uniqueness{yes, yes}, locked: 1},
		{name: "an inbox's index is not enough", rule: Rule{Class: ClassCreate, Sources: inbox}, unique: []Uniqueness{no, yes}, locked: 1, want: "coverage/no-unique-index"},
		{name: "an inbox needs none", rule: Rule{Class: ClassCreate, Sources: inbox}, unique: []Uniqueness{yes, no}, locked: 1},

		{name: "several effects, an index over more", rule: Rule{Class: ClassCreate, Sources: both, MaxEffects: 3}, unique: []Uniqueness{no, prefix}, locked: 1},
		{name: "one effect, an index over more", rule: Rule{Class: ClassCreate, Sources: both, MaxEffects: 1}, unique: []Uniqueness{no, prefix}, locked: 1, want: "coverage/no-unique-index"},
		{name: "several effects, no index", rule: Rule{Class: ClassCreate, Sources: both, MaxEffects: 3}, unique: []Uniqueness{no, no}, locked: 1, want: "coverage/no-unique-index"},
		{name: "a view", rule: Rule{Class: ClassCreate, Sources: mark}, unique: []Uniqueness{UniqueUnknown}, locked: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := typeCase{tasks: 3, locked: tt.locked, explicit: tt.own}
			if !tt.noRules {
				c.rule = guarded(t, tt.rule, tt.unique...)
			}
			if got := codesOf(c.coverage()); got != tt.want {
				t.Errorf("coverage = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoUniqueIndexNamesEverySourceWithItsReason(t *testing.T) {
	b := guarded(t, paymentRule(), UniqueNo, UniquePrefix)
	b.facts[0].Table, b.facts[0].NotUnique = "public.processed_tasks", "the index is partial"
	b.facts[1].Table, b.facts[1].NotUnique = "public.payments", "the index has two columns"
	c := typeCase{rule: b, tasks: 1, locked: 1}
	detail := c.detail(CodeNoUniqueIndex)
	for _, want := range []string{"public.processed_tasks.task_id", "the index is partial", "public.payments.task_id", "the index has two columns"} {
		if !strings.Contains(detail, want) {
			t.Errorf("detail %q does not say %q", detail, want)
		}
	}
	entry := typeCase{rule: guarded(t, Rule{Class: ClassCreate}), tasks: 9, locked: 4, explicit: 5}
	if got := entry.detail(CodeEntryOnly); !strings.Contains(got, "4 of 9") || !strings.Contains(got, "5") {
		t.Errorf("detail of entry-only = %q", got)
	}
}

func TestExplicitIDIsWhateverIsNoVersion4UUID(t *testing.T) {
	v1, err := uuid.NewUUID()
	if err != nil {
		t.Fatal(err)
	}
	v7, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	v4 := uuid.New()
	ids := map[string]bool{
		v4.String():                              false,
		strings.ToUpper(v4.String()):             false,
		"7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e":   false,
		v1.String():                              true,
		v7.String():                              true,
		uuid.Nil.String():                        true,
		uuid.NewSHA1(v4, nil).String():           true,
		"7b0b5f0e-93f1-4ef1-1d4e-0d6a0a4d7d1e":   true, // not RFC 9562's variant
		"":                                       true,
		"evt_42":                                 true,
		"urn:uuid:" + v4.String():                true,
		"{" + v4.String() + "}":                  true,
		strings.ReplaceAll(v4.String(), "-", ""): true,
		strings.Repeat("x", 36):                  true,
		"7b0b5f0e_93f1_4ef1_9d4e_0d6a0a4d7d1e":   true,
		"7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1g":   true,
	}
	for id, want := range ids {
		if got := ExplicitID(id); got != want {
			t.Errorf("ExplicitID(%q) = %t, want %t", id, got, want)
		}
	}
}

// coverageRun is a run over the given rules that has seen nothing yet.
func coverageRun(t failer, rules ...Rule) (*run, *findingList) {
	t.Helper()
	a := &Auditor{}
	for i, r := range rules {
		b, err := Bind(i+1, r)
		if err != nil {
			t.Fatalf("binding rule %d: %v", i+1, err)
		}
		a.rules = append(a.rules, b)
	}
	out := &findingList{}
	r := &run{Auditor: a, out: out, cases: newTypeTable(a)}
	r.totals.ByCode, r.totals.BySeverity = map[Code]int{}, map[Severity]int{}
	return r, out
}

func (r *run) meet(tasks ...inspect.Task) {
	for _, t := range tasks {
		r.cases.see(r.cases.match(t.Type, t.Queue), t)
	}
}

func taskOf(kind, queue, id, lock string) inspect.Task {
	return inspect.Task{Ref: inspect.Ref{Queue: queue, ID: id}, Type: kind, UniqueKey: lock, State: inspect.StatePending}
}

func TestCoverageIsToldOncePerTypeOverItsQueues(t *testing.T) {
	const asynqID = "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e"
	r, out := coverageRun(t,
		Rule{Type: "payment:*", Queue: "billing*", Class: ClassCreate},
		Rule{Type: "payment:*", Class: ClassOverwrite},
		Rule{Type: "mail:*", Class: ClassCreate},
	)
	r.meet(
		taskOf("payment:charge", "billing-b", asynqID, ""),
		taskOf("payment:charge", "billing-a", asynqID, ""),
		taskOf("payment:charge", "billing-a", asynqID, ""),
		taskOf("payment:charge", "shop", asynqID, ""), // the second rule's: natural
		taskOf("mail:send", "default", "own-id", ""),
		taskOf("report", "default", asynqID, ""),
	)
	r.cover()
	var got []string
	for _, f := range *out {
		got = append(got, fmt.Sprintf("%s %s %s %v %d", f.Severity, f.Code, f.Task.Type, f.Queues, f.TaskCount))
		if f.Task.ID != "" {
			t.Errorf("%s names the task %q: it speaks of a type", f.Code, f.Task.ID)
		}
	}
	want := []string{
		"high coverage/entry-only mail:send [default] 1",
		"critical coverage/unprotected payment:charge [billing-a billing-b] 3",
		"warning coverage/unclassified report [default] 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// One task with a lock in one queue is an entry that the type has.
func TestCoverageJoinsTheEntriesOfAllQueues(t *testing.T) {
	r, out := coverageRun(t, Rule{Class: ClassCreate})
	r.meet(
		taskOf("a", "one", "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", ""),
		taskOf("a", "two", "8b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", "asynq:{two}:unique:a:"),
		taskOf("a", "three", "own-3", "asynq:{three}:unique:a:"),
		taskOf("a", "four", "own-4", ""),
		taskOf("a", "five", "own-5", ""),
	)
	r.cover()
	if len(*out) != 1 || (*out)[0].Code != CodeEntryOnly {
		t.Fatalf("findings = %+v, want one coverage/entry-only", *out)
	}
	f := (*out)[0]
	if !strings.Contains(f.Detail, "2 of 5") || !strings.Contains(f.Detail, "3 an ID") || f.TaskCount != 5 || len(f.Queues) != 5 {
		t.Errorf("detail %q, %d tasks in %v: want 2 of 5 with a lock and 3 with an ID", f.Detail, f.TaskCount, f.Queues)
	}
}

func TestCoverageCountsEachTaskOnceAndNoneThatCannotBeRead(t *testing.T) {
	r, out := coverageRun(t, Rule{Class: ClassCreate})
	moved := taskOf("a", "q", "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", "")
	again := with(moved, func(t *inspect.Task) { t.State, t.Prev = inspect.StateActive, inspect.StatePending })
	broken := with(moved, func(t *inspect.Task) { t.Type, t.Defect = "", inspect.DefectUndecodable })
	r.meet(moved, again, broken)
	r.cover()
	if len(*out) != 1 || (*out)[0].TaskCount != 1 {
		t.Errorf("findings = %+v, want one of one task", *out)
	}
	uses, unruled := r.cases.uses()
	if len(uses) != 1 || uses[0].Tasks != 1 || unruled != 0 {
		t.Errorf("rule uses = %+v and %d tasks without a rule, want one task", uses, unruled)
	}
}

// Of a task that cannot be read nobody knows whether a rule matches its type: it is not
// among those that have none, and the finding has the same number.
func TestTasksWithoutARuleAreThoseOfTheFinding(t *testing.T) {
	r, out := coverageRun(t, Rule{Type: "known", Class: ClassOverwrite})
	id := "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1"
	broken := with(taskOf("other", "q", id+"1", ""), func(t *inspect.Task) { t.Type, t.Defect = "", inspect.DefectUndecodable })
	r.meet(taskOf("known", "q", id+"2", ""), taskOf("other", "q", id+"3", ""), broken)
	r.cover()
	_, unruled := r.cases.uses()
	if len(*out) != 1 || (*out)[0].Code != CodeUnclassified || (*out)[0].TaskCount != 1 || unruled != 1 {
		t.Errorf("%d tasks without a rule, findings %+v: want 1 and one of it", unruled, *out)
	}
}

func TestIgnoredCoverageIsNotTold(t *testing.T) {
	r, out := coverageRun(t, Rule{Class: ClassCreate, Ignore: []Code{CodeUnprotected}})
	r.meet(taskOf("a", "q", "7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", ""))
	r.cover()
	if len(*out) != 0 || r.totals.ByCode[CodeUnprotected] != 0 {
		t.Errorf("findings = %+v although the operator silenced them", *out)
	}
}

// Type names come from anywhere; the tasks beyond the table keep their rules.
func TestTypesBeyondTheTableKeepTheirRule(t *testing.T) {
	r, _ := coverageRun(t, Rule{Type: "known*", Class: ClassCreate})
	for i := range maxTypes + 10 {
		kind := fmt.Sprint("known", i)
		if b := r.cases.match(kind, "q"); b == nil {
			t.Fatalf("type %q has no rule", kind)
		}
	}
	if len(r.cases.types) > maxTypes {
		t.Errorf("%d types are kept, want at most %d", len(r.cases.types), maxTypes)
	}
	if b := r.cases.match("other", "q"); b != nil {
		t.Error("a type that no rule matches has one")
	}
}

func TestTheFirstRuleThatMatchesIsATasksRule(t *testing.T) {
	tests := []struct {
		rule        Rule
		kind, queue string
		want        bool
	}{
		{Rule{}, "anything", "anywhere", true},
		{Rule{Type: "*", Queue: "*"}, "", "q", true},
		{Rule{Type: "payment:*"}, "payment:charge", "q", true},
		{Rule{Type: "payment:*"}, "payments:charge", "q", false},
		{Rule{Type: "payment:*"}, "a:payment:charge", "q", false},
		{Rule{Type: "payment:charge"}, "payment:charge:v2", "q", false},
		{Rule{Type: "a*z"}, "a/b/z", "q", true},
		{Rule{Type: "a?z"}, "a/z", "q", true},
		{Rule{Type: "v[12]"}, "v2", "q", true},
		{Rule{Type: "v[12]"}, "v3", "q", false},
		{Rule{Type: "*", Queue: "billing-*"}, "t", "billing-eu", true},
		{Rule{Type: "*", Queue: "billing-*"}, "t", "default", false},
		{Rule{Type: "Payment:*"}, "payment:charge", "q", false},
	}
	for _, tt := range tests {
		b, err := Bind(1, tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Matches(tt.kind, tt.queue); got != tt.want {
			t.Errorf("rule %q/%q matches %q in %q: %t, want %t", tt.rule.Type, tt.rule.Queue, tt.kind, tt.queue, got, tt.want)
		}
	}
	a := &Auditor{}
	for i, kind := range []string{"pay*", "payment:*", "*"} {
		b, err := Bind(i+1, Rule{Type: kind})
		if err != nil {
			t.Fatal(err)
		}
		a.rules = append(a.rules, b)
	}
	if b := a.match("payment:charge", "q"); b.Number != 1 {
		t.Errorf("rule %d, want the first that matches", b.Number)
	}
	if b := a.match("mail", "q"); b.Number != 3 {
		t.Errorf("rule %d, want the third", b.Number)
	}
	if _, err := Bind(1, Rule{Type: "v[12"}); err == nil {
		t.Error("a pattern that does not end is taken")
	}
}
