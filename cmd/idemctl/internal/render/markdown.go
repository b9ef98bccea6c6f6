package render

import (
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// markdownAudit writes GitHub's Markdown, to be pasted into an incident or a
// review. Text from outside stands in code: there it can neither break the table
// nor mention, link or embed anything.
type markdownAudit struct{ base }

func (m *markdownAudit) finding(f *reconcile.Finding) error {
	s := m.shape(f)
	cells := []string{
		shape(f.Severity) + " " + s.Severity,
		code(s.Code),
		codeOrNone(s.Queue),
		codeOrNone(s.TaskID),
		codeOrNone(s.Type),
		word(s.State),
		word(s.Status),
		prose(s.Message),
		word(s.LastFailedAt),
		codeOrNone(s.Action),
	}
	if m.opt.ShowPayload {
		cells = append(cells, codeOrNone(text(payloadCell(s.Payload, s.PayloadEncoding))))
	}
	return m.keep(f, []byte(markdownRow(cells)))
}

func (m *markdownAudit) close(r *reconcile.Report, h *Header) error {
	out := newOutput(m.w)
	out.put("## idemctl audit\n\n")
	for _, v := range verdictOf(r) {
		out.put("- ", shape(v.severity), " **", prose(v.text), "**\n")
	}
	out.put("\n")
	for _, f := range scopeOf(r, h) {
		out.put("- ", f.name, ": ", code(f.text), "\n")
	}
	markdownGroups(out, r)
	if m.n > 0 {
		out.put("\n### Findings\n\n", m.head())
		if err := m.each(func(row []byte) { out.put(string(row)) }); err != nil {
			return err
		}
	}
	if omitted := m.n - m.limit(); omitted > 0 {
		out.put("\n", plural(omitted, "finding", "findings"), " more than `--limit`.\n")
	}
	markdownCoverage(out, r)
	return out.flush()
}

func (m *markdownAudit) head() string {
	names := []string{"Severity", "Code", "Queue", "Task", "Type", "State", "Effect", "What is wrong", "Failed at", "Next"}
	if m.opt.ShowPayload {
		names = append(names, "Payload")
	}
	return markdownHead(names)
}

func markdownGroups(out output, r *reconcile.Report) {
	if len(r.Signatures) == 0 {
		return
	}
	out.put("\n### Failures alike\n\n", markdownHead([]string{"Count", "Type", "Cause", "Error", "First", "Last", "Such as"}))
	for i := range r.Signatures {
		if i == maxGroups {
			out.put("\n", plural(len(r.Signatures)-i, "more group", "more groups"), ".\n")
			break
		}
		s := shapeSignature(&r.Signatures[i])
		out.put(markdownRow([]string{
			count(s.Count), codeOrNone(s.Type), causeWords(r.Signatures[i].Cause), codeOrNone(s.Text),
			word(s.FirstAt), word(s.LastAt), code(refWords(r.Signatures[i].Example)),
		}))
	}
}

func markdownCoverage(out output, r *reconcile.Report) {
	if len(r.Rules) == 0 {
		return
	}
	out.put("\n### Coverage\n\n", markdownHead([]string{"Rule", "Type", "Queue", "Key", "Tasks", "Looks into", "A second row is"}))
	for _, use := range r.Rules {
		for _, row := range ruleRows(use) {
			for _, i := range [...]int{1, 2, 3, 5} {
				row[i] = codeOrNone(text(row[i]))
			}
			out.put(markdownRow(row))
		}
	}
}

func markdownHead(names []string) string {
	rule := make([]string, len(names))
	for i := range rule {
		rule[i] = "---"
	}
	return markdownRow(names) + markdownRow(rule)
}

func markdownRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func codeOrNone(s *string) string {
	if s == nil {
		return ""
	}
	return code(*s)
}

// code is hostile text as a code span that holds inside a table. Backticks and
// pipes would end the span or the cell, so that text with one of them, or with
// blanks that a span would drop, is written as an HTML element in which every
// sign is a character reference.
func code(s string) string {
	s = Visible(s)
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s, "`|\\") && strings.TrimSpace(s) == s {
		return "`" + s + "`"
	}
	return "<code>" + references(s) + "</code>"
}

// prose is hostile text in a sentence: no sign in it means anything to Markdown.
// @ and # stand in code, where they mention nobody and no issue.
func prose(s string) string {
	return strings.NewReplacer(
		"&#64;", "<code>&#64;</code>",
		"&#35;", "<code>&#35;</code>",
		"://", "&#58;//",
		"www.", "www&#46;",
	).Replace(references(Visible(s)))
}

// references writes the ASCII signs that Markdown or HTML may act upon, and
// blanks that it would drop, as character references, which CommonMark takes for
// text.
func references(s string) string {
	var b strings.Builder
	for _, r := range s {
		drops := r == ' ' && (b.Len() == 0 || strings.HasSuffix(b.String(), " "))
		if drops || strings.ContainsRune("\\`*_[]<>#|~@!&$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
