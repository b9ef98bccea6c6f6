package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile"
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
	cmd.Flags().BoolVar(&c.all, "all", false, "select everything in scope; needed where nothing narrows the selection")
	c.addApply(cmd)
}

// addApply adds the flags of a change that selects nothing.
func (c *changeFlags) addApply(cmd *cobra.Command) {
	f := cmd.Flags()
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
func (c *changeFlags) selected(narrowed bool, by string) error {
	if narrowed || c.all {
		return nil
	}
	return &usageError{
		err:  errors.New("nothing says which: a change never means everything by itself"),
		hint: "name a " + by + ", or say --all",
	}
}

// carryOut shows the plan, asks, applies, and shows what came of it.
func (c *changeFlags) carryOut(ctx context.Context, p *program, l *look, plan *reconcile.Plan, command, verb string) error {
	m := &moving{program: p, look: l, change: c, plan: plan, command: command, verb: verb}
	return m.carryOut(ctx)
}

// agree asks. A protected context wants its name, which --yes does not give.
func (c *changeFlags) agree(ctx context.Context, p *program, s *session, question string) (bool, error) {
	return c.agreeTo(ctx, p, s, question, 0)
}

// agreeTo is agree, but where count is not 0 that number has to be typed instead
// of yes, and after a protected context's name.
func (c *changeFlags) agreeTo(ctx context.Context, p *program, s *session, question string, count int) (bool, error) {
	here := s.settings.Context
	name := here.Name.Value
	if c.yes {
		count = 0 // it was given, and is the plan's
	}
	switch {
	case here.Protected.Value && !p.inTerminal:
		return false, &usageError{
			err:  fmt.Errorf("context %q is protected (%s): its name has to be typed at a terminal", name, here.Protected.Source),
			hint: "--dry-run shows the plan",
		}
	case here.Protected.Value:
		typed, err := p.ask(ctx, question+" Type the context's name ("+name+") to go on:")
		if err != nil || typed == "" || typed != name {
			return false, err
		}
		if count == 0 {
			return true, nil
		}
		return p.counts(ctx, "That", count)
	case c.yes:
		return true, nil
	case !p.inTerminal:
		p.log.warnf("nothing was changed: this is no terminal, and --yes was not given")
		return false, nil
	case count != 0:
		return p.counts(ctx, question+" That", count)
	}
	typed, err := p.ask(ctx, question+" [y/N]")
	return err == nil && (strings.EqualFold(typed, "y") || strings.EqualFold(typed, "yes")), err
}

// counts asks how many everything is.
func (p *program) counts(ctx context.Context, that string, count int) (bool, error) {
	typed, err := p.ask(ctx, fmt.Sprintf("%s is every archived task: type how many (%d) to go on:", that, count))
	return err == nil && strings.ReplaceAll(typed, ",", "") == strconv.Itoa(count), err
}

// ask is the answer to a question; "" for none.
func (p *program) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprintf(p.err, "%s ", render.Visible(question))
	return p.answer(ctx)
}

// answer is the line that is typed; "" for none. An interrupt ends the waiting.
func (p *program) answer(ctx context.Context) (string, error) {
	if p.answers == nil {
		p.answers = bufio.NewReader(p.in)
	}
	typed := make(chan string, 1)
	go func() {
		line, _ := p.answers.ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(p.err)
		return "", ctx.Err()
	}
}
