package tui

import (
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/timeline"
)

// ttl lists the types of tasks with the lock that they need beside the one that is
// declared. It is made of what the last audit has seen.
type ttl struct {
	*hub
	desk  *desk
	made  *Audit
	kinds []ttlKind
	where filter
	list  list
	table table
}

// mostTypes bounds what is computed at once: type names come from anywhere.
const mostTypes = 1000

// ttlKind is one type in one queue.
type ttlKind struct {
	observed.Kind
	facts  *observed.Facts
	params retry.Params
	safe   retry.Seconds // what outlives all of them; 0: nothing, or nobody can say
	why    string        // why nobody can
	inUse  *retry.Seconds
}

func newTTL(h *hub) *ttl {
	return &ttl{hub: h, desk: h.newDesk(), table: table{columns: []column{
		{title: "TYPE", least: 8, good: 16},
		{title: "QUEUE", least: 6, good: 10, spare: 2},
		{title: "TASKS", right: true, spare: 3},
		{title: "RETRIES", right: true, spare: 4},
		{title: "DELAY", least: 8, spare: 5},
		{title: "IN USE", right: true},
		{title: "NEEDED", right: true},
		{title: ""},
	}}}
}

func (s *ttl) papers() *desk        { return s.desk }
func (s *ttl) name() string         { return "TTL" }
func (s *ttl) again() tea.Cmd       { return nil }
func (s *ttl) answer(reply) tea.Cmd { return nil }
func (s *ttl) command() string      { return s.lineOf(reconcile.Command("ttl-calc --all")) }
func (s *ttl) filter() string       { return s.where.text }

func (s *ttl) begin() tea.Cmd {
	if s.audit == nil && s.total() <= autoAudit {
		return s.auditNow()
	}
	return nil
}

func (s *ttl) setFilter(text string) error {
	f, err := parseFilter(text)
	switch {
	case err != nil:
		return err
	case !f.empty() && len(f.words) == 0:
		return errors.New("types are filtered by words, not by an expression")
	}
	s.where, s.made = f, nil
	return nil
}

func (s *ttl) shown() shown {
	s.arrange() // what is said is of the audit that is about to be drawn
	out := shown{at: s.auditAt, busy: s.auditing()}
	if s.audit != nil {
		out.words = plural(len(s.kinds), "type", "types")
	}
	out.filter = s.where.text
	return out
}

// arrange computes what the types need, once for each audit.
func (s *ttl) arrange() {
	if s.audit == nil || s.made == s.audit {
		return
	}
	var here observed.Kind
	if k, ok := s.current(); ok {
		here = k.Kind
	}
	s.made = s.audit
	s.kinds = s.kinds[:0]
	for _, f := range s.audit.Kinds {
		if f.Tasks > 0 && len(s.kinds) < mostTypes && s.where.found(f.Type, f.Queue) {
			s.kinds = append(s.kinds, s.kindOf(f))
		}
	}
	s.list.resize(len(s.kinds), s.list.height)
	if i := slices.IndexFunc(s.kinds, func(k ttlKind) bool { return k.Kind == here }); i >= 0 {
		s.list.keep(i)
	}
}

// kindOf asks what the tasks of the kind need, as ttl-calc --all does.
func (s *ttl) kindOf(f *observed.Facts) ttlKind {
	declared, binds := s.backend.Params(f.Type, f.Queue)
	need := f.Need(declared, binds)
	k := ttlKind{Kind: f.Kind, facts: f, params: need.Params, why: need.Why}
	if need.Safe != nil {
		k.safe = *need.Safe
	}
	k.inUse, _ = f.InUse(declared.UniqueTTL)
	return k
}

// verdict says how the lock in use stands to the one needed. Where nobody can say,
// it does not.
func (k *ttlKind) verdict() (reconcile.Severity, string) {
	switch {
	case k.inUse == nil && k.facts.Locks.Unique == 0:
		return reconcile.SeverityInfo, "not unique"
	case k.inUse == nil || k.safe == 0:
		return reconcile.SeverityWarning, "unknown" + k.doubt()
	case *k.inUse < k.safe:
		return reconcile.SeverityHigh, "too short"
	case k.params.Period > 0 && *k.inUse > k.params.Period:
		return reconcile.SeverityWarning, "too long: equal work may come again sooner"
	}
	return reconcile.SeverityNone, "long enough"
}

// doubt is why nobody can say, in a word; the type's own screen says it in full.
func (k *ttlKind) doubt() string {
	switch f := k.facts; {
	case f.Paused:
		return ": paused"
	case f.Servers == 0:
		return ": unserved"
	case f.Uncounted > 0:
		return ": uncounted"
	case k.contradicted(k.params.Delay):
		return ": delays contradict"
	}
	return ""
}

// contradicted says whether a delay was seen that the policy cannot have given.
func (k *ttlKind) contradicted(p retry.Policy) bool {
	if p.Equal(k.params.Delay) {
		delays, inside := k.facts.Seen()
		return inside < delays
	}
	return k.facts.Outside(p) > 0
}

func (s *ttl) current() (ttlKind, bool) {
	if s.list.cursor < len(s.kinds) {
		return s.kinds[s.list.cursor], true
	}
	return ttlKind{}, false
}

func (s *ttl) actions() []action {
	k := &s.keys
	out := []action{
		act(named(k.open, "open the type's timeline"), "open", func() tea.Cmd {
			if kind, ok := s.current(); ok {
				return s.open(newTTLKind(s.hub, kind))
			}
			return nil
		}),
		act(k.audit, "audit now", func() tea.Cmd { return s.auditNow() }),
	}
	return append(out, k.moves(&s.list, func() tea.Cmd { return nil })...)
}

func (s *ttl) click(line int) {
	if i := s.list.top + line - 1; line >= 1 && i < len(s.kinds) {
		s.list.to(i)
	}
}

func (s *ttl) body(width, height int) []string {
	s.arrange()
	switch {
	case s.audit == nil:
		return append([]string{""}, indented(s.noAudit(), width)...)
	case len(s.kinds) == 0:
		return append([]string{""}, indented("no type of tasks", width)...)
	}
	s.list.resize(len(s.kinds), height-1)
	from, to := s.list.window()
	var rows [][]string
	for i := from; i < to; i++ {
		rows = append(rows, s.cells(&s.kinds[i]))
	}
	shown, widths := s.table.fit(rows, width-margin, true)
	lines := []string{"    " + s.theme.dim.Render(s.table.line(s.table.titles(-1, false), shown, widths, nil))}
	for n, row := range rows {
		sev, _ := s.kinds[from+n].verdict()
		if from+n == s.list.cursor {
			lines = append(lines, s.theme.cursor.Render(clip("▸ "+shape(sev)+" "+s.table.line(row, shown, widths, nil), width)))
			continue
		}
		lines = append(lines, "  "+s.theme.severity(sev, shape(sev))+" "+s.table.line(row, shown, widths, func(c int, text string) string {
			if c == len(row)-1 {
				return s.theme.severity(sev, text)
			}
			return text
		}))
	}
	return lines
}

func (s *ttl) cells(k *ttlKind) []string {
	inUse, needed := "", "-"
	if k.inUse != nil {
		inUse = timeline.Clock(*k.inUse, timeline.RoundDown)
	}
	if k.safe > 0 {
		needed = timeline.Clock(k.safe, timeline.RoundUp)
	}
	_, words := k.verdict()
	return []string{safe(k.Type), safe(k.Queue), count(k.facts.Tasks), fmt.Sprint(k.params.MaxRetry), safe(k.params.Delay.String()), inUse, needed, words}
}
