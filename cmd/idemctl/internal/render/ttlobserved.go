package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// observed writes what Redis shows of each kind, and what it cannot tell.
func (p *page) observed(o *ttlObservedJSON) {
	if o == nil {
		return
	}
	p.title("Observed in Redis", strings.Join(observedScope(o), ", "))
	if !o.Complete {
		p.hang("  "+p.with(sgrYellow, "!")+" ", "    ", "incomplete: "+Visible(word(o.Problem)), sgrBold)
	}
	if len(o.Kinds) == 0 {
		p.text("  no task of this type, and no periodic entry", "")
	}
	for i := range o.Kinds {
		p.kind(&o.Kinds[i])
	}
	p.title("What Redis cannot tell", "")
	for _, line := range o.Untold {
		p.hang("  · ", "    ", line, sgrDim)
	}
}

func observedScope(o *ttlObservedJSON) []string {
	return []string{plural(o.Tasks, "task", "tasks"), plural(o.Servers, "live server", "live servers")}
}

// kind writes one kind: the facts, then what the configuration should say.
func (p *page) kind(k *ttlKindJSON) {
	p.blank()
	p.hang("  ", "    ", Visible(k.Type)+" in "+Visible(k.Queue), sgrBold)
	p.pieces("  ", kindFacts(k), "")
	p.delays(k.Delays)
	for _, e := range k.Entries {
		p.hang("  "+p.dim("periodic")+" ", "    ", entryWords(e), "")
	}
	p.estimates(k.Estimates)
	p.shorts(k)
}

func kindFacts(k *ttlKindJSON) []string {
	facts := []string{plural(k.Tasks, "task", "tasks")}
	switch {
	case k.Paused:
		facts = append(facts, "queue paused")
	case k.Servers == 0:
		facts = append(facts, "no live server takes tasks from the queue")
	default:
		facts = append(facts, plural(k.Servers, "live server", "live servers"))
	}
	if s := k.Waits; s != nil {
		facts = append(facts, fmt.Sprintf("%s waiting, the longest %s so far", plural(s.Count, "task", "tasks"), exact(s.Max, timeline.RoundDown)))
	}
	if s := k.Runs; s != nil {
		facts = append(facts, fmt.Sprintf("%s under way, the longest %s so far", plural(s.Count, "attempt", "attempts"), exact(s.Max, timeline.RoundDown)))
	}
	if k.Uncounted > 0 {
		facts = append(facts, plural(k.Uncounted, "task", "tasks")+" in retry without a counted failure: IsFailure said no")
	}
	if k.Unique > 0 {
		facts = append(facts, plural(k.Unique, "live unique task", "live unique tasks"))
	}
	return facts
}

// delays compares what workers decided with the policy.
func (p *page) delays(delays []ttlDelayJSON) {
	if len(delays) == 0 {
		return
	}
	p.blank()
	columns := []column{
		{title: "retried", right: true},
		{title: "tasks", right: true},
		{title: "delay seen", right: true},
		{title: "by the policy", right: true},
		{title: "verdict", least: 8},
	}
	var rows [][]string
	for _, d := range delays {
		verdict := "✓"
		if d.Inside < d.Count {
			verdict = "✗ " + plural(d.Count-d.Inside, "task", "tasks") + " outside"
		}
		rows = append(rows, []string{strconv.Itoa(d.N + 1), count(d.Count), between(d.Min, d.Max), between(d.Low, d.High), verdict})
	}
	p.grid("  ", columns, rows)
}

func between(low, high retry.Time) string {
	from, to := exact(low, timeline.RoundDown), exact(high, timeline.RoundUp)
	if from == to {
		return from
	}
	return from + " … " + to
}

func entryWords(e ttlEntryJSON) string {
	words := []string{Visible(e.Spec)}
	if e.Interval != nil {
		words = append(words, "every "+exact(*e.Interval, timeline.RoundNearest))
	}
	if e.Unique != nil {
		words = append(words, "Unique "+exact(*e.Unique, timeline.RoundNearest))
	}
	if e.MaxRetry != nil {
		words = append(words, "MaxRetry "+strconv.Itoa(*e.MaxRetry))
	}
	if e.Timeout != nil {
		words = append(words, "Timeout "+exact(*e.Timeout, timeline.RoundNearest))
	}
	return strings.Join(words, ", ")
}

func (p *page) estimates(estimates []ttlEstimateJSON) {
	if len(estimates) == 0 {
		return
	}
	p.blank()
	columns := []column{
		{title: "setting"}, {title: "should say", least: 16}, {title: "rests on", least: 16}, {title: "says now", least: 12}, {title: "remark", least: 40, spare: true},
	}
	var rows [][]string
	for _, e := range estimates {
		says := "✓ " + e.Declared
		if !e.Agrees {
			says = "✗ " + e.Declared
		}
		rows = append(rows, []string{e.Name, e.Value, count(e.Count) + " " + e.Of, says, word(e.Remark)})
	}
	p.grid("  ", roomFor(columns, rows, p.width-2), rows)
}

// shorts names the tasks whose locks end first.
func (p *page) shorts(k *ttlKindJSON) {
	if k.Short == 0 {
		return
	}
	p.blank()
	p.hang("  "+p.with(sgrRed, "✗")+" ", "    ", plural(k.Short, "live task", "live tasks")+" can outlive the lock:", sgrBold)
	for _, t := range k.First {
		lock := "its lock is gone, or another task's"
		if t.Held {
			lock = "its lock ends in " + exact(t.Left, timeline.RoundDown)
		}
		p.hang("    ", "      ", fmt.Sprintf("%s  %s, %s, it can live %s", Visible(t.ID), t.State, lock, exact(t.Life, timeline.RoundUp)), "")
	}
	if more := k.Short - len(k.First); more > 0 {
		p.hang("    ", "      ", "and "+count(more)+" more", sgrDim)
	}
}

// plainObserved is the same for a pipe, as remarks.
func plainObserved(remark func(format string, args ...any), o *ttlObservedJSON) {
	if o == nil {
		return
	}
	remark("observed in redis: %s", strings.Join(observedScope(o), ", "))
	if !o.Complete {
		remark("incomplete: %s", Visible(word(o.Problem)))
	}
	for i := range o.Kinds {
		k := &o.Kinds[i]
		remark("%s in %s: %s", Visible(k.Type), Visible(k.Queue), strings.Join(kindFacts(k), ", "))
		for _, d := range k.Delays {
			remark("retried=%d tasks=%d delay=%s policy=%s inside=%d", d.N+1, d.Count, between(d.Min, d.Max), between(d.Low, d.High), d.Inside)
		}
		for _, e := range k.Entries {
			remark("periodic: %s", entryWords(e))
		}
		for _, e := range k.Estimates {
			remark("%s should say %s (%d %s); says %s", e.Name, e.Value, e.Count, e.Of, e.Declared)
		}
	}
	for _, line := range o.Untold {
		remark("not told by redis: %s", line)
	}
}
