package tui

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// Show shows the browser on the terminal until it is left. It closes the backend
// that is looked at last; the one given is the browser's. However it ends, by a key,
// by ctx or by a panic, the terminal is left as it was. The error is ctx's own where
// ctx ended it.
func Show(ctx context.Context, b Backend, o Options) error {
	o = o.filled()
	var program *tea.Program
	in := o.In
	if e, ok := listens(o.In, &o, func(is background) { program.Send(is) }); ok {
		in, o.ask = e, true
	}
	m := New(ctx, b, o)
	defer m.Close()
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(in), tea.WithOutput(o.Out),
		tea.WithoutSignalHandler(), // ctx ends when a signal comes
	}
	if o.Mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	program = tea.NewProgram(m, options...)
	_, err := program.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the browser failed (this is a bug): %w", err)
	}
	return fmt.Errorf("the browser ended: %w", err)
}
