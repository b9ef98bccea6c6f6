package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// seenFindings remembers which findings the audit before had, so that the next
// one can mark what is new.
type seenFindings struct {
	before, now map[findingID]bool
	first       bool
}

type findingID struct {
	code reconcile.Code
	task inspect.Ref
	kind string
	key  string
}

func newSeenFindings() *seenFindings { return &seenFindings{now: map[findingID]bool{}, first: true} }

func idOf(f *reconcile.Finding) findingID {
	return findingID{code: f.Code, task: f.Task.Ref, kind: f.Task.Type, key: f.Key}
}

// note remembers a finding for the next audit.
func (s *seenFindings) note(f *reconcile.Finding) { s.now[idOf(f)] = true }

// isNew says whether the finding was not there last time. In the first audit
// nothing is new.
func (s *seenFindings) isNew(f *reconcile.Finding) bool { return !s.first && !s.before[idOf(f)] }

// turn begins the next audit.
func (s *seenFindings) turn() {
	s.before, s.now, s.first = s.now, map[findingID]bool{}, false
}

// clearScreen moves the cursor home and clears what is below (ECMA-48 CUP, ED).
const clearScreen = "\x1b[H\x1b[2J"

// repeat audits again and again. On a terminal it redraws and marks what is new;
// in a pipe it prints one result after the other. An interrupt while it waits
// ends it with the outcome of the last audit.
func (o *auditOptions) repeat(ctx context.Context, once func(context.Context, io.Writer, *seenFindings) error) error {
	seen := newSeenFindings()
	for {
		bounded, cancel := o.bounded(ctx)
		var page bytes.Buffer
		w := o.out
		if o.outTerminal {
			w = &page // draw at once, so that the screen does not flicker
		}
		err := once(bounded, w, seen)
		cancel()
		if o.outTerminal {
			fmt.Fprint(o.out, clearScreen)
			_, _ = page.WriteTo(o.out) // out keeps its first error
			fmt.Fprintf(o.out, "\nevery %s, last at %s; Ctrl-C ends\n", o.watch, o.now().Format(time.TimeOnly))
		}
		var end outcome
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil && !errors.As(err, &end):
			// A source that is away now may be back at the next look.
			report(o.err, err)
		}
		seen.turn()
		select {
		case <-time.After(o.watch):
		case <-ctx.Done():
			return err
		}
	}
}
