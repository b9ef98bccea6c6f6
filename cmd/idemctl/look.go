package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
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

// look opens Redis, the ledgers there are, and an auditor of the scope, under the
// shared time limit. The caller ends it.
func (p *program) look(ctx context.Context, cmd *cobra.Command, out *outputFlags, scope reconcile.Scope) (context.Context, *look, error) {
	s, err := p.openBare(ctx, cmd)
	if err != nil {
		return ctx, nil, err
	}
	return p.lookBy(ctx, cmd, out, s, reconcile.Options{Scope: scope})
}

// join is look for what rests on effects: without a ledger or a rule there is
// nothing to say.
func (p *program) join(ctx context.Context, cmd *cobra.Command, out *outputFlags, o reconcile.Options) (context.Context, *look, error) {
	s, err := p.openSession(ctx, cmd, true)
	if err != nil {
		return ctx, nil, err
	}
	return p.lookBy(ctx, cmd, out, s, o)
}

// lookBy takes the session over.
func (p *program) lookBy(ctx context.Context, cmd *cobra.Command, out *outputFlags, s *session, o reconcile.Options) (context.Context, *look, error) {
	var err error
	l := &look{session: s, release: func() {}}
	if l.page, err = out.options(p, s.settings); err != nil {
		l.end()
		return ctx, nil, err
	}
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
