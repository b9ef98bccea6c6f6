package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/reconcile/planfile"
)

// moving is a plan on its way: everything that changes anything goes through it.
// The plan is shown, somebody agrees, the journal is opened, and the changes are
// made.
type moving struct {
	*program
	look    *look
	change  *changeFlags
	plan    *reconcile.Plan
	how     reconcile.Application
	verb    string // for the question
	command string // for the journal, without secrets
	digest  string // of the plan file; "" where there is none
	// counted says that everything was selected, so that the number of tasks is to
	// be typed; count is that number, for who is not asked (0: none was given).
	counted bool
	count   int
	nothing string // why the plan has nothing, where that is known
}

// carryOut shows the plan, asks, applies, and shows what came of it.
func (m *moving) carryOut(ctx context.Context) error {
	out, err := render.NewChanges(m.out, m.look.page, m.plan)
	if err != nil {
		return usagef("--output: %w", err)
	}
	out.BecauseOf(m.nothing)
	if err := out.Plan(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	m.openRuns()
	m.leftOut(m.look.auditor)
	agreed, err := m.agreed(ctx)
	if err != nil {
		return err
	}
	if !agreed {
		return m.leave(out)
	}
	server, err := m.look.server(ctx)
	if err != nil {
		return err
	}
	run := journal.Run{
		ID: journal.NewRunID(m.now()), Context: m.look.settings.Context.Name.Value, Server: server.String(),
		Command: m.command, Reason: m.change.reason, PlanDigest: m.digest,
	}
	problem, err := m.apply(ctx, run, out)
	if err != nil {
		return err
	}
	place := m.look.settings.Context.Journal
	done := render.Carried{Journal: place.File.Value, Run: journalled(problem, run.ID), Redacted: place.Redact.Value, Problem: problem}
	if err := out.Close(&done); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return ended(problem, out.Touched(), out.Clean())
}

// journalled is the run's ID; "" where the run ended before it was in the journal.
func journalled(problem error, id string) string {
	var early *reconcile.EndedEarlyError
	if errors.As(problem, &early) {
		return early.Run
	}
	return id
}

// agreed says whether the plan is to be carried out.
func (m *moving) agreed(ctx context.Context) (bool, error) {
	run := m.plan.Runnable()
	if run == 0 || m.change.dryRun {
		return false, nil
	}
	count := 0
	if m.counted && m.change.yes && m.count == 0 || m.count != 0 && m.count != run {
		return false, m.miscounted(run)
	}
	if m.counted {
		count = run
	}
	question := fmt.Sprintf("%s %d", m.verb, run)
	if n := min(m.how.Canary, run); n > 0 {
		question += fmt.Sprintf(" (%d first, as canaries)", n)
	}
	for i := range m.plan.Steps {
		if s := &m.plan.Steps[i]; s.Forced && s.Reason != "" {
			question += fmt.Sprintf(" (forced, though %s)", s.Reason)
		}
	}
	question += fmt.Sprintf(", hold %d?", len(m.plan.Steps)-run)
	return m.change.agreeTo(ctx, m.program, m.look.session, question, count)
}

// openRuns says that earlier runs have changes whose outcome nobody knows.
func (m *moving) openRuns() {
	path := m.look.settings.Context.Journal.File.Value
	open := 0
	for _, err := range journal.Pending(path) {
		if err == nil {
			open++
		} else if !journal.GoesOn(err) {
			return // there is no journal yet, or opening it will say what is wrong
		}
	}
	if open > 0 {
		m.log.warnf("the journal has %s of earlier runs whose outcome is not known: idemctl journal resume", plural(open, "change"))
	}
}

func (m *moving) miscounted(run int) error {
	err := fmt.Errorf("--all with --yes needs --count, and the plan would %s %d", m.verb, run)
	if m.count != 0 {
		err = fmt.Errorf("--count %d: the plan would %s %d", m.count, m.verb, run)
	}
	return &usageError{err: err, hint: "nothing was changed; --dry-run shows the plan"}
}

// leave ends a plan that is not carried out.
func (m *moving) leave(out *render.Changes) error {
	if err := out.Close(nil); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	if m.change.yes && !m.change.dryRun && m.plan.Runnable() < len(m.plan.Steps) {
		return outcome(exitFindings) // all of it is held
	}
	return nil
}

// apply opens the journal and makes the changes. The problem is what ended the
// run early; the error that nothing was begun.
func (m *moving) apply(ctx context.Context, run journal.Run, out *render.Changes) (problem, err error) {
	j, err := m.openJournal(ctx, m.look.settings, m.command)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	survivePipe()
	if m.digest == "" && m.plan.Moves != nil {
		file, err := m.file(ctx, time.Hour)
		if err != nil {
			return nil, err
		}
		run.PlanDigest = file.Digest
	}
	bar := m.newMoveProgress(m.plan.Runnable())
	defer bar.done()
	how := m.how
	how.Tell = func(a reconcile.Applied) {
		bar.clear()
		out.Applied(a)
		bar.applied(a)
	}
	how.Waits, how.Watched = bar.waits, func(w reconcile.Watched) { out.Watched(w) }
	return m.look.auditor.Apply(ctx, m.look.queue, j.Journal, run, *m.plan, how), nil
}

// ended is the exit code of a plan that was carried out.
func ended(problem error, touched, clean bool) error {
	var canary *reconcile.CanaryError
	var stopped *reconcile.StoppedError
	switch {
	case errors.Is(problem, context.Canceled), errors.Is(problem, context.DeadlineExceeded):
		return outcome(exitIncomplete) // what was concluded was printed
	case errors.As(problem, &canary), errors.As(problem, &stopped):
		return outcome(exitFindings)
	case problem != nil && touched:
		return &brokenOff{problem}
	case problem != nil:
		return problem
	case !clean:
		return outcome(exitFindings)
	}
	return nil
}

// writePlan writes the plan to a file instead of carrying it out.
func (m *moving) writePlan(ctx context.Context, path string, expiry time.Duration) error {
	out, err := render.NewChanges(m.out, m.look.page, m.plan)
	if err != nil {
		return usagef("--output: %w", err)
	}
	file, err := m.file(ctx, expiry)
	if err != nil {
		return err
	}
	if err := file.Write(path); err != nil {
		return err
	}
	if err := out.Plan(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	if err := out.Close(nil); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	m.leftOut(m.look.auditor)
	line := strings.TrimSpace("idemctl apply " + reconcile.ShellQuote(path) + " " + m.same)
	if len(m.unsaid) > 0 {
		line += " (with the same " + strings.Join(m.unsaid, " ") + ")"
	}
	m.log.notef("plan written to %s, to be applied before %s: %s", path, file.ExpiresAt.Format(time.RFC3339), line)
	return nil
}

// file is the plan as a file.
func (m *moving) file(ctx context.Context, expiry time.Duration) (*planfile.File, error) {
	identity, err := m.look.server(ctx)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	return planfile.New(m.plan, planfile.Origin{
		Operator: operator(), Host: host, Context: m.look.settings.Context.Name.Value, Command: m.command,
		Redis: identity, Ledgers: plannedLedgers(m.look), Expiry: expiry,
	})
}
