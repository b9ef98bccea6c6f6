package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// EndedEarlyError says that a run ended before its plan did. Steps that it never
// began are as they were, and nothing takes them up by itself: a new plan of the
// same selection has them.
type EndedEarlyError struct {
	// Why is for an operator: "stopped by the operator", "the canary failed: …". Where
	// a context ended the run, it is the text of the context's cause, if it has one of
	// its own.
	Why string
	// Run is its ID in the journal; "" where it had not begun there.
	Run string
	// Planned is how many steps the run was to make, NotBegun how many of them it did
	// not try. That may be none: the last may have failed, or the look after it.
	Planned, NotBegun int
	// Err is what ended it.
	Err error
}

func (e *EndedEarlyError) Error() string { return e.Why }

// Unwrap is what ended the run: ctx's error, a *CanaryError, a *StoppedError, a
// *LedgerError, an *inspect.Error, or what the journal said.
func (e *EndedEarlyError) Unwrap() error { return e.Err }

// early says how the run ended that was to make so many steps.
func (e *execution) early(ctx context.Context, err error, planned int) *EndedEarlyError {
	return &EndedEarlyError{Why: e.why(ctx, err), Planned: planned, NotBegun: planned - e.begun, Err: err}
}

// endEarly writes it into the journal, and is the error of the run.
func endEarly(j *journal.Journal, run string, early *EndedEarlyError) error {
	early.Run = run
	return errors.Join(early, j.EndEarly(run, early.Why, early.NotBegun))
}

// why says in an operator's words what ended a run.
func (e *execution) why(ctx context.Context, err error) string {
	var (
		canary  *CanaryError
		stopped *StoppedError
		copying *journal.CopyError
		ledger  *LedgerError
		redis   *inspect.Error
	)
	switch {
	case errors.As(err, &canary):
		return "the canary failed: " + strings.TrimPrefix(oneLine(canary), "canary: ")
	case errors.As(err, &stopped) && e.tooManyFailures():
		return fmt.Sprintf("stopped after %s: %s", plural(e.moves.out.failed, "failure"), stopped.Why)
	case errors.As(err, &stopped):
		return oneLine(stopped)
	case ctx.Err() != nil:
		return interruption(ctx)
	case errors.As(err, &copying):
		return oneLine(err)
	case errors.As(err, &ledger):
		return lostOr(ledger.Kind == LedgerUnreachable || ledger.Kind == LedgerTimeout, "the ledger", ledger)
	case errors.As(err, &redis):
		return lostOr(!refusing(redis), "Redis", redis)
	}
	return oneLine(err)
}

func (e *execution) tooManyFailures() bool {
	return e.guardsFailures() && e.moves.out.failed >= e.opt.StopAfterFailures
}

// interruption says who or what ended the context. One that was ended without a
// cause was ended by whoever started the run.
func interruption(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return "its time ran out (--timeout)"
	case cause == context.Canceled: //nolint:errorlint // a cause of its own may be one, too, and has better words
		return "stopped by the operator"
	default:
		return oneLine(cause)
	}
}

// refusing says whether Redis answered, and would not.
func refusing(err *inspect.Error) bool {
	switch err.Kind {
	case inspect.KindDenied, inspect.KindReadOnlyReplica:
		return true
	case inspect.KindUnknown:
		return inspect.Refused(err)
	}
	return false
}

func lostOr(lost bool, what string, err error) string {
	if lost {
		return what + " was lost: " + oneLine(err)
	}
	return what + " refused: " + oneLine(err)
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// leave marks an item that the run ended before.
func (it *Applied) leave(why string) {
	it.Outcome, it.Found, it.Unbegun = journal.OutcomeRefused, "not begun: "+why, true
}

// giveUp marks the items of a chunk that an error kept from being tried, and gives
// the error back.
func (e *execution) giveUp(ctx context.Context, items []Applied, err error) error {
	why := e.why(ctx, err)
	var refused []journal.Record
	for i := range items {
		it := &items[i]
		if it.Outcome != journal.OutcomeUnknown {
			refused = append(refused, it.result())
			continue
		}
		it.leave(why)
	}
	if len(refused) > 0 {
		_ = e.j.Settle(refused...) // a journal that cannot take it ends the run with its own error
	}
	return err
}
