package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalled is a signal that ended a run, in words for the journal. It is an
// interruption like any other.
type signalled struct{ os.Signal }

func (s signalled) Error() string {
	switch s.Signal {
	case os.Interrupt:
		return "stopped by the operator (Ctrl-C)"
	case syscall.SIGTERM:
		return "interrupted (SIGTERM)"
	case syscall.SIGHUP:
		return "interrupted (SIGHUP: its terminal was closed)"
	}
	return "interrupted (" + s.String() + ")"
}

// Is says that a signal interrupts.
func (signalled) Is(target error) bool { return target == context.Canceled }

// signalWait is how long the name of a signal is waited for that has ended a context
// already: it is on its way.
const signalWait = 100 * time.Millisecond

// knowing is ctx, but its cause is the signal where one ended it, so that the journal
// can name it. The caller lets it go.
func knowing(parent context.Context) (context.Context, func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals...)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(signalled{s})
		case <-parent.Done():
			cancel(causeOf(parent, signals))
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// causeOf is why a context ended.
func causeOf(ctx context.Context, signals <-chan os.Signal) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, context.Canceled) {
		return cause
	}
	select {
	case s := <-signals:
		return signalled{s}
	case <-time.After(signalWait):
		return cause
	}
}
