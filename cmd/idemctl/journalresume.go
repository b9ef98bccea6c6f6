package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

type journalResumeOptions struct {
	*program
	output outputFlags
	change changeFlags
	pace   paceFlags

	restart restartFlag
}

func newJournalResume(p *program) *cobra.Command {
	o := &journalResumeOptions{program: p}
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Settle what a killed or cut-off run left open, and finish it",
		Long: `resume looks at each change whose outcome the journal does not know: a run was
killed, or its connection broke. What was made is settled as done. What was
not is judged as requeue and resolve judge, with the options that its run had,
and after a question made by a run of its own; what is held stays in the
archive. Repairs and releases of locks are settled, and the command that makes
them is named. Runs of any context that lack an end, and of which nothing is
open any more, get their end, without a question: that changes no task.

What a run had planned and never began is not resumed: nothing of it was
changed. It is named, with the command that plans it anew.

It may be killed at any moment and called again: nothing is lost, and nothing
runs twice by it. A change that is younger than 10 s may still be on its way,
and is waited for. Changes of other contexts are left alone.

Exit codes: 0 done, or nothing to do, or a plan alone; 1 some were not done,
held, refused or failed; 2 usage; 3 a source cannot be read; 4 incomplete.`,
		Example: `  idemctl journal resume --dry-run
  idemctl journal resume`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	pageFlags(cmd)
	changeOutput(cmd, &o.output)
	o.change.addApply(cmd)
	o.pace.addRate(cmd)
	o.restart.add(cmd)
	return cmd
}

func (o *journalResumeOptions) run(ctx context.Context, cmd *cobra.Command) (err error) {
	var how reconcile.Application
	ctx, l, err := o.look(ctx, cmd, &o.output, func() (options reconcile.Options, err error) {
		how, err = o.pace.application()
		return options, err
	})
	if err != nil {
		return err
	}
	defer l.end()
	if err := o.change.allowed(l.session); err != nil {
		return err
	}
	path, err := journalPath(l.settings)
	if err != nil {
		return err
	}
	s := &resumption{program: o.program, look: l, change: &o.change, restart: &o.restart, how: how, path: path, command: commandWords(cmd)}
	if there, err := s.exists(); err != nil {
		return err
	} else if !there {
		o.log.warnf("there is no journal %q yet: nothing is pending", path)
		return s.show(ctx)
	}
	letGo, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, letGo()) }()
	if err := s.plan(ctx); err != nil {
		return err
	}
	return s.show(ctx)
}

// resumption is a resume on its way.
type resumption struct {
	*program
	look    *look
	change  *changeFlags
	restart *restartFlag
	how     reconcile.Application
	path    string
	command string
	journal *changeJournal    // nil where it is only looked at
	endless []string          // runs without an end and with nothing open
	behind  []journal.Summary // runs of which planned items were never begun
	found   reconcile.Resumption
}

// exists says whether there is a journal. One that was named must be there.
func (s *resumption) exists() (bool, error) {
	_, _, err := journal.HeldBy(s.path)
	switch file := s.look.settings.Context.Journal.File; {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, &usageError{err: err}
	case file.Source.Kind == config.SourceDefault:
		return false, nil
	}
	return false, &usageError{err: err, hint: "check --journal FILE"}
}

// hold opens the journal, so that nobody works on what is pending. Where nothing
// is to be written it only makes sure that nobody does.
func (s *resumption) hold(ctx context.Context) (func() error, error) {
	if s.change.dryRun {
		holder, held, err := journal.HeldBy(s.path)
		if err == nil && held {
			err = &journal.HeldError{Path: s.path, Holder: holder}
		}
		if err != nil {
			return nil, &usageError{err: err, hint: "what it works on is pending, too: wait until it has finished"}
		}
		return func() error { return nil }, nil
	}
	var err error
	if s.journal, err = s.openJournal(ctx, s.look.settings, s.command); err != nil {
		return nil, err
	}
	return s.journal.Close, nil
}

