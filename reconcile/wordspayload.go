package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect/payload"
)

// payloadFaults say what is wrong with payloads of a type, as a clause without its
// verb. Rules that only `explain` and `payload check` name are among them.
var payloadFaults = map[payload.Rule]string{
	payload.NotJSON:             "payloads that are not JSON",
	payload.BOM:                 "a byte order mark before the payload",
	payload.InvalidUTF8:         "bytes that are not UTF-8 in the payload's texts",
	payload.LoneSurrogate:       "half a surrogate pair in the payload's texts",
	payload.DuplicateKey:        "two members of one name in the payload",
	payload.Whitespace:          "blanks between the payload's tokens",
	payload.TrailingNewline:     "a newline after the payload",
	payload.KeyOrder:            "members out of canonical order",
	payload.HTMLEscape:          "<, > or & written as an escape",
	payload.StringEscape:        "escapes that the canonical form does without",
	payload.NumberFormat:        "a number in another spelling than its canonical one",
	payload.NegativeZero:        "a zero with a minus sign",
	payload.NumberPrecisionLoss: "a fraction with more digits than a double keeps",
	payload.NumberOutOfRange:    "a number beyond the range of a double",
	payload.EmptyPayload:        "payloads of zero bytes",

	payload.NumberUnsafeInteger: "an integer that a double rounds",
	payload.FloatNumber:         "a fraction",
	payload.TimestampSubsecond:  "a time with a fraction of a second",
	payload.TimestampEpoch:      "a Unix time finer than a second",
	payload.TimestampSecond:     "a time of whole seconds",
	payload.RandomID:            "a generated identifier",
	payload.VolatileName:        "a member whose name says that it is set per enqueue",
	payload.NullMember:          "a member that is null",
	payload.UnicodeNotNFC:       "a text that has a look-alike in other bytes",
	payload.EmbeddedJSON:        "JSON in a string that is not canonical",
	payload.DoubleEncoded:       "JSON that was encoded twice",

	payload.VolatileField:      "a field that varies although the work is the same",
	payload.SuspectField:       "a field that seems to vary although the work is the same",
	payload.CanonicalCollision: "the same work in several spellings, each with a lock of its own",
	payload.KeyOrderVaries:     "members that stand in both orders",
	payload.ArrayOrderVaries:   "payloads that differ only in the order of an array",
	payload.NullAbsentMix:      "a member that is null in some payloads and missing in others",
	payload.TypeMix:            "a member of two JSON types",
	payload.FloatJitter:        "payloads that differ only in the last digits of a number",
	payload.UnicodeVariant:     "payloads that differ only in how their letters are composed",
	payload.EncodingMix:        "JSON beside payloads in another encoding",
}

// payloadWords are those of the findings on payloads.
func (f *Finding) payloadWords() (message, consequence string) {
	rule, ok := payloadRules[f.Code]
	if !ok {
		return string(f.Code), ""
	}
	message = fmt.Sprintf("%s, in %s of type %s", payloadFaults[rule], plural(f.TaskCount, "unique task"), f.Task.Type)
	if f.Detail != "" {
		message += ": " + f.Detail
	}
	return message, payloadConsequence(rule)
}

func payloadConsequence(rule payload.Rule) string {
	switch rule {
	case payload.VolatileField:
		return "every enqueue takes a lock of its own: none of them stops a duplicate"
	case payload.SuspectField:
		return "if the field is no part of the work, every enqueue takes a lock of its own, and none stops a duplicate"
	case payload.CanonicalCollision:
		return "the locks guard bytes, and the same work passes them in other bytes: both tasks run"
	case payload.InvalidUTF8, payload.LoneSurrogate, payload.DuplicateKey, payload.NumberPrecisionLoss, payload.NumberOutOfRange:
		return "readers disagree on what it means: one work can take several locks, and two works can be read as one"
	case payload.TypeMix, payload.NullAbsentMix, payload.KeyOrderVaries, payload.EncodingMix, payload.ArrayOrderVaries, payload.UnicodeVariant, payload.FloatJitter:
		return "where producers write the same work differently, it takes another lock, and both tasks run"
	default:
		return "a producer that writes the same work in other bytes gets another lock, and both tasks run"
	}
}

// payloadAction is the command that shows the bytes of a finding on payloads.
func (f *Finding) payloadAction() string {
	id := f.Task.ID
	if len(f.Tasks) > 0 {
		id = f.Tasks[0].ID
	}
	rule := payloadRules[f.Code]
	switch {
	case rule.Scope() == payload.ScopeCorpus:
		return Command("idemctl payload corpus").Only("queue", f.Task.Queue).Only("type", f.Task.Type).String()
	case id != "":
		return Command("idemctl payload check").Only("queue", f.Task.Queue).Flag("id", id).String()
	}
	return Command("idemctl payload check").Only("queue", f.Task.Queue).Only("type", f.Task.Type).String()
}

