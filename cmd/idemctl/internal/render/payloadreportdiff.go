package render

import (
	"io"
	"strings"

	"github.com/idemctl/idemctl/inspect/payload"
)

// PayloadDifference is how two payloads differ. Difference speaks of their Bytes.
type PayloadDifference struct {
	A, B Payload
	payload.Difference
	// OneLock holds if asynq gives both one lock: it is made of Raw, and of the
	// queue and type where both are known.
	OneLock bool
}

// mostChanges is how many paths a page on a terminal spells out of each kind.
const mostChanges = 10

// WritePayloadDifference writes a page or, in FormatJSON and FormatNDJSON, one
// object.
func WritePayloadDifference(w io.Writer, o Options, d *PayloadDifference) error {
	columns := o.Width
	o = o.filled()
	hide, _ := newRedactor(o.Redact) // a broken one hides everything
	switch o.Format {
	case FormatJSON, FormatNDJSON:
		object, err := marshal(shapeDifference(d))
		if err != nil {
			return err
		}
		if o.TTY && o.Format == FormatJSON {
			object = indent(object, "")
		}
		_, err = w.Write(append(object, '\n'))
		return err
	default:
	}
	p := newPagePayloads(w, o, columns, hide)
	v := differencePage{pagePayloads: p, d: d, most: mostChanges}
	if p.wide || !p.tty {
		v.most = payload.MaxChanges
	}
	v.secretsA, v.secretsB = hide.secretsIn(d.A.Bytes), hide.secretsIn(d.B.Bytes)
	v.write()
	return p.flush()
}

// differencePage lays a difference out.
type differencePage struct {
	*pagePayloads
	d                  *PayloadDifference
	secretsA, secretsB secrets
	most               int
}

func (v *differencePage) write() {
	d := v.d
	severity, words := differenceVerdict(d)
	v.hang(v.with(sgrOf(severity), shapeOf(severity))+" ", "  ", words, sgrBold)
	v.side("A", &d.A, d.Difference.A)
	v.side("B", &d.B, d.Difference.B)
	if d.Work == payload.SamenessUnknown {
		v.firstByte()
	}
	for i, c := range d.Values {
		if i == v.most {
			break
		}
		v.change(c)
	}
	for i, s := range d.Spellings {
		if i == v.most {
			break
		}
		v.spelling(s)
	}
	more := max(0, len(d.Values)-v.most) + max(0, len(d.Spellings)-v.most) + d.Omitted
	if more > 0 {
		v.blank()
		v.text("and "+plural(more, "path", "paths")+" more (-o json has them)", sgrDim)
	}
}

// differenceVerdict says in one sentence what matters.
func differenceVerdict(d *PayloadDifference) (payload.Severity, string) {
	switch {
	case d.OneLock:
		return payload.SeverityUnknown, "the same bytes: one lock"
	case d.Work == payload.SameWork && d.Difference.SharesLock:
		return payload.Error, "the same bytes, and two locks: other queues, other types, or other bytes before decoding"
	case d.Work == payload.SameWork:
		return payload.Error, "the same work in two spellings: two locks, so both can run"
	case d.Work == payload.OtherWork:
		return payload.Warn, "different values: two locks"
	default:
		return payload.Error, "different bytes: two locks; whether it is the same work cannot be said, because there is no canonical form"
	}
}

// side names one of the payloads, its lock, and why it has no canonical form.
func (v *differencePage) side(letter string, p *Payload, undefined *payload.UndefinedError) {
	facts := []string{p.name(), plural(len(p.Bytes), "byte", "bytes")}
	if lock := p.lock(); lock != nil {
		facts = append(facts, Visible(*lock))
	}
	if p.NoLock {
		facts = append(facts, "enqueued without Unique, so it took no lock")
	}
	if undefined != nil {
		facts = append(facts, undefined.Rule.String()+" at byte "+count(undefined.Start)+": "+Visible(undefined.Message))
	}
	v.hang("  "+letter+"  ", "     ", strings.Join(facts, " · "), "")
}

// change shows one value that differs.
func (v *differencePage) change(c payload.Change) {
	words := map[payload.ChangeKind]string{
		payload.ChangeValue: "another value", payload.ChangeRemoved: "only in A", payload.ChangeAdded: "only in B",
	}[c.Kind]
	hints := make([]string, 0, len(c.Rules))
	for _, r := range c.Rules {
		hints = append(hints, r.String())
	}
	v.blank()
	v.hang("  "+v.with(sgrYellow, "≠")+" ", "    ", joined(Visible(c.Path), words, strings.Join(hints, ", ")), sgrBold)
	v.pair(c.A, c.B, sgrYellow)
	for _, r := range c.Rules {
		if r.Severity() == payload.Warn {
			v.explain(r)
		}
	}
}

