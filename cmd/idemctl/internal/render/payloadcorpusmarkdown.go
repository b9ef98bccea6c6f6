package render

import (
	"io"
	"strings"

	"github.com/idemctl/idemctl/inspect/payload"
)

// writeCorpusMarkdown writes a table of findings in GitHub's dialect.
func writeCorpusMarkdown(w io.Writer, reports []payload.GroupReport, e PayloadEnd) error {
	out := newOutput(w)
	out.put("## idemctl payload corpus\n\n",
		markdownHead([]string{"Severity", "Rule", "Queue", "Type", "Path", "Payloads", "What is wrong", "Such as", "Fix"}))
	for i := range reports {
		r := &reports[i]
		for k := range r.Findings {
			f := shapeEvidence(&r.Findings[k])
			var examples []string
			for _, id := range f.Examples {
				examples = append(examples, code(id))
			}
			out.put(markdownRow([]string{
				f.Severity, code(f.Rule), code(r.Queue), code(r.Type), code(f.Path), count(f.Count) + " of " + count(r.Payloads),
				prose(f.Message), strings.Join(examples, " "), prose(f.Fix),
			}))
		}
	}
	if !e.Complete {
		out.put("\n**Incomplete: ", prose(e.Problem), "**\n")
	}
	return out.flush()
}
