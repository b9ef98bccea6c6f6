package render

import (
	"cmp"
	"context"
	"errors"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// shapeReport is the contract's form of a report, without findings.
func shapeReport(r *reconcile.Report, h *Header) auditJSON {
	s := auditJSON{
		Schema:        SchemaAudit,
		Complete:      r.Complete,
		Problem:       text(problemOf(r)),
		StartedAt:     instant(r.StartedAt),
		FinishedAt:    instant(r.FinishedAt),
		SkewSeconds:   seconds(r.Skew.Abs()),
		Redis:         shapeRedis(h.Redis),
		Ledgers:       shapeLedgers(r, h),
		Scope:         shapeScope(r, h),
		Rules:         []ruleJSON{},
		Signatures:    []signatureJSON{},
		SignaturesCut: r.SignaturesCut,
		Hashes:        []hashesJSON{},
		Totals: totalsJSON{
			Tasks:      r.Totals.Tasks,
			Findings:   findingsOf(&r.Totals),
			ByState:    counts(r.Totals.ByState),
			ByStatus:   counts(r.Totals.ByStatus),
			ByCode:     codeCounts(r.Totals.ByCode),
			BySeverity: counts(r.Totals.BySeverity),
		},
	}
	for _, h := range r.Hashes {
		s.Hashes = append(s.Hashes, hashesJSON(h))
	}
	for _, use := range r.Rules {
		s.Rules = append(s.Rules, shapeRule(use))
	}
	for i := range r.Signatures {
		s.Signatures = append(s.Signatures, shapeSignature(&r.Signatures[i]))
	}
	return s
}

// problemOf says in a word or a sentence why a report is not complete.
func problemOf(r *reconcile.Report) string {
	switch {
	case r.Complete:
		return ""
	case errors.Is(r.Problem, context.Canceled):
		return "interrupted"
	case errors.Is(r.Problem, context.DeadlineExceeded):
		return "timed out"
	case r.Problem == nil:
		return "stopped early"
	default:
		return r.Problem.Error()
	}
}

func findingsOf(t *reconcile.Totals) int {
	n := 0
	for _, c := range t.BySeverity {
		n += c
	}
	return n
}

func counts[K interface {
	comparable
	String() string
}](m map[K]int) map[string]int {
	named := make(map[string]int, len(m))
	for k, n := range m {
		if n != 0 {
			named[k.String()] += n
		}
	}
	return named
}

func codeCounts(m map[reconcile.Code]int) map[string]int {
	named := make(map[string]int, len(m))
	for c, n := range m {
		if n != 0 {
			named[string(c)] = n
		}
	}
	return named
}

func shapeRedis(f inspect.RedisFacts) redisJSON {
	return redisJSON{Mode: text(f.Mode), Addr: text(f.Addr), Version: text(f.Version)}
}

func shapeScope(r *reconcile.Report, h *Header) scopeJSON {
	s := scopeJSON{
		Queues:   list(r.Queues),
		States:   make([]string, 0, len(r.States)),
		Types:    list(r.Scope.Types),
		IDs:      list(r.Scope.IDs),
		Where:    text(h.Where),
		Narrowed: r.Scope.Narrowed() || h.Where != "",
	}
	for _, state := range r.States {
		s.States = append(s.States, state.String())
	}
	return s
}

func shapeRule(use reconcile.RuleUse) ruleJSON {
	rule := use.Rule
	s := ruleJSON{
		Number:   rule.Number,
		Type:     cmp.Or(rule.Type, "*"),
		Queue:    cmp.Or(rule.Queue, "*"),
		Class:    text(rule.Class.String()),
		Key:      cmp.Or(rule.Rule.Key, "id"),
		Implicit: rule.Implicit,
		Tasks:    use.Tasks,
		Sources:  make([]sourceRefJSON, 0, len(use.Sources)),
	}
	for _, f := range use.Sources {
		s.Sources = append(s.Sources, sourceRef(f))
	}
	return s
}

func shapeSignature(g *reconcile.Signature) signatureJSON {
	s := signatureJSON{
		Type:     text(g.Type),
		Cause:    text(g.Cause),
		Text:     text(g.Text),
		Severity: g.Severity.String(),
		Count:    g.Count,
		ByCode:   codeCounts(g.Codes),
		FirstAt:  instant(g.FirstAt),
		LastAt:   instant(g.LastAt),
	}
	if (g.Example != inspect.Ref{}) {
		example := refOf(g.Example)
		s.Example = &example
	}
	return s
}

// shapeLedgers joins the ledgers' facts with the sources that rules used in them.
func shapeLedgers(r *reconcile.Report, h *Header) []ledgerJSON {
	shaped := make([]ledgerJSON, 0, len(h.Ledgers))
	for _, l := range h.Ledgers {
		s := ledgerJSON{
			Name: l.Name, Kind: text(l.Facts.Kind), Version: text(l.Facts.Version),
			Server: text(l.Facts.Server), Sources: []ledgerSourceJSON{},
		}
		if l.Facts.Kind != "" {
			replica := l.Facts.Replica
			s.Replica = &replica
		}
		for _, f := range sourcesIn(r, l.Name) {
			s.Sources = append(s.Sources, shapeSource(f))
		}
		shaped = append(shaped, s)
	}
	return shaped
}

// sourcesIn are the sources that rules used in one ledger, each once.
func sourcesIn(r *reconcile.Report, ledger string) []reconcile.SourceFacts {
	type place struct {
		role          reconcile.Role
		table, column string
	}
	seen := map[place]bool{}
	var facts []reconcile.SourceFacts
	for _, use := range r.Rules {
		for _, f := range use.Sources {
			p := place{f.Role, cmp.Or(f.Table, f.Source.Table), cmp.Or(f.Column, f.Source.Column)}
			if f.Ledger == ledger && !seen[p] {
				seen[p] = true
				facts = append(facts, f)
			}
		}
	}
	return facts
}

func shapeSource(f reconcile.SourceFacts) ledgerSourceJSON {
	s := ledgerSourceJSON{
		Role:       f.Role.String(),
		Table:      cmp.Or(f.Table, f.Source.Table),
		Column:     text(cmp.Or(f.Column, f.Source.Column)),
		ColumnType: text(f.ColumnType),
		At:         text(cmp.Or(f.At, f.Source.At)),
		NotUnique:  text(f.NotUnique),
	}
	switch f.Unique {
	case reconcile.UniqueYes:
		yes := true
		s.Unique = &yes
	case reconcile.UniquePrefix, reconcile.UniqueNo:
		no := false
		s.Unique = &no
	case reconcile.UniqueUnknown:
	}
	return s
}
