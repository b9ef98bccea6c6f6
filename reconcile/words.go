package reconcile

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// The words of a finding, in the order a person needs them: what is wrong with
// its evidence, what happens if nobody acts, and the one command to type next.
// Texts that came from a queue are not made safe for a terminal here; renderers
// do that.

// Message says what is wrong, with the two facts and their times, in one line.
func (f *Finding) Message() string {
	switch f.Code {
	case CodeAppliedActive:
		return fmt.Sprintf("its effect is applied%s, and a worker still runs it", f.at())
	case CodeAppliedOrphaned:
		return fmt.Sprintf("its effect is applied%s, but its worker is gone (lease ended %s)", f.at(), stamp(f.Task.LeaseExpiresAt))
	case CodeAppliedWaiting:
		return fmt.Sprintf("its effect is applied%s, and it waits to run%s (%s)", f.at(), f.due(), f.Task.State)
	case CodeAppliedRetry:
		return fmt.Sprintf("its effect is applied%s, and it will be retried%s", f.at(), f.due())
	case CodeAppliedArchived:
		return fmt.Sprintf("archived as failed (%s), but its effect is applied%s", f.cause(), f.at())
	case CodeOrphaned:
		return fmt.Sprintf("its worker is gone (lease ended %s) and its effect is not applied", stamp(f.Task.LeaseExpiresAt))
	case CodeLost:
		return fmt.Sprintf("archived (%s), and not applied as of %s, if no attempt outlives %s",
			f.cause(), stamp(f.ConfirmedAt), f.Settle)
	case CodeUnsettled:
		return "not to be judged yet: " + f.unsettled()
	case CodeUnmarked:
		return fmt.Sprintf("asynq calls it done (%s), but no row says so", stamp(f.Task.CompletedAt))
	case CodeInDoubt:
		return fmt.Sprintf("%s, and its row is in progress: nobody can say whether it took effect", f.Task.State)
	case CodePartial:
		return "half applied: " + f.halves()
	case CodeRerunnable:
		return fmt.Sprintf("archived (%s); repeating it is harmless by its nature", f.cause())
	case CodeUnknown:
		return fmt.Sprintf("archived (%s), and nobody can say whether it took effect: %s", f.cause(), f.why())
	case CodeParked:
		return "archived by hand before any attempt failed; its effect is not applied"
	case CodeStaleClaim:
		return fmt.Sprintf("its row was claimed %s and never finished; no worker runs it", stamp(f.claimed()))
	case CodeDuplicated:
		return fmt.Sprintf("its key has %d effect rows", f.effects())
	case CodeMismatch:
		return "the row under its key is another payload's: " + f.Detail
	case CodeKeyMissing:
		return "its key cannot be built: " + f.Detail
	case CodeKeyCollision:
		return fmt.Sprintf("%d unfinished tasks have the key %q", f.TaskCount, f.ShownKey())
	case CodeIDShared:
		return fmt.Sprintf("the task ID %q is in several queues, and their rules look for it in one table", f.Key)
	case CodeStaleMark:
		return fmt.Sprintf("its row%s is older than the task itself", f.at())
	case CodeUnprotected:
		return fmt.Sprintf("%s of type %s: nothing stops a second effect", plural(f.TaskCount, "task"), f.Task.Type)
	case CodeUnclassified:
		return fmt.Sprintf("%s of type %s: no rule speaks of them", plural(f.TaskCount, "task"), f.Task.Type)
	case CodeNoUniqueIndex:
		return fmt.Sprintf("type %s: the database would accept a second row of one key (%s)", f.Task.Type, f.Detail)
	case CodeEntryOnly:
		return fmt.Sprintf("type %s is guarded on entry only (%s)", f.Task.Type, f.Detail)
	case CodeExitOnly:
		return fmt.Sprintf("type %s is guarded on exit only: no uniqueness lock and no ID of its own", f.Task.Type)
	}
	message, _ := f.familyWords()
	return message
}

// familyWords is message and consequence of the findings on entry and structure.
func (f *Finding) familyWords() (message, consequence string) {
	switch f.Code.Family() {
	case "lock":
		return f.lockWords()
	case "retry":
		return f.retryWords()
	case "integrity":
		return f.integrityWords()
	case "payload":
		return f.payloadWords()
	}
	return f.entryWords()
}

