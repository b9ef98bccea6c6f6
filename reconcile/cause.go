package reconcile

import (
	"strings"

	"github.com/idemctl/idemctl/inspect"
)

// Cause says why a task failed, as far as its last error and counters say, and
// never further. The zero value is CauseUnknown.
type Cause string

const (
	CauseUnknown    Cause = ""
	CauseNone       Cause = "none"             // no failure recorded
	CauseHandler    Cause = "handler-error"    // the handler returned an error
	CausePanic      Cause = "panic"            // the handler panicked
	CauseTimeout    Cause = "timeout"          // context deadline exceeded
	CauseCancelled  Cause = "cancelled"        // context canceled
	CauseLease      Cause = "lease-expired"    // the worker died or lost Redis
	CauseDuplicate  Cause = "duplicate-effect" // a unique violation: the work was found done
	CauseSkipRetry  Cause = "skip-retry"       // the handler asked for no more attempts
	CauseNoHandler  Cause = "no-handler"       // no handler is registered for the type
	CauseByOperator Cause = "archived-by-operator"
	CauseUncounted  Cause = "uncounted" // in retry with retried = 0: IsFailure said no
)

// Causes lists the causes, in the order of their declaration.
func Causes() []Cause {
	return []Cause{
		CauseUnknown, CauseNone, CauseHandler, CausePanic, CauseTimeout, CauseCancelled, CauseLease, CauseDuplicate,
		CauseSkipRetry, CauseNoHandler, CauseByOperator, CauseUncounted,
	}
}

// Texts asynq itself writes as the last error: recoverer.go (ErrLeaseExpired),
// processor.go (SkipRetry; perform wraps a panic in PanicError, whose text is in
// internal/errors), servemux.go (NotFound). The context texts are the standard
// library's.
const (
	textLease     = "asynq: task lease expired"
	textTimeout   = "context deadline exceeded"
	textCancelled = "context canceled"
	textSkipRetry = "skip retry for the task"
	textPanic     = "panic error cause by: "
	textNoHandler = `handler not found for task "`
)

// duplicateTexts are what drivers and mappers say of a violated unique
// constraint: PostgreSQL's SQLSTATE 23505 (pgx, lib/pq), MySQL's error 1062,
// SQLite's UNIQUE failures (codes 1555 and 2067), and gorm's ErrDuplicatedKey.
var duplicateTexts = []string{
	"SQLSTATE 23505",
	"duplicate key value violates unique constraint",
	"Error 1062 ", "Error 1062:",
	"Duplicate entry '",
	"UNIQUE constraint failed",
	"duplicated key not allowed",
}

func saysDuplicate(text string) bool {
	if text == "" {
		return false
	}
	for _, d := range duplicateTexts {
		if strings.Contains(text, d) {
			return true
		}
	}
	return false
}

// CauseOf reads the cause of a task's last failure. The order of the tests is
// part of its meaning: a duplicate effect is told from any other handler error
// first, because it says that the work was found done.
func CauseOf(t inspect.Task) Cause {
	text := t.LastErr
	switch {
	case saysDuplicate(text):
		return CauseDuplicate
	case t.State == inspect.StateRetry && t.Retried == 0:
		return CauseUncounted
	case strings.Contains(text, textSkipRetry):
		return CauseSkipRetry
	case t.State == inspect.StateArchived && t.Retried < t.MaxRetry:
		return CauseByOperator
	case text == textLease:
		return CauseLease
	case text == textTimeout:
		return CauseTimeout
	case text == textCancelled:
		return CauseCancelled
	case strings.HasPrefix(text, textPanic):
		return CausePanic
	case strings.HasPrefix(text, textNoHandler):
		return CauseNoHandler
	case text == "" && t.LastFailedAt.IsZero():
		return CauseNone
	default:
		return CauseHandler
	}
}
