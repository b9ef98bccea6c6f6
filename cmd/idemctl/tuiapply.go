package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
	"github.com/idemctl/idemctl/tui"
)

// Apply makes the changes of a plan that was confirmed.
func (c changer) Apply(ctx context.Context, p *tui.Plan, o tui.ApplyOptions, tell func(tui.Event)) (err error) {
	c.applying.Add(1)
	defer c.applying.Done()
	made, ok := p.Private.(*planned)
	if !ok {
		return errors.New("the plan is not one of this browser's")
	}
	if !c.place.Writable { // asked once more, here where it counts
		return errors.New(c.place.Because)
	}
	tell(tui.Event{Words: "opening the journal: another process may hold it", Waiting: true})
	j, err := c.openJournal(ctx, c.s.settings, made.command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	server, err := c.s.server(ctx)
	if err != nil {
		return err
	}
	run := journal.Run{ID: journal.NewRunID(c.now()), Context: c.place.Context, Server: server.String(), Command: made.command}
	if made.plan.Moves != nil {
		m := &moving{program: c.program, look: &look{session: c.s, auditor: made.auditor}, plan: &made.plan, command: made.command}
		file, err := m.file(ctx, planExpiry)
		if err != nil {
			return err
		}
		run.PlanDigest = file.Digest
	}
	tell(tui.Event{Run: run.ID})
	return made.auditor.Apply(ctx, c.s.queue, j.Journal, run, made.plan, reconcile.Application{
		Rate: defaultRate, Canary: o.Canary,
		Tell:    func(a reconcile.Applied) { tell(eventOf(&a)) },
		Waits:   func(words string) { tell(tui.Event{Words: words, Waiting: true}) },
		Watched: func(w reconcile.Watched) { tell(watchedEvent(&w)) },
	})
}

// eventOf is what came of a step.
func eventOf(a *reconcile.Applied) tui.Event {
	e := tui.Event{Ref: a.Step.Ref(), Outcome: journalOutcomes[a.Outcome], Words: a.Found}
	if a.Unbegun {
		e.Outcome = tui.OutcomeNone
	}
	if a.Err != nil {
		e.Words = a.Err.Error()
	}
	if e.ID == "" && e.Outcome != tui.OutcomeNone {
		e.Words = fmt.Sprintf("%s: %s", e.Outcome, e.Words)
	}
	return e
}

// watchedEvent is what became of a task that the run keeps an eye on.
func watchedEvent(w *reconcile.Watched) tui.Event {
	words := w.Fate.Words()
	if w.Fate == reconcile.FateFailed && w.Task.LastErr != "" {
		words += ": " + w.Task.LastErr
	}
	if w.Canary {
		words = "canary: " + words
	}
	e := tui.Event{Ref: w.Ref, Outcome: tui.OutcomeDone, Words: words}
	switch w.Fate {
	case reconcile.FateWaiting, reconcile.FateUnknown:
	case reconcile.FateApplied:
		e.Fate = "applied"
	case reconcile.FateFailed:
		e.Fate, e.FateBad = "failed again", true
	default:
		e.Fate, e.FateBad = string(w.Fate), true
	}
	return e
}

var journalOutcomes = map[journal.Outcome]tui.Outcome{
	journal.OutcomeDone:    tui.OutcomeDone,
	journal.OutcomeRefused: tui.OutcomeRefused,
	journal.OutcomeFailed:  tui.OutcomeFailed,
	journal.OutcomeUnknown: tui.OutcomeUnknown,
}
