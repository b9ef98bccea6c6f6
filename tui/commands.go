package tui

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Everything that waits for anything is in this file: for Redis, a ledger, the
// journal, the terminal, the clock. A command runs apart from the screens, and
// tells them by a message.

// quickly bounds the reads that a screen repeats by itself, so that one lost
// answer is not waited for until the next.
const quickly = 20 * time.Second

// ask makes a command of a read. Its value comes back as a reply.
func (d *desk) ask(s slot, read func(ctx context.Context) (any, error)) tea.Cmd {
	t, ctx := d.issue(s)
	return func() tea.Msg {
		value, err := read(ctx)
		return reply{ticket: t, value: value, err: err}
	}
}

// feed is how many parts of a reply may wait to be shown.
const feed = 64

// follow makes a command of something that tells how far it is. Each part comes
// back as a reply with more to come, the end as one without. A part told by tell
// is waited for until it is taken; one told by hint is left out where the screen is
// behind.
func (d *desk) follow(s slot, do func(ctx context.Context, tell, hint func(any)) (any, error)) tea.Cmd {
	t, ctx := d.issue(s)
	return func() tea.Msg {
		parts := make(chan reply, feed)
		next := func() tea.Msg { return <-parts }
		part := func(value any) reply { return reply{ticket: t, value: value, more: next} }
		tell := func(value any) {
			select {
			case parts <- part(value):
			case <-d.ctx.Done(): // and not the request's: what was done after a stop is told, too
			}
		}
		hint := func(value any) {
			if len(parts) < feed/2 {
				tell(value)
			}
		}
		go func() {
			defer close(parts)
			defer func() {
				if r := recover(); r != nil { // as bubbletea does for commands
					parts <- reply{ticket: t, err: fmt.Errorf("panic: %v", r)}
				}
			}()
			value, err := do(ctx, tell, hint)
			select {
			case parts <- reply{ticket: t, value: value, err: err}:
			case <-d.ctx.Done():
			}
		}()
		return next()
	}
}

// within bounds a read.
func within(ctx context.Context, limit time.Duration, read func(context.Context) (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return read(ctx)
}

func askCounts(d *desk, b Backend) tea.Cmd {
	return d.ask(slotCounts, func(ctx context.Context) (any, error) {
		return within(ctx, quickly, func(ctx context.Context) (any, error) { return b.Counts(ctx) })
	})
}

// pingTime is how long a ledger has to say that it is there: as long as a
// connection may take.
const pingTime = 10 * time.Second

func askPing(d *desk, b Backend) tea.Cmd {
	return d.ask(slotPing, func(ctx context.Context) (any, error) {
		return within(ctx, pingTime, func(ctx context.Context) (any, error) { return b.Ping(ctx), nil })
	})
}

func askAudit(d *desk, b Backend) tea.Cmd {
	return d.follow(slotAudit, func(ctx context.Context, _, hint func(any)) (any, error) {
		return b.Audit(ctx, func(p reconcile.Progress) { hint(p) })
	})
}

// rowsAnswer is what Rows says of the refs it was asked for.
type rowsAnswer struct {
	refs []inspect.Ref
	rows []Row
}

func askRows(d *desk, b Backend, refs []inspect.Ref) tea.Cmd {
	return d.ask(slotRows, func(ctx context.Context) (any, error) {
		return within(ctx, quickly, func(ctx context.Context) (any, error) {
			rows, err := b.Rows(ctx, refs)
			return rowsAnswer{refs, rows}, err
		})
	})
}

func askPage(d *desk, s slot, l Listing) tea.Cmd {
	return d.ask(s, func(ctx context.Context) (any, error) { return l.Next(ctx) })
}

func askDossier(d *desk, b Backend, ref inspect.Ref) tea.Cmd {
	return d.ask(slotDossier, func(ctx context.Context) (any, error) { return b.Explain(ctx, ref) })
}

func askLocks(d *desk, b Backend) tea.Cmd {
	return d.follow(slotLocks, func(ctx context.Context, _, hint func(any)) (any, error) {
		return b.Locks(ctx, func(n int) { hint(n) })
	})
}

func askPlan(d *desk, c Changer, a Ask) tea.Cmd {
	return d.follow(slotPlan, func(ctx context.Context, _, hint func(any)) (any, error) {
		return c.Plan(ctx, a, func(p reconcile.Progress) { hint(p) })
	})
}

// askApply is the only command that changes anything.
func askApply(d *desk, c Changer, p *Plan, o ApplyOptions) tea.Cmd {
	return d.follow(slotApply, func(ctx context.Context, tell, _ func(any)) (any, error) {
		return applied{}, c.Apply(ctx, p, o, func(e Event) { tell(e) })
	})
}

// applied is the end of a plan's application.
type applied struct{}

func askRuns(d *desk, c Changer) tea.Cmd {
	return d.ask(slotRuns, func(ctx context.Context) (any, error) { return c.Runs(ctx) })
}

func askItems(d *desk, c Changer, run string) tea.Cmd {
	return d.ask(slotItems, func(ctx context.Context) (any, error) { return c.Items(ctx, run) })
}

// opened is another context's backend.
type opened struct{ backend Backend }

func askContext(d *desk, b Backend, name string) tea.Cmd {
	return d.ask(slotContext, func(ctx context.Context) (any, error) {
		other, err := b.Use(ctx, name)
		if err != nil {
			return nil, err
		}
		return opened{other}, nil
	})
}

// closeBackend ends the connections of a backend that is no longer looked at.
func closeBackend(b Backend) tea.Cmd {
	return func() tea.Msg {
		b.Close()
		return nil
	}
}

// explained is a text for the pager.
type explained struct{ text string }

func askText(d *desk, b Backend, ref inspect.Ref, columns int) tea.Cmd {
	return d.ask(slotText, func(ctx context.Context) (any, error) {
		text, err := b.ExplainText(ctx, ref, columns)
		return explained{text}, err
	})
}

// paged says that the pager has ended.
type paged struct{ err error }

// page hands the terminal to the pager until it ends.
func page(pager []string, text string) tea.Cmd {
	cmd := exec.Command(pager[0], pager[1:]...) //nolint:noctx // it ends when its reader says so
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append(os.Environ(), "LESS="+lessOptions(os.Getenv("LESS")))
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return paged{err} })
}

// lessOptions are less's own where the user has any: what gh and psql set too, but
// for F, which would show a short text and be gone before it can be read.
func lessOptions(own string) string {
	if own != "" {
		return own
	}
	return "RX"
}

// copied says what came of a text for the clipboard.
type copied struct {
	what string
	err  error
}

// copyText asks the terminal to take a text into its clipboard (OSC 52). No
// terminal answers. A text with anything that does not show is refused.
func copyText(w io.Writer, what, text string) tea.Cmd {
	return func() tea.Msg {
		if safe(text) != text {
			return copied{what, fmt.Errorf("%s has characters that do not show, and may do something where it is pasted", what)}
		}
		_, err := io.WriteString(w, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\x07")
		return copied{what, err}
	}
}

// second is a second gone by.
type second time.Time

// nextSecond keeps ages moving, and says when it is time to read again.
func nextSecond() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return second(t) })
}
