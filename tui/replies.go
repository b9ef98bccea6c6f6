package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/reconcile"
)

// reply hands a reply to the desk that waits for it. Others are stale: dropped.
func (m *Model) reply(r reply) tea.Cmd {
	if r.desk == m.root.id {
		if !m.root.take(r) {
			return discard(r)
		}
		return tea.Batch(m.rootReply(r), r.more)
	}
	for _, s := range m.stack {
		if d := s.papers(); d.id == r.desk {
			if !d.take(r) {
				return nil
			}
			m.weigh(r)
			return tea.Batch(s.answer(r), r.more)
		}
	}
	return nil
}

// discard closes what a reply brought that nobody waits for.
func discard(r reply) tea.Cmd {
	if o, ok := r.value.(opened); ok && r.err == nil {
		return closeBackend(o.backend)
	}
	return nil
}

// weigh learns from a reply which sources answer.
func (m *Model) weigh(r reply) {
	switch {
	case errors.Is(r.err, context.Canceled):
	case r.err != nil:
		m.blame(r.err)
	case r.more == nil && (r.slot == slotRows || r.slot == slotDossier || r.slot == slotList):
		m.fine()
	}
}

// rootReply takes a reply to what the frame asked.
func (m *Model) rootReply(r reply) tea.Cmd {
	switch r.slot {
	case slotCounts:
		return m.tookCounts(r)
	case slotAudit:
		m.tookAudit(r)
	case slotText:
		return m.tookText(r)
	case slotContext:
		return m.tookContext(r)
	case slotPing:
		m.tookPing(r)
	}
	return nil
}

func (m *Model) tookCounts(r reply) tea.Cmd {
	m.unread = r.err
	if r.err != nil {
		m.blame(r.err)
		return nil
	}
	c, ok := r.value.(Counts)
	if !ok {
		return nil
	}
	m.fine()
	m.before, m.counts, m.countsAt = m.counts, &c, m.now()
	return m.auditIfDue()
}

func (m *Model) tookAudit(r reply) {
	if p, ok := r.value.(reconcile.Progress); ok && r.more != nil {
		m.progress = &p
		return
	}
	m.progress, m.auditTried = nil, m.now()
	m.refused = r.err
	if r.err != nil {
		m.blame(r.err)
		return
	}
	m.auditAt = m.now()
	a, ok := r.value.(*Audit)
	if !ok {
		return
	}
	if a.Problem != nil {
		m.blame(a.Problem)
	} else {
		m.fine()
	}
	m.news = map[string]bool{}
	if m.audit != nil {
		had := map[string]int{}
		for _, g := range m.audit.Groups {
			had[g.key()] = g.Count
		}
		for _, g := range a.Groups {
			m.news[g.key()] = g.Count > had[g.key()]
		}
	}
	m.audit = a
}

func (m *Model) tookPing(r reply) {
	if said, ok := r.value.(map[string]error); ok && r.err == nil {
		m.ping(said)
	}
}

// tookText hands a text to the pager, or shows it.
func (m *Model) tookText(r reply) tea.Cmd {
	m.hush()
	if r.err != nil {
		m.say(safe(r.err.Error()))
		return nil
	}
	t, ok := r.value.(explained)
	if !ok {
		return nil
	}
	if len(m.opt.Pager) == 0 {
		return m.open(newTextScreen(m.hub, "explain", t.text))
	}
	return page(m.opt.Pager, t.text)
}

// tookContext goes over to another context; what was shown of the old one goes.
func (m *Model) tookContext(r reply) tea.Cmd {
	if r.err != nil {
		m.say("the context cannot be opened: " + safe(r.err.Error()))
		return nil
	}
	o, ok := r.value.(opened)
	if !ok {
		return nil
	}
	if words := m.stuck(); words != "" {
		m.say(words)
		return closeBackend(o.backend)
	}
	old := m.backend
	for _, s := range m.stack {
		s.papers().close()
	}
	m.root.close()
	m.backend = o.backend
	m.counts, m.before, m.audit, m.progress, m.refused, m.news = nil, nil, nil, nil, nil, nil
	m.auditAt, m.auditTried, m.countsAt = time.Time{}, time.Time{}, time.Time{}
	m.unread = nil
	m.met()
	m.root = m.newDesk()
	m.stack = []screen{newOverview(m.hub)}
	m.say("context " + safe(o.backend.Place().Context))
	return tea.Batch(closeBackend(old), m.askFrame(), m.top().begin())
}
