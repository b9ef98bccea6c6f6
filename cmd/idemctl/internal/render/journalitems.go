package render

import (
	"encoding/json"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// JournalItem is what a run did with one item, without the task.
type JournalItem struct {
	Item string
	// Outcome is that of the last result, or "pending" where there is none.
	Outcome                             string
	Change, Queue, TaskID, Type, Target string
	Found, Error, Reason                string
	Evidence                            json.RawMessage
	// HasTask says that the intent holds the task, Redacted that bytes of it were
	// hidden.
	HasTask, Redacted bool
	// NotBegun says that the run ended before the item, which is refused then.
	NotBegun          bool
	Intended, Settled time.Time
	// SettledBy is OPERATOR@HOST where another run settled it.
	SettledBy string
}

const outcomePending = "pending"

// JournalItems gathers the items of one run from its records, in their order. The
// zero value is ready.
type JournalItems struct {
	// HidesKey says that no output may show the keys of a type in a queue, whatever
	// was known of that when they were written; nil hides none.
	HidesKey func(taskType, queue string) bool

	list  []JournalItem
	index map[string]int
}

// Add takes one record of the run.
func (l *JournalItems) Add(r *journal.Record) {
	switch r.Kind {
	case journal.KindIntent:
		i := l.item(r.Item)
		i.Change, i.Queue, i.TaskID, i.Target = string(r.Change), r.Queue, r.TaskID, r.Target
		i.HasTask, i.Type = r.Task != nil, typeOfImage(r.Task)
		hides := l.HidesKey != nil && l.HidesKey(i.Type, r.Queue)
		i.Reason, i.Evidence, i.Intended = r.Reason, shownEvidence(r.Evidence, hides), r.At
		i.Redacted = r.Task != nil && r.Task.Redacted
	case journal.KindResult:
		i := l.item(r.Item)
		i.Outcome, i.Found, i.Error, i.Settled = r.Outcome.String(), r.Found, r.Error, r.At
		i.SettledBy, i.NotBegun = settledBy(r), r.NotBegun > 0
		// A refusal without an intent may say whose it is.
		if i.Intended.IsZero() {
			i.Change, i.Queue, i.TaskID, i.Target = string(r.Change), r.Queue, r.TaskID, r.Target
		}
	case journal.KindRun, journal.KindEnd, journal.KindUnknown:
	}
}

func settledBy(r *journal.Record) string {
	if r.Operator == "" && r.Host == "" {
		return ""
	}
	return r.Operator + "@" + r.Host
}

func (l *JournalItems) item(name string) *JournalItem {
	if l.index == nil {
		l.index = map[string]int{}
	}
	at, known := l.index[name]
	if !known {
		at = len(l.list)
		l.index[name] = at
		l.list = append(l.list, JournalItem{Item: name, Outcome: outcomePending})
	}
	return &l.list[at]
}

// All are the items, in the order of their first records.
func (l *JournalItems) All() []JournalItem { return l.list }

// typeOfImage is the task's type; "" where its message cannot be read.
func typeOfImage(t *journal.TaskImage) string {
	if t == nil {
		return ""
	}
	for _, f := range t.Fields {
		if f.Name == "msg" {
			task, _ := inspect.DecodeMessage(inspect.Ref{}, []byte(f.Value))
			return task.Type
		}
	}
	return ""
}
