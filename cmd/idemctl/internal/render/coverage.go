package render

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// coverage writes which rule looked where, and whether the database itself stops
// a second effect.
func (p *page) coverage(r *reconcile.Report) {
	if len(r.Rules) == 0 {
		return
	}
	remark := ""
	if none := r.Unruled; none > 0 {
		remark = plural(none, "task has no rule", "tasks have no rule")
	}
	p.title("COVERAGE", remark)
	if p.width < groupsInColumns {
		for _, use := range r.Rules {
			p.rule(use)
		}
		return
	}
	columns := []column{
		{title: "RULE", right: true},
		{title: "TYPE", least: 8},
		{title: "QUEUE", least: 5},
		{title: "KEY", least: 12},
		{title: "TASKS", right: true},
		{title: "LOOKS INTO", least: 30},
		{title: "A SECOND ROW IS", paint: p.secondRow},
	}
	var rows [][]string
	for _, use := range r.Rules {
		rows = append(rows, ruleRows(use)...)
	}
	p.grid("  ", columns, rows)
}

// rule is one rule on a narrow page.
func (p *page) rule(use reconcile.RuleUse) {
	rows := ruleRows(use)
	first := rows[0]
	where := first[1]
	if first[2] != "*" {
		where += " in " + first[2]
	}
	p.hang("  "+padLeft(first[0], 2)+"  ", pad("", 6), joined(where, "key "+first[3], first[4]+" "+noun(use.Tasks, "task", "tasks")), "")
	var sources [][]string
	for _, row := range rows {
		second := row[6]
		if second != "" {
			second = "a second row is " + second
		}
		sources = append(sources, []string{row[5], second})
	}
	columns := []column{{least: 30}, {paint: p.secondRow}}
	p.gridRows(pad("", 6), columns, fitted(columns, sources, p.width-6, nil), sources, false)
}

// secondRow colours what the database would let through.
func (p *page) secondRow(cell string) string {
	if strings.Contains(cell, secondTaken) {
		return p.severity(reconcile.SeverityCritical, cell)
	}
	return cell
}

const secondTaken = "TAKEN"

// ruleRows has one row for each source of a rule; the rule is named in the first.
func ruleRows(use reconcile.RuleUse) [][]string {
	b := use.Rule
	name := strconv.Itoa(b.Number)
	if b.Implicit {
		name = "-"
	}
	head := []string{
		name, Visible(cmp.Or(b.Type, "*")), Visible(cmp.Or(b.Queue, "*")), Visible(cmp.Or(b.Rule.Key, "id")),
		count(use.Tasks),
	}
	if len(use.Sources) == 0 {
		words := "nothing"
		if b.Class.Natural() {
			words = "nothing: " + b.Class.String() + " repeats without harm"
		}
		return [][]string{append(head, words, "")}
	}
	var rows [][]string
	for _, f := range use.Sources {
		ref := sourceRef(f)
		rows = append(rows, append(head, ref.Role+" "+Visible(ref.Ledger)+"/"+Visible(ref.Table)+"."+Visible(word(ref.Column)), stopsSecond(f)))
		head = make([]string, len(head))
	}
	return rows
}

// stopsSecond says what the database does with a second row of one key.
func stopsSecond(f reconcile.SourceFacts) string {
	if f.Role == reconcile.RoleInbox {
		return ""
	}
	switch f.Unique {
	case reconcile.UniqueYes:
		return "refused"
	case reconcile.UniquePrefix:
		return "partly refused"
	case reconcile.UniqueNo:
		return secondTaken
	default:
		return "not known"
	}
}
