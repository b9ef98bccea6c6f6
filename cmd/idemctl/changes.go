package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// changeFlags say how changes are let through. Everything that changes anything
// goes the same way: a plan, a question, a journal, and then the changes.
type changeFlags struct {
	all    bool
	dryRun bool
	yes    bool
	reason string
}

func (c *changeFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "select everything in scope; needed where nothing narrows the selection")
	f.BoolVar(&c.dryRun, "dry-run", false, "show the plan and change nothing")
	f.BoolVarP(&c.yes, "yes", "y", false, "do not ask; without it and without a terminal nothing is changed")
	journalFlag(cmd)
}

// allowed refuses changes where the context does.
func (c *changeFlags) allowed(s *session) error {
	context := s.settings.Context
	if context.ReadOnly.Value && !c.dryRun {
		return &usageError{
			err:  fmt.Errorf("context %q is read-only (%s)", context.Name.Value, context.ReadOnly.Source),
			hint: "--dry-run shows the plan; another --context may allow the change",
		}
	}
	return nil
}

// selected refuses a selection that says nothing.
func (c *changeFlags) selected(narrowed bool) error {
	if narrowed || c.all {
		return nil
	}
	return &usageError{
		err:  errors.New("nothing says which: a change never means everything by itself"),
		hint: "name a queue, type, ID or kind, or say --all",
	}
}

// carryOut shows the plan, asks, applies, and shows what came of it.
func (c *changeFlags) carryOut(ctx context.Context, p *program, l *look, plan *reconcile.Plan, command, verb string) error {
	out, err := render.NewChanges(p.out, l.page, plan)
	if err != nil {
		return usagef("--output: %w", err)
	}
	if err := out.Plan(); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	run := plan.Runnable()
	agreed := false
	if run > 0 && !c.dryRun {
		if agreed, err = c.agree(p, l.session, fmt.Sprintf("%s %d, hold %d?", verb, run, len(plan.Steps)-run)); err != nil {
			return err
		}
	}
	if !agreed {
		if err := out.Close(false, "", nil); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		if c.yes && !c.dryRun && run < len(plan.Steps) {
			return outcome(exitFindings) // all of it is held
		}
		return nil
	}
	problem, err := c.apply(ctx, p, l, plan, command, out)
	if err != nil {
		return err
	}
	if err := out.Close(true, l.settings.Context.Journal.File.Value, problem); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	switch {
	case errors.Is(problem, context.Canceled), errors.Is(problem, context.DeadlineExceeded):
		return outcome(exitIncomplete) // what was concluded was printed
	case problem != nil:
		return problem
	}
	if !out.Clean() {
		return outcome(exitFindings)
	}
	return nil
}

// apply opens the journal and makes the changes. The problem is what ended the
// run early; the error that nothing was begun.
func (c *changeFlags) apply(ctx context.Context, p *program, l *look, plan *reconcile.Plan, command string, out *render.Changes) (problem, err error) {
	j, err := p.openJournal(ctx, l.settings, command)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	run := journal.Run{Context: l.settings.Context.Name.Value, Command: command, Reason: c.reason}
	return l.auditor.Apply(ctx, l.queue, j.Journal, run, *plan, reconcile.Application{Tell: out.Applied}), nil
}

// agree asks. A protected context wants its name, which --yes does not give.
func (c *changeFlags) agree(p *program, s *session, question string) (bool, error) {
	context := s.settings.Context
	name := context.Name.Value
	switch {
	case context.Protected.Value && !p.inTerminal:
		return false, &usageError{
			err:  fmt.Errorf("context %q is protected (%s): its name has to be typed at a terminal", name, context.Protected.Source),
			hint: "--dry-run shows the plan",
		}
	case context.Protected.Value:
		question += " Type the context's name (" + name + ") to go on:"
	case c.yes:
		return true, nil
	case !p.inTerminal:
		p.log.warnf("nothing was changed: this is no terminal, and --yes was not given")
		return false, nil
	default:
		question += " [y/N]"
	}
	fmt.Fprintf(p.err, "%s ", render.Visible(question))
	line, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && line == "" {
		return false, nil
	}
	typed := strings.TrimSpace(line)
	if context.Protected.Value {
		return typed == name, nil
	}
	return strings.EqualFold(typed, "y") || strings.EqualFold(typed, "yes"), nil
}
