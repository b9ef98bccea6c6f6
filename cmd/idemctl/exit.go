package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/planfile"
)

// The exit codes are a contract; this file alone maps errors to them.
const (
	exitDone       = 0 // done, and nothing at or above --fail-on
	exitFindings   = 1 // done, with findings at or above --fail-on
	exitUsage      = 2 // wrong usage or configuration
	exitSource     = 3 // a source cannot be reached or read; nothing was concluded
	exitIncomplete = 4 // interrupted, timed out, or a source was lost on the way
)

// usageError is a mistake on the command line.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// writeError says that results could not be written: what was printed is not
// all there is.
type writeError struct{ err error }

func (e *writeError) Error() string { return fmt.Sprintf("writing results: %v", e.err) }
func (e *writeError) Unwrap() error { return e.err }

// brokenOff is what ended a plan or its changes early: what was done by then was
// printed.
type brokenOff struct{ err error }

func (e *brokenOff) Error() string { return e.err.Error() }
func (e *brokenOff) Unwrap() error { return e.err }

// outcome ends a command with an exit code and no message of its own: what there
// is to say was printed.
type outcome int

func (o outcome) Error() string { return fmt.Sprintf("exit %d", int(o)) }

// exitCode maps an error to the exit code.
func exitCode(err error) int {
	var (
		end     outcome
		usage   *usageError
		one     *config.Error
		several config.Errors
		queue   *reconcile.QueueError
		rule    *reconcile.RuleError
		task    *reconcile.TaskError
		redis   *inspect.Error
		ledger  *reconcile.LedgerError
		write   *writeError
		plan    *planfile.Error
		broken  *brokenOff
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &write), errors.As(err, &broken):
		return exitIncomplete
	case errors.As(err, &end):
		return int(end)
	case errors.As(err, &usage), errors.As(err, &one), errors.As(err, &several), errors.As(err, &plan),
		errors.As(err, &queue), errors.As(err, &rule), errors.As(err, &task):
		return exitUsage
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitIncomplete
	case errors.As(err, &redis):
		if redis.Kind == inspect.KindBadAddress {
			return exitUsage
		}
		return exitSource
	case errors.As(err, &ledger):
		if ledger.Kind == reconcile.LedgerBadDSN || ledger.Kind == reconcile.LedgerBadSource {
			return exitUsage
		}
		return exitSource
	case errors.Is(err, inspect.ErrQueueNotFound):
		return exitUsage
	}
	return exitSource
}

// report prints an error and what to type next, on standard error alone.
func report(w io.Writer, err error) {
	var end outcome
	if err == nil || errors.As(err, &end) {
		return
	}
	for _, line := range errorLines(err) {
		fmt.Fprintf(w, "idemctl: error: %s\n", render.Visible(line))
	}
	for _, hint := range hints(err) {
		fmt.Fprintf(w, "idemctl: hint: %s\n", render.Visible(hint))
	}
}

// errorLines is one line for each mistake.
func errorLines(err error) []string {
	var several config.Errors
	if errors.As(err, &several) {
		lines := make([]string, len(several))
		for i, e := range several {
			lines[i] = e.Error()
		}
		return lines
	}
	if errors.Is(err, context.Canceled) {
		return []string{"interrupted before anything was concluded"}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return []string{"timed out before anything was concluded"}
	}
	return strings.Split(err.Error(), "\n")
}

// hints is what to type next, where an error knows it.
func hints(err error) []string {
	var (
		usage   *usageError
		one     *config.Error
		several config.Errors
		queue   *reconcile.QueueError
		redis   *inspect.Error
		ledger  *reconcile.LedgerError
		plan    *planfile.Error
		out     []string
	)
	add := func(hint string) {
		if hint != "" {
			out = append(out, strings.Split(hint, "\n")...)
		}
	}
	switch {
	case errors.As(err, &usage):
		add(usage.hint)
	case errors.As(err, &plan):
		add(plan.Hint)
	case errors.As(err, &several):
		for _, e := range several {
			add(e.Hint)
		}
	case errors.As(err, &one):
		add(one.Hint)
	case errors.As(err, &queue):
		add(queueHint(queue))
	case errors.As(err, &redis):
		add(redis.Hint())
	case errors.As(err, &ledger):
		add(ledgerHint(ledger))
	case errors.Is(err, context.DeadlineExceeded):
		add("give more time with --timeout, or narrow the audit with -q, -s or -t")
	}
	return out
}

// ledgerHint is what to do about a ledger; one that was lost without a word of its own
// is looked for.
func ledgerHint(e *reconcile.LedgerError) string {
	switch {
	case e.Hint != "":
		return e.Hint
	case e.Kind == reconcile.LedgerUnreachable:
		return "check that the ledger's server runs and can be reached: idemctl doctor"
	case e.Kind == reconcile.LedgerTimeout:
		return "raise --ledger-timeout, or try again when the ledger has less to do"
	}
	return ""
}

// queueHint names the queues that were meant.
func queueHint(e *reconcile.QueueError) string {
	if len(e.Known) == 0 {
		return "Redis knows no queue at all: is this the right server and database (--uri, --db)?"
	}
	near := nearest(e.Pattern, e.Known, 3)
	for i := range near {
		near[i] = render.Visible(near[i]) // a line end in it would begin another hint
	}
	return "known queues: " + strings.Join(near, ", ") + rest(len(e.Known)-len(near))
}

func rest(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