// Consequence says what happens if nobody acts.
func (f *Finding) Consequence() string {
	switch f.Code {
	case CodeAppliedActive:
		return "if its worker dies before it is acknowledged, the task runs again"
	case CodeAppliedOrphaned:
		return "the recoverer hands it to another worker, which repeats the effect unless the handler finds its mark"
	case CodeAppliedWaiting:
		return "it will run, and repeat the effect unless the handler finds its mark"
	case CodeAppliedRetry:
		return "the retry repeats the effect unless the handler finds its mark"
	case CodeAppliedArchived:
		return "whoever runs it again may repeat the effect; until then its ID stays taken"
	case CodeOrphaned:
		return "the recoverer takes it within two minutes if a server serves the queue; else it never runs again"
	case CodeLost:
		return "the work is not done and nothing will do it; a row can still appear if an attempt outlives the settle time"
	case CodeUnsettled:
		return f.waitsFor()
	case CodeUnmarked:
		return "either the work was lost in silence, or the handler writes no mark and every second run will repeat it"
	case CodeInDoubt, CodeUnknown:
		return "running it again may repeat the effect; leaving it may lose the work"
	case CodePartial:
		return "running it again may repeat the half that is done; leaving it loses the half that is not"
	case CodeRerunnable, CodeParked:
		return "nothing will run it until someone does"
	case CodeStaleClaim:
		return "every later attempt finds the claim and skips the work"
	case CodeDuplicated:
		return "the effect has been repeated already"
	case CodeMismatch:
		return "the handler takes another work's row for this one's, and skips it"
	case CodeKeyMissing:
		return "nobody can say whether it took effect, and its handler may not guard it at all"
	case CodeKeyCollision:
		return "the first to finish makes the others look done"
	case CodeIDShared:
		return "whichever runs first makes the other look done: one work is swallowed in silence"
	case CodeStaleMark:
		return "the handler takes an earlier run's mark for this one's, and skips the work"
	case CodeUnprotected:
		return "every retry, crash and deploy can repeat the effect"
	case CodeUnclassified:
		return "nothing is known of their effects: archived ones are reported as unknown"
	case CodeNoUniqueIndex:
		return "two attempts at once both find no row, and both take effect"
	case CodeEntryOnly:
		return "the first crash between the effect and its acknowledgement repeats it"
	case CodeExitOnly:
		return "duplicates are enqueued and run, and only the ledger stops them"
	}
	_, consequence := f.familyWords()
	return consequence
}

