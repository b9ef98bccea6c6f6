package render

import (
	"cmp"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// maxGroups is how many groups of like failures a report shows.
const maxGroups = 8

// groupsInColumns is the width from which groups are one line each.
const groupsInColumns = 120

// groups writes the failures that are alike but for their numbers and names.
func (p *page) groups(r *reconcile.Report) {
	if len(r.Signatures) == 0 {
		return
	}
	n := r.SignaturesCut
	for _, g := range r.Signatures {
		n += g.Count
	}
	p.title("FAILURES ALIKE", plural(n, "failed task", "failed tasks")+" in "+plural(len(r.Signatures), "group", "groups"))
	shown := r.Signatures[:min(len(r.Signatures), maxGroups)]
	if p.width >= groupsInColumns {
		p.groupColumns(shown)
	} else {
		for i := range shown {
			p.group(&shown[i])
		}
	}
	more := len(r.Signatures) - len(shown)
	if more > 0 || r.SignaturesCut > 0 {
		p.text("  and "+plural(more, "more group", "more groups")+"; -o json lists them", sgrDim)
	}
}

// group is one group on a narrow page.
func (p *page) group(g *reconcile.Signature) {
	sign := p.severity(g.Severity, shape(g.Severity))
	head := []string{count(g.Count) + " × " + Visible(cmp.Or(g.Type, "(no type)")), causeWords(g.Cause), p.period(g)}
	p.hang("  "+sign+" ", "    ", joined(head...), "")
	if g.Text != "" {
		p.hang("    ", "    ", Visible(g.Text), "")
	}
	p.hang("    ", "    ", "such as "+refWords(g.Example), sgrDim)
}

func (p *page) groupColumns(groups []reconcile.Signature) {
	columns := []column{
		{title: ""},
		{title: "COUNT", right: true},
		{title: "TYPE", least: 12},
		{title: "CAUSE"},
		{title: "FIRST", right: true},
		{title: "LAST", right: true},
		{title: "ERROR", least: 30},
		{title: "SUCH AS", least: 30, paint: p.dim},
	}
	var rows [][]string
	for i := range groups {
		g := &groups[i]
		rows = append(rows, []string{
			shape(g.Severity), count(g.Count), Visible(g.Type), causeWords(g.Cause),
			p.since(g.FirstAt), p.since(g.LastAt), Visible(g.Text), refWords(g.Example),
		})
	}
	p.grid("  ", columns, rows)
}

// period is when the failures of a group happened.
func (p *page) period(g *reconcile.Signature) string {
	first, last := p.since(g.FirstAt), p.since(g.LastAt)
	if first == last {
		return last
	}
	return first + " to " + last
}

func causeWords(c reconcile.Cause) string {
	return strings.ReplaceAll(cmp.Or(string(c), "cause unknown"), "-", " ")
}

// refWords names a task for a reader.
func refWords(r inspect.Ref) string {
	if r.Queue == "" {
		return Visible(r.ID)
	}
	return Visible(r.Queue) + "/" + Visible(r.ID)
}

// signatureLine is a group on one line of a pipe.
func signatureLine(g *reconcile.Signature) string {
	return "alike: " + joined(
		count(g.Count)+" × "+Visible(g.Type), causeWords(g.Cause), Visible(g.Text), "such as "+refWords(g.Example))
}
