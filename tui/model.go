package tui

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Model is the browser. It is one of bubbletea's models.
type Model struct {
	*hub
	prompt *prompt // a line being typed; nil: none
	help   *help   // the help on top; nil: none

	quitting bool
}

// New makes a browser of a backend, which is the browser's from then on. Close ends
// both.
func New(ctx context.Context, b Backend, o Options) *Model {
	o = o.filled()
	r := o.renderer
	if r == nil {
		r = rendererOf(&o)
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &hub{
		opt: o, backend: b, keys: newKeyMap(), renderer: r, theme: newTheme(r), ctx: ctx, cancel: cancel, width: 80, height: 24,
		troubles: map[string]trouble{}, answered: map[string]time.Time{},
	}
	h.root = h.newDesk()
	h.stack = []screen{newOverview(h)}
	return &Model{hub: h}
}

// Close ends every request and the backend.
func (m *Model) Close() {
	m.cancel()
	m.backend.Close()
}

// Init asks for what is shown first.
func (m *Model) Init() tea.Cmd {
	m.refreshed = m.now()
	m.met()
	cmds := []tea.Cmd{m.opt.tick(), m.askFrame(), m.top().begin()}
	if m.opt.ask {
		cmds = append(cmds, askBackground(m.opt.Out))
	}
	return tea.Batch(cmds...)
}

// askFrame asks for what the frame shows wherever one is, but for what is under
// way.
func (m *Model) askFrame() tea.Cmd {
	var cmds []tea.Cmd
	if !m.root.waits(slotCounts) {
		cmds = append(cmds, askCounts(m.root, m.backend))
	}
	if len(m.backend.Place().Ledgers) > 0 && !m.root.waits(slotPing) {
		cmds = append(cmds, askPing(m.root, m.backend))
	}
	return tea.Batch(cmds...)
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.quitting {
		return m, tea.Quit
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(0, msg.Width), max(0, msg.Height)
		return m, m.wanted()
	case tea.KeyMsg:
		return m, m.keys1(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	case second:
		return m, tea.Batch(m.opt.tick(), m.tick())
	case reply:
		return m, m.reply(msg)
	case background:
		m.renderer.SetHasDarkBackground(msg.dark)
	case copied:
		m.say("sent to the terminal's clipboard: " + msg.what)
		if msg.err != nil {
			m.say("not copied: " + safe(msg.err.Error()))
		}
	case paged:
		if msg.err != nil {
			m.say("the pager failed: " + safe(msg.err.Error()))
		}
	}
	return m, nil
}

// tick reads again what is due.
func (m *Model) tick() tea.Cmd {
	m.hushRead()
	if m.now().Sub(m.refreshed) < m.opt.Refresh {
		return nil
	}
	return m.refresh(false)
}

// refresh reads again. What is still under way is not asked for twice, unless
// somebody wants it now.
func (m *Model) refresh(now bool) tea.Cmd {
	m.refreshed = m.now()
	if now {
		m.root.drop(slotCounts)
	}
	return tea.Batch(m.askFrame(), m.top().again(), m.auditIfDue())
}

// auditIfDue audits by itself where that is little work.
func (m *Model) auditIfDue() tea.Cmd {
	if m.root.waits(slotAudit) || m.counts == nil || m.total() > autoAudit {
		return nil
	}
	pause := auditEvery
	if m.audit != nil {
		pause = max(pause, auditShare*m.audit.Took)
	}
	if !m.auditTried.IsZero() && m.now().Sub(m.auditTried) < pause {
		return nil
	}
	return m.auditNow()
}

// auditNow audits, unless that is under way.
func (h *hub) auditNow() tea.Cmd {
	if h.root.waits(slotAudit) {
		return nil
	}
	h.progress = &reconcile.Progress{}
	return askAudit(h.root, h.backend)
}

// total is how many tasks there are.
func (h *hub) total() int {
	n := 0
	if h.counts != nil {
		for _, q := range h.counts.Queues {
			n += q.Size()
		}
	}
	return n
}

// undo plans to restore what the last run has changed.
func (m *Model) undo() tea.Cmd { return m.plan(Ask{Verb: VerbRestore}) }

// change plans a change of tasks.
func (h *hub) change(v Verb, refs []inspect.Ref) tea.Cmd {
	if h.writable() == "" && len(refs) == 0 {
		h.say("no task is marked, and the cursor is on none")
		return nil
	}
	return h.plan(Ask{Verb: v, Refs: refs})
}

// explainRef shows what the command explain says.
func (h *hub) explainRef(ref inspect.Ref) tea.Cmd {
	h.say(fmt.Sprintf("explaining %s …", safe(ref.ID)))
	return askText(h.root, h.backend, ref, max(40, min(h.width, 120)))
}

// explainLine is the command that explains a task.
func (h *hub) explainLine(ref inspect.Ref) string {
	return h.lineOf(reconcile.Command("explain").Operands(ref.Queue, ref.ID))
}
