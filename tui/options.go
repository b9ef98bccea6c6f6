package tui

import (
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// Options say how the browser looks and behaves.
type Options struct {
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Refresh is how often what is shown is read again; 0 is DefaultRefresh, and
	// less than LeastRefresh is that.
	Refresh time.Duration
	// Plain leaves colours out; else they suit what Out is.
	Plain bool
	// UTC shows times in UTC.
	UTC bool
	// Mouse lets a mouse scroll and select, which keeps the terminal from selecting
	// text.
	Mouse bool
	// Pager shows long texts; nil shows them in the browser.
	Pager []string
	// LookupEnv reads the environment, which may tell light from dark; nil: it tells
	// nothing.
	LookupEnv func(name string) (value string, set bool)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// renderer and tick are for tests, which have no terminal and no time to lose.
	renderer *lipgloss.Renderer
	tick     func() tea.Cmd
	// ask says that In listens for what the terminal answers.
	ask bool
}

const (
	// DefaultRefresh is how often what is shown is read again.
	DefaultRefresh = 5 * time.Second
	// LeastRefresh is how often it is at most: what is shown is for people, and what
	// is read is taken from workers.
	LeastRefresh = 2 * time.Second
	// autoAudit is up to how many tasks are audited without being asked, and
	// auditEvery how long is waited after an audit for the next, at least.
	autoAudit  = 100_000
	auditEvery = 60 * time.Second
	// auditShare is how much of the time audits may take: one in so many.
	auditShare = 15
)

func (o Options) filled() Options {
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	o.Refresh = max(o.Refresh, LeastRefresh)
	if o.tick == nil {
		o.tick = nextSecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// env is a variable of the environment.
func (o *Options) env(name string) string {
	if o.LookupEnv == nil {
		return ""
	}
	value, _ := o.LookupEnv(name)
	return value
}