// plan reads what is pending, waits until nothing is on its way any more, and
// looks at it.
func (s *resumption) plan(ctx context.Context) error {
	pending, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if err := s.runs(ctx, pending); err != nil {
		return err
	}
	if len(pending) == 0 {
		return nil
	}
	if wait := reconcile.DeliveryWait(pending, s.now()); wait > 0 {
		s.log.warnf("waiting %s: a change of a run that ended just now may still be on its way", reconcile.Span(wait.Round(time.Second)))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.found, err = s.look.auditor.PlanResume(ctx, s.look.queue, pending)
	return err
}

// pending are the open intents of this context and Redis.
func (s *resumption) pending(ctx context.Context) ([]journal.Record, error) {
	server, err := s.look.server(ctx)
	if err != nil {
		return nil, err
	}
	here := s.look.settings.Context.Name.Value
	var pending []journal.Record
	others := map[string]int{}
	for r, err := range journal.Pending(s.path) {
		switch {
		case err != nil && !journal.GoesOn(err):
			return nil, err
		case err != nil:
			s.log.warnf("%v", err)
		case r.Context != here:
			others[fmt.Sprintf("context %q (--context)", r.Context)]++
		case !server.Same(r.Server):
			others[fmt.Sprintf("the Redis %s (--uri, --db); this is %s", r.Server, server)]++
		default:
			pending = append(pending, r)
		}
	}
	var journalled []string
	for i := range pending {
		journalled = append(journalled, pending[i].Server)
	}
	if err := s.restart.check(s.program, s.change, server, journalled); err != nil {
		return nil, err
	}
	for name, n := range others {
		s.log.warnf("left alone: %s of %s", plural(n, "pending change"), name)
	}
	return pending, nil
}

// runs counts the runs that only lack their end, and finds those that left something
// behind which nobody resumes: of the runs that this resumption settles, and the
// latest here, whose operator may expect it to go on.
func (s *resumption) runs(ctx context.Context, pending []journal.Record) error {
	server, err := s.look.server(ctx)
	if err != nil {
		return err
	}
	var here []journal.Summary
	for run, err := range journal.Runs(s.path) {
		endless := run.Ended.IsZero() && run.Pending+run.Unknown == 0
		switch {
		case err != nil && !journal.GoesOn(err):
			return err
		case err != nil:
			continue
		case endless:
			s.endless = append(s.endless, run.ID)
		}
		if run.Context == s.look.settings.Context.Name.Value && server.Same(run.Server) {
			here = append(here, run)
		}
	}
	for i := range here {
		run := &here[i]
		open := slices.ContainsFunc(pending, func(r journal.Record) bool { return r.Run == run.ID })
		if run.NotBegun > 0 && !reconcile.Resumes(run.Command) && (open || run.Ended.IsZero() || i == len(here)-1) {
			s.behind = append(s.behind, *run)
		}
	}
	return nil
}

// show says what was found, asks, and carries it out.
func (s *resumption) show(ctx context.Context) error {
	out, err := render.NewResumption(s.out, s.look.page, &s.found)
	if err != nil {
		return usagef("--output: %w", err)
	}
	out.LeaveBehind(s.behind)
	out.WouldEnd(s.endless)
	if err := out.Plan(); err != nil {
		return &writeError{err}
	}
	question := s.question()
	agreed := question == "" && len(s.endless) > 0 && !s.change.dryRun // an end is no change of a task
	if question != "" && !s.change.dryRun {
		if agreed, err = s.change.agree(ctx, s.program, s.look.session, question); err != nil {
			return err
		}
	}
	if !agreed {
		if err := out.Close(nil, nil); err != nil {
			return &writeError{err}
		}
		return nil
	}
	return s.carryOut(ctx, out)
}

// question is what there is to agree to; "" for nothing but ends of runs.
func (s *resumption) question() string {
	run, steps := s.found.Runnable(), 0
	for i := range s.found.Plans {
		steps += len(s.found.Plans[i].Steps)
	}
	var parts []string
	if n := len(s.found.Intents); n > 0 {
		parts = append(parts, fmt.Sprintf("settle %d", n))
	}
	if steps > 0 {
		parts = append(parts, fmt.Sprintf("make %d again", run), fmt.Sprintf("hold %d", steps-run))
	}
	if len(parts) == 0 {
		return ""
	}
	if n := len(s.endless); n > 0 {
		parts = append(parts, endWords(n))
	}
	return strings.Join(parts, ", ") + "?"
}

func (s *resumption) carryOut(ctx context.Context, out *render.Resumption) error {
	server, err := s.look.server(ctx)
	if err != nil {
		return err
	}
	run := journal.Run{Context: s.look.settings.Context.Name.Value, Server: server.String(), Command: s.command}
	if s.found.Runnable() > 0 {
		run.ID = journal.NewRunID(s.now())
	}
	bar := s.newMoveProgress(s.found.Runnable())
	how := s.how
	how.Waits = bar.waits
	how.Tell = func(a reconcile.Applied) {
		bar.clear()
		out.Applied(a)
		bar.applied(a)
	}
	closed, problem := s.look.auditor.Resume(ctx, s.look.queue, s.journal.Journal, run, s.found, how)
	bar.done()
	done := render.Carried{Journal: s.path, Run: journalled(problem, run.ID), Problem: problem}
	if err := out.Close(&done, closed); err != nil {
		return &writeError{err}
	}
	return ended(problem, true, out.Clean())
}

func endWords(runs int) string {
	if runs == 1 {
		return "give 1 finished run its end"
	}
	return fmt.Sprintf("give %d finished runs their end", runs)
}
