package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
)

// checkPlot refuses a file that would not be a picture.
func (o *ttlCalcOptions) checkPlot() error {
	if o.plot == "" {
		return nil
	}
	if _, err := render.ParsePicture(filepath.Ext(o.plot)); err != nil {
		return &usageError{err: fmt.Errorf("--plot %s: %w", o.plot, err), hint: "--plot ttl.svg"}
	}
	return nil
}

// writePlot writes the picture beside its place and moves it there when it is
// whole.
func (o *ttlCalcOptions) writePlot(t *render.TTL) error {
	kind, err := render.ParsePicture(filepath.Ext(o.plot))
	if err != nil {
		return usagef("--plot %s: %w", o.plot, err)
	}
	if t.Lifetime == nil {
		return usagef("--plot: there is nothing to draw: %s", reasons(t))
	}
	f, err := os.CreateTemp(filepath.Dir(o.plot), ".ttl-*")
	if err != nil {
		return usagef("--plot: %w", err)
	}
	err = render.PlotTTL(f, kind, t)
	err = errors.Join(err, f.Chmod(pictureMode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), o.plot)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // half a picture helps nobody
		return &writeError{fmt.Errorf("%s: %w", o.plot, err)}
	}
	return nil
}

// pictureMode lets others look at a picture: it holds no secret.
const pictureMode = 0o644
