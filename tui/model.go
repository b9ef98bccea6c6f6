package tui

import (
	"context"
	"fmt"
	"time"

	"github.com/charmbracelet/bubbles/key"
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
			m.say("the terminal did not take it: " + safe(msg.err.Error()))
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

// keys1 answers keys that came together, as fast fingers and slow lines send them,
// one by one. What was pasted is text: it is no key, but where a line is typed.
func (m *Model) keys1(k tea.KeyMsg) tea.Cmd {
	if k.Type != tea.KeyRunes {
		return m.press(k)
	}
	if k.Paste {
		if m.prompt != nil || m.typing() {
			return m.press(k)
		}
		m.say("pasted text is no key: / or : opens a line for it")
		return nil
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, m.press(one))
		if m.quitting {
			break
		}
	}
	return tea.Batch(cmds...)
}

// typing says whether the screen on top takes every key itself.
func (m *Model) typing() bool {
	t, ok := m.top().(typing)
	return ok && t.typing()
}

// press answers a key: the one that always ends, then whoever is on top.
func (m *Model) press(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyCtrlJ { // Enter, typed before the terminal was the browser's
		k.Type = tea.KeyEnter
	}
	if key.Matches(k, m.keys.stop) {
		if t, ok := m.top().(leaving); ok && t.mayLeave() != "" {
			m.say(t.mayLeave())
			return nil
		}
		m.quitting = true
		m.cancel()
		return tea.Quit
	}
	switch {
	case m.help != nil:
		if m.help.press(k, &m.keys) {
			m.help = nil
		}
		return nil
	case m.prompt != nil:
		return m.pressPrompt(k)
	}
	if t, ok := m.top().(typing); ok && t.typing() {
		return t.typed(k)
	}
	said := m.flashAt
	cmd, ok := perform(k, m.top().actions())
	if !ok {
		cmd, ok = perform(k, m.common())
	}
	if ok {
		m.hushOld(said)
	}
	return cmd
}

// common are the keys of every screen.
func (m *Model) common() []action {
	k := &m.keys
	return []action{
		act(k.filter, "filter", func() tea.Cmd { m.beginFilter(); return nil }),
		act(k.jump, "jump", func() tea.Cmd { m.prompt = newPrompt(':', ""); return nil }),
		act(k.commandLine, "", m.showCommand),
		act(k.undo, "", m.undo),
		act(k.audit, "", func() tea.Cmd { return m.auditNow() }),
		act(k.refresh, "", func() tea.Cmd { return m.refresh(true) }),
		act(k.help, "help", func() tea.Cmd { m.help = newHelp(m); return nil }),
		act(k.back, "back", m.escape),
		act(k.quit, "", m.quit),
		act(k.stop, "", nil),
	}
}

// wanted asks for what the screen on top needs after one has moved in it.
func (m *Model) wanted() tea.Cmd {
	if w, ok := m.top().(wanting); ok {
		return w.want()
	}
	return nil
}

// escape clears the filter, then goes back. It never quits.
func (m *Model) escape() tea.Cmd {
	if f, ok := m.top().(filtered); ok && f.filter() != "" {
		_ = f.setFilter("") // no filter is always one
		return m.wanted()
	}
	cmd, _ := m.back()
	return cmd
}

func (m *Model) quit() tea.Cmd {
	if cmd, went := m.back(); went {
		return cmd
	}
	m.quitting = true
	m.cancel()
	return tea.Quit
}

// showCommand shows the command line that does the same; asked twice, it copies it.
func (m *Model) showCommand() tea.Cmd {
	line := m.top().command()
	shown := m.lineShown(line)
	switch {
	case line == "":
		m.say("no command does this")
	case m.flash == shown:
		return copyText(m.opt.Out, "the command line", line)
	default:
		m.say(shown)
	}
	return nil
}

// undo plans to restore what the last run has changed.
func (m *Model) undo() tea.Cmd {
	if words := m.writable(); words != "" {
		m.say(words)
		return nil
	}
	return m.open(newPlanScreen(m.hub, Ask{Verb: VerbRestore}))
}

// change plans a change of tasks.
func (h *hub) change(v Verb, refs []inspect.Ref) tea.Cmd {
	switch words := h.writable(); {
	case words != "":
		h.say(words)
	case len(refs) == 0:
		h.say("no task is marked, and the cursor is on none")
	default:
		return h.open(newPlanScreen(h, Ask{Verb: v, Refs: refs}))
	}
	return nil
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
