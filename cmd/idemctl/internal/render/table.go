package render

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/idemctl/idemctl/reconcile"
)

// tableAudit is the report for a terminal: what it comes to, what was looked at,
// failures alike, findings with the next command, coverage, and one next step.
// It keeps no more findings than it prints, of each code.
type tableAudit struct {
	base
	most int
	kept map[reconcile.Code]*best
}

func newTableAudit(b base) *tableAudit {
	most := b.opt.limited(defaultLimit)
	if most < 0 {
		most = math.MaxInt
	}
	return &tableAudit{base: b, most: most, kept: map[reconcile.Code]*best{}}
}

func (t *tableAudit) finding(f *reconcile.Finding) error {
	t.n++
	if !t.opt.ShowPayload {
		f.Task.Payload = nil
	}
	kept := t.kept[f.Code]
	if kept == nil {
		kept = &best{}
		t.kept[f.Code] = kept
	}
	// One of each code is kept whatever the limit: the next step may need it.
	kept.offer(ranked{t.order.key(factsOf(f)), f}, max(t.most, 1))
	return nil
}

func (t *tableAudit) close(r *reconcile.Report, h *Header) error {
	p := newPage(t.w, t.opt)
	verdicts := verdictOf(r)
	p.verdict(verdicts)
	p.scope(scopeOf(r, h))
	p.groups(r)
	t.findings(p, r)
	p.coverage(r)
	if code, next := t.next(verdicts); next != "" {
		p.title("NEXT", p.sameFlags(string(code)))
		p.command("  ", next)
	}
	return p.flush()
}

// findings writes those chosen, under a heading for each code.
func (t *tableAudit) findings(p *page, r *reconcile.Report) {
	chosen := t.chosen()
	if len(chosen) == 0 {
		return
	}
	remark := plural(t.n, "finding", "findings")
	if len(chosen) < t.n {
		remark = count(len(chosen)) + " of " + remark
	}
	p.title("FINDINGS", remark)
	for len(chosen) > 0 {
		n := 1
		for n < len(chosen) && sameHeading(&chosen[n], &chosen[0]) {
			n++
		}
		t.section(p, chosen[:n], r.Totals.ByCode[chosen[0].Code])
		chosen = chosen[n:]
	}
	if left := t.n - min(t.n, t.most); left > 0 {
		p.blank()
		p.text(plural(left, "finding is", "findings are")+" not shown: --limit N shows more, -o wide and -o json show all", sgrDim)
	}
}

func sameHeading(f, g *reconcile.Finding) bool {
	return f.Code == g.Code && f.Severity == g.Severity
}

// chosen are the findings to print, in order. In the usual order every code gets
// some room before the worst ones get all that is left, so that a flood of one
// kind hides no other.
func (t *tableAudit) chosen() []reconcile.Finding {
	codes := t.codes()
	share := map[reconcile.Code]int{}
	left := t.most
	for _, turn := range [...]int{1, 3, math.MaxInt} {
		for _, code := range codes {
			more := min(turn, t.kept[code].Len(), share[code]+left) - share[code]
			if more > 0 {
				share[code] += more
				left -= more
			}
		}
	}
	if (t.order != order{}) {
		share = nil
	}
	var all []ranked
	for _, code := range codes {
		kept := t.kept[code].sorted()
		if share != nil {
			kept = kept[:share[code]]
		}
		all = append(all, kept...)
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return bytes.Compare(a.key, b.key) })
	findings := make([]reconcile.Finding, 0, len(all))
	for _, f := range all[:min(len(all), t.most)] {
		findings = append(findings, *f.finding)
	}
	return findings
}

// codes are those found, worst first.
func (t *tableAudit) codes() []reconcile.Code {
	codes := make([]reconcile.Code, 0, len(t.kept))
	for code := range t.kept {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b reconcile.Code) int {
		return cmp.Or(cmp.Compare(b.Severity(), a.Severity()), cmp.Compare(a, b))
	})
	return codes
}

// next is the command that helps most: the one for the first finding of what the
// report opens with.
func (t *tableAudit) next(verdicts []verdict) (reconcile.Code, string) {
	for _, v := range verdicts {
		if v.severity <= reconcile.SeverityInfo {
			continue
		}
		for _, code := range v.codes {
			kept := t.kept[code]
			if kept == nil {
				continue
			}
			if action := kept.sorted()[0].finding.Action(); action != "" {
				return code, action
			}
		}
	}
	return "", ""
}

// ranked is a finding and its place in the order.
type ranked struct {
	key     []byte
	finding *reconcile.Finding
}

// best keeps the first findings in the order, the last of them on top.
type best []ranked

// offer takes a finding if it is among the first n.
func (b *best) offer(f ranked, n int) {
	if b.Len() >= n {
		if bytes.Compare(f.key, (*b)[0].key) >= 0 {
			return
		}
		(*b)[0] = f
		heap.Fix(b, 0)
		return
	}
	heap.Push(b, f)
}

// sorted is what was kept, in order.
func (b *best) sorted() []ranked {
	kept := slices.Clone(*b)
	slices.SortFunc(kept, func(f, g ranked) int { return bytes.Compare(f.key, g.key) })
	return kept
}

func (b best) Len() int           { return len(b) }
func (b best) Less(i, j int) bool { return bytes.Compare(b[i].key, b[j].key) > 0 }
func (b best) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *best) Push(x any)        { *b = append(*b, x.(ranked)) }
func (b *best) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}
