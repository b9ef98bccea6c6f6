package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/idemctl/idemctl/reconcile"
)

// progress shows on a terminal how far long work is, with its rate and what
// remains; elsewhere it shows nothing. It is safe for concurrent use.
const progressInterval = 100 * time.Millisecond

type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar // nil: nobody looks, or done
}

func (p *program) newProgress() *progress {
	if !p.errTerminal || p.shared.quiet {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(p.err),
		progressbar.OptionSetWidth(20),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("tasks"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(false),
	)}
}

// show updates the bar.
func (g *progress) show(p reconcile.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bar == nil {
		return
	}
	if p.Expected > 0 && g.bar.GetMax() != max(p.Expected, p.Tasks) {
		g.bar.ChangeMax(max(p.Expected, p.Tasks))
	}
	words := p.Phase
	if p.Findings > 0 {
		words = fmt.Sprintf("%s, %d found", p.Phase, p.Findings)
	}
	g.bar.Describe(words)
	_ = g.bar.Set(p.Tasks)
}

// clear takes the bar off the screen before a line of results is printed.
func (g *progress) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bar != nil {
		_ = g.bar.Clear()
	}
}

// done ends the bar; it is safe to repeat.
func (g *progress) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bar != nil {
		_ = g.bar.Finish()
		_ = g.bar.Clear()
		g.bar = nil
	}
}
