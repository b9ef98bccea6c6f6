package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/timeline"
)

// SchemaTTLAll names the contract of `idemctl ttl-calc --all` with -o json; with
// -o ndjson each line is one of its kinds. It is published in
// docs/schema/ttlall.v1.json.
const SchemaTTLAll = "idemctl.ttlall/v1"

type ttlAllJSON struct {
	Schema string `json:"schema"`
	*ttlObservedJSON
	ByVerdict map[string]int `json:"by_verdict"`
}

// WriteTTLAll writes one line a kind: the TTL that is used, the one that is
// needed, and what that comes to.
func WriteTTLAll(w io.Writer, o Options, t *TTLObserved) error {
	o = o.filled()
	shape := &ttlAllJSON{Schema: SchemaTTLAll, ttlObservedJSON: shapeObserved(t), ByVerdict: map[string]int{}}
	for _, k := range shape.Kinds {
		shape.ByVerdict[k.Verdict]++
	}
	switch {
	case o.Format == FormatJSON:
		return writeDocument(w, o.TTY, shape)
	case o.Format == FormatNDJSON:
		return ndjsonTTLAll(w, shape)
	case !o.TTY:
		return plainTTLAll(w, o, shape)
	}
	return pageTTLAll(w, o, shape)
}

func ndjsonTTLAll(w io.Writer, s *ttlAllJSON) error {
	for i := range s.Kinds {
		if err := writeLine(w, &s.Kinds[i]); err != nil {
			return err
		}
	}
	return nil
}

func plainTTLAll(w io.Writer, o Options, s *ttlAllJSON) error {
	out := newOutput(w)
	row := func(cells ...string) { out.put(strings.Join(cells, "\t"), "\n") }
	if !s.Complete {
		row("# incomplete: " + Visible(word(s.Problem)))
	}
	if !o.NoHeaders {
		row("TYPE", "QUEUE", "VERDICT", "TTL_S", "NEEDED_S", "BY_S", "PERIOD_S", "SHORT_TASKS", "UNIQUE_TASKS", "GO", "TTL_FROM", "POLICY_FROM", "WHY")
	}
	for i := range s.Kinds {
		k := &s.Kinds[i]
		row(orDash(Visible(k.Type)), orDash(Visible(k.Queue)), k.Verdict, secondsCell(k.InUse), secondsCell(k.Needed), secondsCell(k.By),
			secondsCell(k.Period), strconv.Itoa(k.Short), strconv.Itoa(k.Unique), orDash(word(k.Go)), orDash(Visible(word(k.InUseFrom))),
			orDash(Visible(word(k.PolicyFrom))), orDash(Visible(word(k.Why))))
	}
	return out.flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func secondsCell(t *retry.Time) string {
	if t == nil {
		return "-"
	}
	return number3(float64(*t))
}

func pageTTLAll(w io.Writer, o Options, s *ttlAllJSON) error {
	p := newPage(w, o)
	if !s.Complete {
		p.hang(p.with(sgrYellow, "!")+" ", "  ", "incomplete: "+Visible(word(s.Problem)), sgrBold)
	}
	p.allVerdict(s)
	if len(s.Kinds) > 0 {
		p.blank()
		p.allTable(s)
		p.allReasons(s)
		p.assumed(s)
	}
	return p.flush()
}

// allVerdict is the line that matters.
func (p *page) allVerdict(s *ttlAllJSON) {
	short, long, unknown := s.ByVerdict[TTLTooShort.String()], s.ByVerdict[TTLTooLong.String()], s.ByVerdict[TTLUnknown.String()]
	outlive := 0
	for i := range s.Kinds {
		outlive += s.Kinds[i].Short
	}
	facts := []string{plural(len(s.Kinds), "type", "types") + ", " + strings.Join(observedScope(s.ttlObservedJSON), ", ")}
	for _, f := range []struct {
		n    int
		word string
	}{{short, "too short"}, {long, "too long"}, {unknown, "unknown"}} {
		if f.n > 0 {
			facts = append(facts, count(f.n)+" "+f.word)
		}
	}
	sign, sgr := "✓", sgrGreen
	switch {
	case short > 0 || outlive > 0:
		sign, sgr = "✗", sgrRed
	case long > 0 || unknown > 0:
		sign, sgr = "!", sgrYellow
	}
	if outlive > 0 {
		facts = append(facts, plural(outlive, "live task", "live tasks")+" can outlive the lock")
	}
	p.hang(p.with(sgr, sign)+" ", "  ", strings.Join(facts, ", "), sgrBold)
}

func (p *page) allTable(s *ttlAllJSON) {
	columns := []column{
		{title: "type", least: 14},
		{title: "queue", least: 7},
		{title: "in use", right: true},
		{title: "needed", right: true},
		{title: "verdict"},
		{title: "outlive", right: true},
		{title: "in use, as told by", spare: true},
	}
	var rows [][]string
	for i := range s.Kinds {
		k := &s.Kinds[i]
		short := ""
		if k.Unique > 0 {
			short = count(k.Short) + "/" + count(k.Unique)
		}
		rows = append(rows, []string{
			Visible(k.Type), orDash(Visible(k.Queue)), shortTime(k.InUse, timeline.RoundDown), shortTime(k.Needed, timeline.RoundUp),
			verdictWords(k), short, Visible(word(k.InUseFrom)),
		})
	}
	p.grid("", roomFor(columns, rows, p.width), rows)
}

func shortTime(t *retry.Time, r timeline.Rounding) string {
	if t == nil {
		return "?"
	}
	return timeline.Clock(retry.Seconds(*t), r)
}

var signOfTTL = map[string]string{"fine": "✓ ", "too-short": "✗ ", "too-long": "! ", "unlocked": "· ", "unknown": "? "}

func verdictWords(k *ttlKindJSON) string {
	words := signOfTTL[k.Verdict] + strings.ReplaceAll(k.Verdict, "-", " ")
	if k.By != nil {
		words += " by " + timeline.Clock(retry.Seconds(*k.By), timeline.RoundNearest)
	}
	return words
}

// assumed says for how many types the verdict rests on an assumption.
func (p *page) assumed(s *ttlAllJSON) {
	n := 0
	for i := range s.Kinds {
		if k := &s.Kinds[i]; k.PolicyFrom == nil && k.Needed != nil {
			n++
		}
	}
	if n == 0 {
		return
	}
	p.blank()
	p.text("of "+plural(n, "type", "types")+" no retry policy is declared: asynq's default is assumed (policy: {retry} in the configuration says another)", sgrDim)
}

// allReasons says below the table why, and what to write instead; of tasks without
// locks there is nothing to say.
func (p *page) allReasons(s *ttlAllJSON) {
	first := true
	for i := range s.Kinds {
		k := &s.Kinds[i]
		if k.Why == nil || k.Verdict == TTLUnlocked.String() {
			continue
		}
		if first {
			p.blank()
			first = false
		}
		where := ""
		if k.Queue != "" {
			where = " in " + fit(Visible(k.Queue), 20)
		}
		p.hang(p.bold(fit(Visible(k.Type), 40))+p.dim(where)+"  ", "  ", Visible(*k.Why), "")
		if k.Go != nil && k.Verdict == TTLTooShort.String() {
			p.hang("  → ", "    ", *k.Go, sgrCyan)
		}
	}
}