// Action is the one command that helps next; "" when there is none.
func (f *Finding) Action() string {
	switch f.Code {
	case CodeLost, CodeRerunnable, CodeParked, CodeAppliedArchived, CodeLockBlocks, CodeIDBlocked, CodeRetryDuplicate:
		return f.moveOrExplain()
	case CodeUnprotected, CodeUnclassified, CodeEntryOnly, CodeExitOnly:
		return "idemctl config view"
	case CodeNoUniqueIndex, CodeClockSkew, CodeSchedulerDuplicate:
		return "idemctl doctor"
	case CodeLockExpiresEarly:
		if !strings.ContainsAny(f.Task.Type+f.Task.Queue, `*?[\`) { // which ttl-calc takes for many
			return Command("idemctl ttl-calc --observed").Only("queue", f.Task.Queue).Only("type", f.Task.Type).String()
		}
	case CodeLockOrphaned, CodeLockPhantom:
		if f.Lock == nil {
			return ""
		}
		return releaseCommand(f.Lock.Key)
	}
	switch f.Code.Family() {
	case "integrity":
		return f.repair()
	case "payload":
		return f.payloadAction()
	}
	return f.explain()
}

// explain is the command that tells all of the finding's task; "" where there
// is none, or where no shell can pass its name on.
func (f *Finding) explain() string {
	if f.Task.ID == "" {
		return ""
	}
	return Command("idemctl explain").Operands(f.Task.Queue, f.Task.ID).String()
}

// releaseCommand releases one lock; "" where no shell can pass its key on.
func releaseCommand(key string) string {
	return Command("idemctl locks release").Flag("key", key).String()
}

// moveOrExplain is the command that moves an archived task, where one does.
func (f *Finding) moveOrExplain() string {
	if f.stays {
		return f.explain()
	}
	switch f.Code {
	case CodeLost, CodeRerunnable, CodeParked:
		return f.move("requeue")
	case CodeAppliedArchived:
		return f.move("resolve")
	}
	switch {
	case f.Task.State == inspect.StateArchived && f.Status == StatusApplied:
		return f.move("resolve")
	case f.Task.State == inspect.StateArchived && f.Status == StatusNotApplied:
		return f.move("requeue")
	}
	return f.explain()
}

// move is the command that moves the finding's archived task; "" where there is
// none, or where no shell can pass its name on.
func (f *Finding) move(command string) string { return moveCommand(command, f.Task.Ref) }

func moveCommand(command string, ref inspect.Ref) string {
	if ref.ID == "" {
		return ""
	}
	return Command("idemctl "+command).Only("queue", ref.Queue).Flag("id", ref.ID).String()
}

func (f *Finding) due() string {
	if f.Task.NextProcessAt.IsZero() {
		return ""
	}
	return " at " + stamp(f.Task.NextProcessAt)
}

func (f *Finding) cause() string {
	if f.Cause == CauseUnknown {
		return "cause unknown"
	}
	return string(f.Cause)
}

// reasonWords say why a status is unknown.
var reasonWords = map[Reason]string{
	ReasonNoRule:       "no rule matches its type",
	ReasonKeyMissing:   "its key cannot be built",
	ReasonLedger:       "its ledger could not be read",
	ReasonReplica:      "the ledger is a replica, which cannot prove that a row is absent",
	ReasonRetention:    "its row may have been pruned since",
	ReasonNotAtomic:    "mark and effect are not one transaction, so that no row proves nothing",
	ReasonEmptySource:  "the table is empty, which proves nothing",
	ReasonNoSource:     "its rule names no table to look into",
	ReasonUndecodable:  "its stored message cannot be read",
	ReasonStateUnknown: "its state is unknown",
	ReasonSettling:     "its last attempt may still be writing",
	ReasonTwin:         "another task of the same key is alive",
	ReasonWriter:       "a transaction that is older than its last attempt still writes",
	ReasonChanging:     "task and row would not hold still",
}

// Words says the reason as a clause; "" for none.
func (r Reason) Words() string { return reasonWords[r] }

func (f *Finding) why() string {
	if f.Detail != "" && f.Reason != ReasonLedger {
		return f.Reason.Words() + " (" + f.Detail + ")"
	}
	return f.Reason.Words()
}

// waitsFor says when an unsettled effect can be judged.
func (f *Finding) waitsFor() string {
	switch {
	case !f.SettlesAt.IsZero():
		return "it can be judged after " + stamp(f.SettlesAt)
	case f.Reason == ReasonTwin:
		return "it can be judged when the other task of its key is done"
	case f.Reason == ReasonWriter:
		return "it can be judged when that transaction has ended"
	case f.Reason == ReasonChanging:
		return "it can be judged when it has come to rest"
	}
	return "it cannot be judged: its attempts have no end that is known"
}

func (f *Finding) unsettled() string { return f.Reason.Words() }

// halves says which sources have a finished row, which have one that is not, and which
// have none. Only a row that is missing shows that the rows are not written in one
// transaction: two that are, may still be finished one after the other.
func (f *Finding) halves() string {
	var have, begun, lack []string
	for _, r := range f.Readings {
		switch {
		case r.Source.Role != RoleMark && r.Source.Role != RoleEffect:
		case r.Row.Passing > 0:
			have = append(have, r.Source.Table)
		case r.Row.Count > 0:
			begun = append(begun, r.Source.Table)
		default:
			lack = append(lack, r.Source.Table)
		}
	}
	words := strings.Join(have, " and ") + " has it"
	if len(begun) > 0 {
		words += ", " + strings.Join(begun, " and ") + " has an unfinished row"
	}
	if len(lack) > 0 {
		words += ", " + strings.Join(lack, " and ") + " has not; mark and effect are not one transaction"
	}
	return words
}

func (f *Finding) claimed() time.Time {
	var at time.Time
	for _, r := range f.Readings {
		if r.Row.ClaimedAt.After(at) {
			at = r.Row.ClaimedAt
		}
	}
	return at
}

func (f *Finding) effects() int64 {
	var n int64
	for _, r := range f.Readings {
		if r.Source.Role == RoleEffect {
			n = max(n, r.Row.Passing)
		}
	}
	return n
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// stateWords say what a state means for what happens next.
func stateWords(t inspect.Task) string {
	switch t.State {
	case inspect.StatePending:
		return "a worker takes it as soon as one is free"
	case inspect.StateScheduled:
		if t.NextProcessAt.IsZero() {
			return "it becomes pending when its time comes"
		}
		return "it becomes pending at " + stamp(t.NextProcessAt)
	case inspect.StateRetry:
		if t.NextProcessAt.IsZero() {
			return "it becomes pending again when its time comes"
		}
		return "it becomes pending again at " + stamp(t.NextProcessAt)
	case inspect.StateAggregating:
		return "its group is handed to a worker as one task, under a new ID"
	case inspect.StateActive:
		return "a worker runs it"
	case inspect.StateArchived:
		return "nothing runs it until someone does"
	case inspect.StateCompleted:
		return "it is kept until " + stamp(t.ExpiresAt) + " and then deleted"
	}
	return "unknown"
}
