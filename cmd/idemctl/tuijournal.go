package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/tui"
)

// mostRuns and mostItems bound what the browser keeps of a journal.
const (
	mostRuns  = 1000
	mostItems = 5000
)

// Runs lists the runs of the journal's file. What is damaged is left out, and the
// last of it said: the commands say all.
func (c changer) Runs(context.Context) ([]tui.Run, error) {
	path, err := journalPath(c.s.settings)
	if err != nil {
		return nil, err
	}
	var runs []tui.Run
	for s, err := range journal.Runs(path) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil && !journal.GoesOn(err):
			return nil, err
		case err == nil:
			runs = append(runs, runOf(&s))
		}
	}
	slices.Reverse(runs)
	slices.SortStableFunc(runs, func(a, b tui.Run) int { return b.Began.Compare(a.Began) })
	return runs[:min(len(runs), mostRuns)], nil
}

func runOf(s *journal.Summary) tui.Run {
	return tui.Run{
		ID: s.ID, Began: s.Began, Ended: s.Ended, Operator: s.Operator, Host: s.Host,
		Context: s.Context, Command: s.Command, Reason: s.Reason,
		Done: s.Done, Refused: s.Refused, Failed: s.Failed, Unknown: s.Unknown, Pending: s.Pending,
		Planned: s.Planned, NotBegun: s.NotBegun, EndedBy: s.EndedBy,
	}
}

func (c changer) Items(ctx context.Context, run string) ([]tui.RunItem, error) {
	path, err := journalPath(c.s.settings)
	if err != nil {
		return nil, err
	}
	var items []tui.RunItem
	at := map[string]int{}
	for r, err := range journal.Read(path) {
		if err != nil && !journal.GoesOn(err) {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || r.Run != run || r.Item == "" {
			continue
		}
		i, known := at[r.Item]
		if !known {
			if len(items) >= mostItems {
				continue
			}
			i = len(items)
			at[r.Item] = i
			items = append(items, tui.RunItem{Item: r.Item, Pending: true})
		}
		addRecord(&items[i], &r)
	}
	return items, nil
}

// addRecord adds an intent or a result to its item.
func addRecord(it *tui.RunItem, r *journal.Record) {
	if r.Change != journal.ChangeUnknown {
		it.Change, it.Target = string(r.Change), r.Target
		it.Ref = inspect.Ref{Queue: r.Queue, ID: r.TaskID}
	}
	it.At = r.At
	if r.Kind != journal.KindResult {
		return
	}
	it.Outcome, it.Pending = journalOutcomes[r.Outcome], r.Outcome == journal.OutcomeUnknown
	if it.Words = r.Found; r.Error != "" {
		it.Words = r.Error
	}
}

// planRestore plans to put back what a run has deleted.
func (c changer) planRestore(ctx context.Context, a tui.Ask) (*tui.Plan, error) {
	path, err := journalPath(c.s.settings)
	if err != nil {
		return nil, err
	}
	if a.Run == "" {
		last, err := c.lastRun(ctx)
		if err != nil {
			return nil, err
		}
		a.Run = last.ID
	}
	server, err := c.s.server(ctx)
	if err != nil {
		return nil, err
	}
	want := reconcile.DeletionFilter{Run: a.Run, Context: c.place.Context, Server: server.Same}
	found, err := reconcile.FindDeletions(journal.Read(path), want, func(error) {})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("run %s deleted nothing in context %q: what was run again cannot be called back (idemctl journal show %s)", a.Run, c.place.Context, a.Run)
	}
	auditor, err := c.s.auditor(reconcile.Options{})
	if err != nil {
		return nil, err
	}
	plan, err := auditor.PlanUndo(ctx, c.s.queue, found, "")
	if err != nil {
		return nil, err
	}
	out := c.shown(a, auditor, plan)
	if words := restartedWords(server, serversOf(found)); words != "" {
		out.Notes = append(out.Notes, words)
	}
	return out, nil
}

// lastRun is the last one of this context that changed something.
func (c changer) lastRun(ctx context.Context) (tui.Run, error) {
	runs, err := c.Runs(ctx)
	if err != nil {
		return tui.Run{}, err
	}
	for _, r := range runs {
		if r.Context == c.place.Context && r.Done > 0 {
			return r, nil
		}
	}
	return tui.Run{}, fmt.Errorf("the journal has no change in context %q", c.place.Context)
}
