package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// look is what a command that reads the queues has opened: it works without a
// ledger, too.
type look struct {
	*session
	auditor *reconcile.Auditor
	page    render.Options
	header  render.Header
	release context.CancelFunc
}

// chosen is what a command makes of its flags. It is asked for once every flag has
// its value, from the environment and the file as well: whatever is computed of
// flags before that knows the command line alone. Nothing is connected to yet, so
// that a mistake is told at once.
type chosen func() (reconcile.Options, error)

// everything is for commands whose flags choose nothing.
func everything() (reconcile.Options, error) { return reconcile.Options{}, nil }

// look opens Redis, the ledgers there are, and an auditor of what was chosen, under
// the shared time limit. The caller ends it.
func (p *program) look(ctx context.Context, cmd *cobra.Command, out *outputFlags, choose chosen) (context.Context, *look, error) {
	return p.lookAt(ctx, cmd, out, false, choose)
}

// join is look for what rests on effects: without a ledger or a rule there is
// nothing to say.
func (p *program) join(ctx context.Context, cmd *cobra.Command, out *outputFlags, choose chosen) (context.Context, *look, error) {
	return p.lookAt(ctx, cmd, out, true, choose)
}

func (p *program) lookAt(ctx context.Context, cmd *cobra.Command, out *outputFlags, needsLedger bool, choose chosen) (context.Context, *look, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return ctx, nil, err
	}
	o, err := choose()
	if err != nil {
		return ctx, nil, err
	}
	return p.lookBy(ctx, cmd, out, set, needsLedger, o)
}

// lookBy looks by settings that are settled already.
func (p *program) lookBy(ctx context.Context, cmd *cobra.Command, out *outputFlags, set *config.Settings, needsLedger bool, o reconcile.Options) (context.Context, *look, error) {
	page, err := out.options(p, set)
	if err != nil {
		return ctx, nil, err
	}
	s, err := p.connect(ctx, cmd, set, needsLedger)
	if err != nil {
		return ctx, nil, err
	}
	l := &look{session: s, page: page, release: func() {}}
	ctx, l.release = p.bounded(ctx)
	if l.header, err = s.header(ctx, ""); err != nil {
		l.end()
		return ctx, nil, err
	}
	if l.auditor, err = s.auditor(p.load(cmd, o)); err != nil {
		l.end()
		return ctx, nil, err
	}
	return ctx, l, nil
}

// end closes what was opened.
func (l *look) end() {
	l.release()
	l.close()
}