// mostPaths is how many paths the words of a finding name.
const mostPaths = 3

// pathWords name the paths of one corpus rule; "" where it speaks of whole payloads.
func pathWords(findings []payload.CorpusFinding) string {
	var paths []string
	for _, f := range findings {
		if path := cutPath(f.Path); path != "$" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if more := len(paths) - mostPaths; more > 0 {
		return fmt.Sprintf("%s and %s", strings.Join(paths[:mostPaths], ", "), plural(more, "more path"))
	}
	return list(paths)
}

// differenceWords say where the two examples of a finding differ: by path and bytes,
// and never by value, since payloads may hold what must not be shown.
func differenceWords(f *payload.CorpusFinding) string {
	a, b := f.Examples[0], f.Examples[1]
	if b.ID == "" {
		if a.ID == "" {
			return ""
		}
		return fmt.Sprintf("such as task %q", a.ID)
	}
	pair := fmt.Sprintf("tasks %q and %q", a.ID, b.ID)
	if f.Rule == payload.EncodingMix {
		return fmt.Sprintf("%s are %s and %s", pair, payload.Check(a.Payload).Encoding, payload.Check(b.Payload).Encoding)
	}
	d := payload.Diff(a.Payload, b.Payload)
	path, at, rules, more := firstDifference(f, &d)
	if path == "" {
		return pair
	}
	words := fmt.Sprintf("%s differ at %s (%s)", pair, path, bytesWords(at))
	if len(rules) > 0 {
		words = fmt.Sprintf("%s differ at %s (%s: %s)", pair, path, bytesWords(at), list(rules))
	}
	if more > 0 {
		words += fmt.Sprintf(" and %s", plural(more, "other place"))
	}
	return words
}

// firstDifference is where two examples differ: at the finding's own path where
// that is one of the places.
func firstDifference(f *payload.CorpusFinding, d *payload.Difference) (path string, at [2]payload.Range, rules []string, more int) {
	type place struct {
		path  string
		at    [2]payload.Range
		rules []payload.Rule
	}
	var places []place
	for _, c := range d.Values {
		places = append(places, place{c.Path, [2]payload.Range{c.A, c.B}, c.Rules})
	}
	if len(places) == 0 || f.Rule == payload.KeyOrderVaries {
		for _, s := range d.Spellings {
			places = append(places, place{s.Path, [2]payload.Range{s.A, s.B}, []payload.Rule{s.Rule}})
		}
	}
	if len(places) == 0 {
		return "", at, nil, 0
	}
	first := places[0]
	for _, p := range places {
		if p.path == f.Path {
			first = p
			break
		}
	}
	for _, rule := range first.rules {
		rules = append(rules, rule.String())
	}
	return cutPath(first.path), first.at, rules, len(places) - 1 + d.Omitted
}

// bytesWords are the ranges of bytes that differ in both examples.
func bytesWords(at [2]payload.Range) string {
	one := func(r payload.Range) string {
		if r.Start < 0 {
			return "missing"
		}
		return fmt.Sprintf("bytes %d to %d", r.Start, r.End)
	}
	if at[0] == at[1] {
		return one(at[0]) + " of both"
	}
	return one(at[0]) + " and " + one(at[1])
}

// words say what the finding costs now; "" where nothing was counted.
func (p price) words() string {
	if p.asked == 0 {
		return ""
	}
	asked := plural(p.asked, "task") + " of such works looked at"
	if p.cut {
		asked = "the first " + asked
	}
	if p.twins == 0 {
		return "no two of one work are alive now (" + asked + ")"
	}
	words := fmt.Sprintf("%s %s let past a lock", plural(p.twins, "live twin"), isAre(p.twins))
	if p.works > 0 {
		words += fmt.Sprintf(", and %s %s %s now", plural(p.locks, "live lock"), guards(p.locks), plural(p.works, "work"))
	}
	return words + " (" + asked + ")"
}

func isAre(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func guards(n int) string {
	if n == 1 {
		return "guards"
	}
	return "guard"
}

// sampleWords say how much of a type the corpus rules have seen; "" for all of it.
func (c *payloadCase) sampleWords() string {
	if c.sample.whole() {
		return ""
	}
	return fmt.Sprintf("seen in a sample of %d of %d unique tasks", len(c.sample.kept), c.tasks)
}
