package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect/payload"
)

// corpusFinding shows one rule at one path, with two payloads that differ there.
func (c corpusPage) corpusFinding(f *payload.CorpusFinding) {
	sgr := sgrOf(f.Severity())
	c.blank()
	where := f.Rule.String()
	if f.Path != "" {
		where += " at " + Visible(f.Path)
	}
	c.hang("  "+c.with(sgr, shapeOf(f.Severity())+" "+f.Severity().String())+"  ", "    ",
		joined(where, plural(f.Count, "payload", "payloads")), sgrBold)
	c.hang("    ", "    ", sentence(Visible(f.Message)), "")
	if f.Kappa > 0 {
		c.hang("    ", "    ", sentence(kappaWords(f)), sgrDim)
	}
	c.examples(f, sgr)
	c.explain(f.Rule)
}

func kappaWords(f *payload.CorpusFinding) string {
	words := "without it " + percent(f.Kappa) + " of the payloads equal another one"
	if f.Chance < 1 {
		words += fmt.Sprintf(", which chance does with a probability of %.1g", f.Chance)
	}
	return words
}

// examples show the payloads of a finding, with the bytes in which they differ.
func (c corpusPage) examples(f *payload.CorpusFinding, sgr string) {
	a, b := f.Examples[0], f.Examples[1]
	switch {
	case a.ID == "" && a.Payload == nil:
		return
	case b.ID == "" && b.Payload == nil:
		c.hang("    ", "    ", "such as "+Visible(a.ID), sgrDim)
		return
	}
	places := differing(f, payload.Diff(a.Payload, b.Payload))
	at := place{a: payload.Range{}, b: payload.Range{}}
	if len(places) > 0 {
		at = places[0]
	} else if i := payload.Diff(a.Payload, b.Payload).FirstByte; i >= 0 {
		at.a, at.b = payload.Range{Start: i, End: i + 1}, payload.Range{Start: i, End: i + 1}
	}
	for _, p := range places {
		if generalised(p.path) == f.Path {
			at = p
			break
		}
	}
	c.example(a, at.a, sgr)
	c.example(b, at.b, sgr)
	if len(places) > 1 {
		c.hang("    ", "    ", sentence("they differ at "+placeNames(places)), sgrDim)
	}
}

func (c corpusPage) example(x payload.Example, at payload.Range, sgr string) {
	c.hang("    ", "    ", Visible(x.ID), sgrDim)
	if at.Start < 0 || len(x.Payload) == 0 {
		c.hang("      ", "      ", "(not there)", "")
		return
	}
	hidden := c.hide.secretsIn(x.Payload)
	c.page.excerpt("      ", excerptOf(x.Payload, extent{at.Start, at.End}, hidden, c.excerptWidth-6), sgr)
}

// placeNames names a few paths.
func placeNames(places []place) string {
	const most = 5
	var names []string
	for _, p := range places[:min(len(places), most)] {
		if name := Visible(p.path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	more := ""
	if len(places) > most {
		more = " and more"
	}
	return strings.Join(names, ", ") + more
}

// generalised writes every index of a path as [*], and leaves quoted names alone.
func generalised(path string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(path); i++ {
		c := path[i]
		b.WriteByte(c)
		switch {
		case quoted && c == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case c == '\'':
			quoted = !quoted
		case c == '[' && !quoted:
			if end := strings.IndexByte(path[i:], ']'); end > 1 && path[i+1] >= '0' && path[i+1] <= '9' {
				b.WriteByte('*')
				i += end - 1
			}
		}
	}
	return b.String()
}