// spelling shows one value that is the same in other bytes.
func (v *differencePage) spelling(s payload.Spelling) {
	v.blank()
	v.hang("  "+v.with(sgrRed, "~")+" ", "    ", joined(Visible(s.Path), "the same value, spelled otherwise", s.Rule.String()), sgrBold)
	v.pair(s.A, s.B, sgrRed)
	v.explain(s.Rule)
}

// firstByte shows where two payloads that cannot be compared part.
func (v *differencePage) firstByte() {
	if v.d.FirstByte < 0 {
		return
	}
	v.blank()
	v.hang("  "+v.with(sgrYellow, "≠")+" ", "    ", "the first byte that differs is "+count(v.d.FirstByte), sgrBold)
	at := func(p []byte) payload.Range {
		return payload.Range{Start: v.d.FirstByte, End: min(v.d.FirstByte+1, len(p))}
	}
	v.pair(at(v.d.A.Bytes), at(v.d.B.Bytes), sgrYellow)
}

// pair shows both sides of a difference.
func (v *differencePage) pair(a, b payload.Range, sgr string) {
	room := v.excerptWidth - 7
	if a.Start >= 0 && len(v.d.A.Bytes) > 0 {
		v.page.excerpt("    A  ", excerptOf(v.d.A.Bytes, extent{a.Start, a.End}, v.secretsA, room), sgr)
	}
	if b.Start >= 0 && len(v.d.B.Bytes) > 0 {
		v.page.excerpt("    B  ", excerptOf(v.d.B.Bytes, extent{b.Start, b.End}, v.secretsB, room), sgr)
	}
}

type differenceJSON struct {
	Schema     string         `json:"schema"`
	Work       string         `json:"work"` // same, different, unknown
	SharesLock bool           `json:"shares_lock"`
	FirstByte  *int           `json:"first_byte"` // null: the bytes are equal
	A          sideJSON       `json:"a"`
	B          sideJSON       `json:"b"`
	Values     []changeJSON   `json:"values"`
	Spellings  []spellingJSON `json:"spellings"`
	Omitted    int            `json:"omitted"`
}

type sideJSON struct {
	ID        string         `json:"id"`
	Queue     string         `json:"queue"`
	Type      *string        `json:"type"`
	Bytes     int            `json:"bytes"`
	Undefined *undefinedJSON `json:"undefined"` // null: there is a canonical form
	UniqueKey *string        `json:"unique_key"`
}

type changeJSON struct {
	Path  string     `json:"path"`
	Kind  string     `json:"kind"` // value, removed, added
	A     *rangeJSON `json:"a"`    // null: not there
	B     *rangeJSON `json:"b"`
	Rules []string   `json:"rules"`
}

type spellingJSON struct {
	Path string     `json:"path"`
	Rule string     `json:"rule"`
	A    *rangeJSON `json:"a"`
	B    *rangeJSON `json:"b"`
}

type rangeJSON struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func shapeRange(r payload.Range) *rangeJSON {
	if r.Start < 0 {
		return nil
	}
	return &rangeJSON{r.Start, r.End}
}

func shapeSide(p *Payload, undefined *payload.UndefinedError) sideJSON {
	return sideJSON{
		ID: p.ID, Queue: p.Queue, Type: text(p.Type), Bytes: len(p.Bytes),
		Undefined: shapeUndefined(undefined), UniqueKey: p.lock(),
	}
}

func shapeDifference(d *PayloadDifference) differenceJSON {
	s := differenceJSON{
		Schema: SchemaPayload, Work: d.Work.String(), SharesLock: d.OneLock,
		A: shapeSide(&d.A, d.Difference.A), B: shapeSide(&d.B, d.Difference.B),
		Values: []changeJSON{}, Spellings: []spellingJSON{}, Omitted: d.Omitted,
	}
	if d.FirstByte >= 0 {
		s.FirstByte = &d.FirstByte
	}
	for _, c := range d.Values {
		shaped := changeJSON{Path: c.Path, Kind: c.Kind.String(), A: shapeRange(c.A), B: shapeRange(c.B), Rules: []string{}}
		for _, r := range c.Rules {
			shaped.Rules = append(shaped.Rules, r.String())
		}
		s.Values = append(s.Values, shaped)
	}
	for _, c := range d.Spellings {
		s.Spellings = append(s.Spellings, spellingJSON{c.Path, c.Rule.String(), shapeRange(c.A), shapeRange(c.B)})
	}
	return s
}
