package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/idemctl/idemctl/inspect"
)

// typeTable knows, for every task type and queue of an audit, its rule and what
// guards its entry. It is safe for concurrent use.
type typeTable struct {
	auditor *Auditor
	mu      sync.Mutex
	types   map[typeQueue]*typeCase
}

type typeQueue struct{ taskType, queue string }

// typeCase is what the tasks of one type in one queue have shown.
type typeCase struct {
	rule     *Bound
	tasks    int // in scope
	locked   int // enqueued with a uniqueness lock
	explicit int // with an ID of their own
	example  inspect.Task
}

// maxTypes bounds the table: type names come from anywhere. The tasks of types
// beyond it are judged all the same; only their coverage is not reported.
const maxTypes = 10_000

func newTypeTable(a *Auditor) *typeTable {
	return &typeTable{auditor: a, types: map[typeQueue]*typeCase{}}
}

// match is the rule of a type in a queue; nil when none matches.
func (tt *typeTable) match(taskType, queue string) *Bound {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	key := typeQueue{taskType, queue}
	if c := tt.types[key]; c != nil {
		return c.rule
	}
	rule := tt.auditor.match(taskType, queue)
	if len(tt.types) < maxTypes {
		tt.types[key] = &typeCase{rule: rule}
	}
	return rule
}

// see counts a task in scope.
func (tt *typeTable) see(_ *Bound, t inspect.Task) {
	if t.Defect != inspect.DefectNone || t.Prev != inspect.StateUnknown {
		return
	}
	tt.mu.Lock()
	defer tt.mu.Unlock()
	c := tt.types[typeQueue{t.Type, t.Queue}]
	if c == nil {
		return
	}
	if c.tasks == 0 {
		c.example = t
		c.example.Payload = nil
	}
	c.tasks++
	if t.UniqueKey != "" {
		c.locked++
	}
	if ExplicitID(t.ID) {
		c.explicit++
	}
}

// uses says how many tasks each rule had, in the order of the rules, and how many had
// none. Of a task that cannot be read nobody knows whether it has one.
func (tt *typeTable) uses() (uses []RuleUse, unruled int) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	tasks := map[*Bound]int{}
	for _, c := range tt.types {
		if c.rule != nil {
			tasks[c.rule] += c.tasks
		} else {
			unruled += c.tasks
		}
	}
	for _, b := range tt.auditor.rules {
		if tasks[b] > 0 || b.Implicit {
			uses = append(uses, RuleUse{Rule: b, Tasks: tasks[b], Sources: b.facts})
		}
	}
	return uses, unruled
}

// ExplicitID says whether a task ID was chosen by the producer: asynq itself
// gives version 4 UUIDs (client.go: composeOptions).
func ExplicitID(id string) bool {
	if len(id) != 36 {
		return true
	}
	u, err := uuid.Parse(id)
	return err != nil || u.Version() != 4 || u.Variant() != uuid.RFC4122
}

// cover reports what guards each task type on entry and exit. It speaks of
// types over all queues of one rule.
func (r *run) cover() {
	type ruleType struct {
		rule     *Bound
		taskType string
	}
	merged := map[ruleType]*typeCase{}
	queues := map[ruleType][]string{}
	r.cases.mu.Lock()
	for key, c := range r.cases.types {
		if c.tasks == 0 {
			continue
		}
		k := ruleType{c.rule, key.taskType}
		m := merged[k]
		if m == nil {
			m = &typeCase{rule: c.rule, example: c.example}
			merged[k] = m
		}
		m.tasks += c.tasks
		m.locked += c.locked
		m.explicit += c.explicit
		queues[k] = append(queues[k], key.queue)
	}
	r.cases.mu.Unlock()

	keys := slices.SortedFunc(maps.Keys(merged), func(a, b ruleType) int {
		return cmp.Or(cmp.Compare(a.taskType, b.taskType), cmp.Compare(ruleNumber(a.rule), ruleNumber(b.rule)))
	})
	now := r.now()
	r.mu.Lock()
	partial := r.problem != nil
	r.mu.Unlock()
	for _, k := range keys {
		c := merged[k]
		slices.Sort(queues[k])
		for _, code := range c.coverage() {
			if code == CodeExitOnly && partial {
				continue // a task that was not read may have what these lack
			}
			f := Finding{
				Code: code, Severity: code.Severity(), Queues: queues[k], TaskCount: c.tasks,
				Task:   inspect.Task{Type: k.taskType},
				Detail: c.detail(code), ConfirmedAt: now,
			}
			if len(queues[k]) == 1 {
				f.Task.Queue = queues[k][0]
			}
			r.publish(c.rule, f)
		}
	}
}

func ruleNumber(b *Bound) int {
	if b == nil {
		return 0
	}
	return b.Number
}

// coverage is what is wrong with the brackets of one type.
func (c *typeCase) coverage() []Code {
	if c.rule == nil {
		return []Code{CodeUnclassified}
	}
	entry := c.locked > 0 || c.explicit > 0
	natural := c.rule.Class.Natural()
	if len(c.rule.witnesses()) == 0 {
		switch {
		case natural:
			return nil
		case entry:
			return []Code{CodeEntryOnly}
		default:
			return []Code{CodeUnprotected}
		}
	}
	var codes []Code
	if !natural && !c.rule.stopsSecondRow() {
		// Where repeating is harmless by nature, a second row does no damage.
		codes = append(codes, CodeNoUniqueIndex)
	}
	if !entry {
		codes = append(codes, CodeExitOnly)
	}
	return codes
}

// stopsSecondRow says whether the databases themselves stop a second effect of
// one key, as far as can be told: one unique source of a rule whose sources are
// one transaction is enough, since its failure undoes the others.
func (b *Bound) stopsSecondRow() bool {
	enough := 0
	witnesses := b.witnesses()
	for _, i := range witnesses {
		switch b.facts[i].Unique {
		case UniqueYes, UniqueUnknown:
			enough++
		case UniquePrefix:
			if b.Effects() > 1 {
				enough++
			}
		}
	}
	if b.NotAtomic {
		return enough == len(witnesses)
	}
	return enough > 0
}

// detail says which sources a coverage finding speaks of, and why.
func (c *typeCase) detail(code Code) string {
	switch code {
	case CodeNoUniqueIndex:
		var why []string
		for _, i := range c.rule.witnesses() {
			f := c.rule.facts[i]
			if f.Unique == UniqueNo || f.Unique == UniquePrefix {
				why = append(why, fmt.Sprintf("%s.%s: %s", f.Table, f.Column, cmp.Or(f.NotUnique, "no unique index")))
			}
		}
		return strings.Join(why, "; ")
	case CodeEntryOnly:
		return fmt.Sprintf("%d of %d tasks have a uniqueness lock, %d an ID of their own", c.locked, c.tasks, c.explicit)
	}
	return ""
}
