package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/tui"
)

type tuiOptions struct {
	*program
	write   bool
	mouse   bool
	refresh time.Duration
}

func newTUI(p *program) *cobra.Command {
	o := &tuiOptions{program: p}
	cmd := &cobra.Command{
		Use:     "tui",
		Aliases: []string{"browse"},
		Short:   "Browse queues, tasks, findings and locks; plan changes and watch them",
		Long: `tui shows on one screen what the other commands print: the queues, what is wrong
with them, every task with its effect, and the one task that is asked about. It
reads only, unless --write is given and the context is not read-only; changes
then go through a plan that is shown and confirmed by a typed word.

? shows the keys of a screen, which are those of k9s, lazygit and asynq dash.
Without arguments idemctl starts it on a terminal once a context is configured.`,
		Example: `  idemctl tui
  idemctl tui --context staging --write
  idemctl demo tui`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "let changes be planned and applied (not where the context is read-only)")
	f.DurationVar(&o.refresh, "refresh", tui.DefaultRefresh, "`TIME` after which what is shown is read again, at least 2s")
	f.BoolVar(&o.mouse, "mouse", false, "scroll and select with the mouse; the terminal then selects no text")
	journalFlag(cmd)
	f.StringArray("redact", nil, "payload `PATH` to hide; repeatable")
	return cmd
}

func (o *tuiOptions) run(ctx context.Context, cmd *cobra.Command) error {
	if err := o.checkRefresh(); err != nil {
		return err
	}
	if !o.inTerminal || !o.outTerminal {
		return &usageError{
			err:  errors.New("the browser needs a terminal to be seen on and typed into"),
			hint: "idemctl audit and idemctl tasks print the same into a pipe",
		}
	}
	if o.dumb() {
		return &usageError{
			err:  errors.New("the browser draws a whole screen, which this terminal says it cannot show (TERM=dumb)"),
			hint: "idemctl audit and idemctl tasks print the same line by line",
		}
	}
	b, err := o.openBrowser(ctx, cmd)
	if err != nil {
		return err
	}
	if err := o.checkRefresh(); err != nil { // the environment and the file have their say only now
		b.Close()
		return err
	}
	o.shared.quiet, o.log.quiet = true, true // a warning in the middle of the screen would be one too many
	ctx, done := quittable(ctx)
	defer done()
	err = tui.Show(ctx, b, tui.Options{
		In: o.in, Out: o.results(), Refresh: o.refresh, Mouse: o.mouse,
		Plain: !o.colour(o.env.LookupEnv, o.shared.noColor), UTC: o.shared.utc,
		Pager: o.pager(), LookupEnv: o.env.LookupEnv, Now: o.now,
	})
	switch {
	case errors.Is(context.Cause(ctx), errQuit):
		return outcome(exitQuit)
	case errors.Is(err, context.Canceled):
		return outcome(exitIncomplete) // a signal ended it: there is nothing to say
	}
	return err
}

func (o *tuiOptions) checkRefresh() error {
	if o.refresh >= tui.LeastRefresh {
		return nil
	}
	return &usageError{
		err:  fmt.Errorf("--refresh %s: what is shown is read again after %s at the least", o.refresh, tui.LeastRefresh),
		hint: "idemctl tui --refresh " + tui.LeastRefresh.String(),
	}
}

// exitQuit is what a shell says of a program that SIGQUIT ended: 128 and its number.
const exitQuit = 131

var errQuit = signalled{syscall.SIGQUIT}

// quittable is a context that SIGQUIT ends: by itself Go would end the program at
// once, and leave a terminal that shows nothing of what is typed.
func quittable(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT)
	go func() {
		select {
		case <-signals:
			cancel(errQuit)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// dumb says that the terminal knows nothing but lines, as an editor's shell does.
func (p *program) dumb() bool {
	name, _ := p.env.LookupEnv("TERM")
	return name == "dumb"
}

// browses says whether the bare program is the browser: somebody looks, and there is
// a configuration that says at what.
func (p *program) browses(cmd *cobra.Command) bool {
	if !p.inTerminal || !p.outTerminal || p.dumb() {
		return false
	}
	named, _ := cmd.Flags().GetString("config")
	file, err := config.Load(p.env, config.Locate(p.env, named))
	return err != nil || len(file.Contexts) > 0 // an error is for the browser to tell
}

// browse runs the browser with the flags that the bare program was given.
func (p *program) browse(cmd *cobra.Command) error {
	line := []string{"tui"}
	cmd.Flags().Visit(func(f *pflag.Flag) { line = append(line, "--"+f.Name+"="+f.Value.String()) })
	return outcome(execute(cmd.Context(), line, p.streams, p.env))
}

// pager is what long texts are shown with: as gh and psql choose theirs.
func (o *tuiOptions) pager() []string {
	for _, name := range []string{"IDEMCTL_PAGER", "PAGER"} {
		if words, set := o.env.LookupEnv(name); set {
			return existing(strings.Fields(words))
		}
	}
	return existing([]string{"less"})
}

// existing is the command if the system has it; nil is none.
func existing(words []string) []string {
	if len(words) == 0 || words[0] == "cat" {
		return nil // a text that scrolls by is not read
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil
	}
	return words
}
