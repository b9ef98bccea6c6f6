package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect/payload"
)

// samplePayloads are what a night's producers wrote for one type: one as it should
// be, one with everything wrong that a Node producer gets wrong, one that has no
// canonical form, and some that are not JSON.
func samplePayloads() []Payload {
	var samples []Payload
	for _, s := range []struct{ id, text string }{
		{"clean", `{"card":{"number":"4111"},"order_id":42}`},
		{"spelled", "{\"order_id\": 42, \"note\":\"a\\u003cb\",\"total\":19.90,\"sent_at\":\"2026-07-01T03:12:09.123Z\",\"card\":{\"number\":\"4111 1111\"}}\n"},
		{"volatile", `{"order_id":42,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`},
		{"undefined", "{\"order_id\":42,\"note\":\"\u202e\xff\",\"order_id\":43}"},
		{"null-member", `{"note":null,"order_id":42}`},
		{"zipped", "\x1f\x8b\x08\x00\x00"},
		{"many", `[` + strings.Repeat(`1.0,`, 400) + `1]`},
		{"nothing", ""},
	} {
		p := Payload{ID: s.id, Queue: "payments", Type: "payment:charge", Raw: []byte(s.text), Bytes: []byte(s.text)}
		p.Task = s.id != "spelled"
		samples = append(samples, p)
	}
	samples[1].ID = "orders.ndjson:17"
	samples[2].NoLock = true
	return samples
}

func checked(t testing.TB, o Options, e PayloadEnd, payloads ...Payload) string {
	t.Helper()
	var b bytes.Buffer
	out := NewPayloads(&b, o)
	for i := range payloads {
		r := payload.Check(payloads[i].Bytes)
		out.Judged(&payloads[i], &r)
	}
	if err := out.Close(e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var complete = PayloadEnd{Complete: true}

func TestPayloadCheckKeepsItsFaces(t *testing.T) {
	for _, face := range faces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			golden(t, "payloads-"+strings.Replace(face.name, ".tsv", ".txt", 1), checked(t, o, complete, samplePayloads()...))
		})
	}
}

func TestPayloadCheckOfNothingIsAnAnswer(t *testing.T) {
	for _, face := range faces {
		if face.format == FormatJSON || face.name == "terminal-80.txt" || face.format == FormatCSV {
			t.Run(face.name, func(t *testing.T) {
				golden(t, "payloads-none-"+strings.Replace(face.name, ".tsv", ".txt", 1), checked(t, sampleOptions(face.format, face.width, face.tty), complete))
			})
		}
	}
}

func TestInterruptedPayloadCheckIsMarked(t *testing.T) {
	end := PayloadEnd{Problem: "interrupted", Unread: 2}
	for _, f := range []Format{FormatTable, FormatWide, FormatJSON, FormatCSV, FormatMarkdown} {
		got := checked(t, sampleOptions(f, 80, false), end, samplePayloads()[:2]...)
		if !strings.Contains(got, "interrupted") {
			t.Errorf("%s does not say that it was interrupted:\n%s", f, got)
		}
	}
}

// A page for a person must not grow with the queue.
func TestPayloadCheckOnATerminalSpellsOutTwenty(t *testing.T) {
	var many []Payload
	for range 30 {
		many = append(many, samplePayloads()[2])
	}
	got := checked(t, sampleOptions(FormatTable, 80, true), complete, many...)
	if n := strings.Count(got, "! payments/volatile"); n != mostPayloads {
		t.Errorf("%d payloads are spelled out, want %d", n, mostPayloads)
	}
	if !strings.Contains(got, "and 10 payloads with findings more") {
		t.Errorf("the others are not counted:\n%s", got)
	}
	if got := checked(t, sampleOptions(FormatWide, 80, true), complete, many...); strings.Count(got, "! payments/volatile") != 30 {
		t.Error("wide does not show all")
	}
}

// What a configuration hides is in no output: not in an excerpt, not as a canonical
// form.
func TestRedactedFieldsAreInNoPayloadOutput(t *testing.T) {
	secret := `{"card": {"number":"SECRET-1", "old":["SECRET-2",{"cvc":"SECRET-3\u003c"}]},"note":"\u003cSECRET-4", "x":1.0}`
	p := Payload{ID: "a", Queue: "q", Type: "t", Raw: []byte(secret), Bytes: []byte(secret)}
	other := strings.Replace(secret, "SECRET-1", "SECRET-9", 1)
	q := Payload{ID: "b", Queue: "q", Type: "t", Raw: []byte(other), Bytes: []byte(other)}
	text := Payload{ID: "c", Queue: "q", Type: "t", Raw: []byte("SECRET text"), Bytes: []byte("SECRET text")}
	d := PayloadDifference{A: p, B: q, Difference: payload.Diff(p.Bytes, q.Bytes)}
	var corpus payload.Corpus
	for i := range 40 {
		body := strings.Replace(secret, "SECRET-1", "SECRET-"+strings.Repeat("x", i), 1)
		corpus.Add(payload.Entry{ID: "i", Queue: "q", Type: "t", Payload: []byte(body)})
		corpus.Add(payload.Entry{ID: "i", Queue: "q", Type: "t", Payload: []byte(strings.Replace(body, "1.0", "1", 1))})
	}
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			o := sampleOptions(f, 100, tty)
			o.Redact = []string{"card", "..note"}
			out := checked(t, o, complete, p, text)
			var b bytes.Buffer
			if err := WritePayloadDifference(&b, o, &d); err != nil {
				t.Fatal(err)
			}
			if err := WriteCorpus(&b, o, corpus.Result(), complete); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out+b.String(), "SECRET") {
				t.Errorf("%s shows what is hidden:\n%s%s", f, out, b.String())
			}
			// A path that cannot be read hides everything.
			o.Redact = []string{"card["}
			if out := checked(t, o, complete, p, text); strings.Contains(out, "SECRET") {
				t.Errorf("%s shows what a broken path may mean:\n%s", f, out)
			}
		}
	}
}

func TestHostilePayloadsReachNoTerminal(t *testing.T) {
	var payloads []Payload
	for _, text := range tricks {
		quoted := []byte(`{"` + text + `" :"` + text + `"}`)
		payloads = append(payloads,
			Payload{ID: text, Queue: text, Type: text, Raw: []byte(text), Bytes: []byte(text)},
			Payload{ID: text, Queue: text, Type: text, Raw: quoted, Bytes: quoted, Task: true})
	}
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			o := sampleOptions(f, 80, tty)
			unseen(t, checked(t, o, PayloadEnd{Problem: tricks[0]}, payloads...))
			for i := 1; i < len(payloads); i++ {
				d := PayloadDifference{A: payloads[i-1], B: payloads[i], Difference: payload.Diff(payloads[i-1].Bytes, payloads[i].Bytes)}
				var b bytes.Buffer
				if err := WritePayloadDifference(&b, o, &d); err != nil {
					t.Fatal(err)
				}
				k := NewPayloadKeys(&b, o)
				if payloads[i].Type == "" {
					continue
				}
				if err := k.Key(&payloads[i], payloads[i].Bytes, nil); err != nil {
					t.Fatal(err)
				}
				unseen(t, b.String())
			}
		}
	}
}

func TestPayloadPagesFitTheTerminal(t *testing.T) {
	for _, columns := range []int{60, 80, 160} {
		o := sampleOptions(FormatWide, columns, true)
		out := checked(t, o, complete, samplePayloads()...) + differed(t, o) + corpusText(t, o)
		for line := range strings.Lines(out) {
			if n := displaywidth.String(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d cells on a terminal of %d: %s", n, columns, line)
			}
		}
	}
}

// The marks stand under the bytes they speak of, whatever is around them, and the
// line fits.
func TestExcerptMarksTheBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom(tricks),
			rapid.StringN(0, 40, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		)
		before, marked, after := piece.Draw(t, "before"), piece.Draw(t, "marked"), piece.Draw(t, "after")
		cells := rapid.IntRange(16, 120).Draw(t, "cells")
		p := []byte(strings.Repeat(before, rapid.IntRange(0, 60).Draw(t, "n")) + marked + after)
		end := len(p) - len(after)
		e := excerptOf(p, extent{end - len(marked), end}, secrets{}, cells)
		if n := width(e.before) + width(e.marked) + width(e.after); n > cells {
			t.Fatalf("%d cells, want at most %d: %q", n, cells, e)
		}
		if full := spellOut([]byte(marked)); width(full) <= cells*2/3 && e.marked != full {
			t.Fatalf("marked %q, want %q", e.marked, full)
		}
		if (e.marked == "") != (marked == "") {
			t.Fatalf("marked %q of %q", e.marked, marked)
		}
	})
}

func TestExcerptShowsNewlineAndItsEscapeApart(t *testing.T) {
	raw, escaped := spellOut([]byte("{\n}")), spellOut([]byte(`{\n}`))
	if raw == escaped || raw != "{␊}" || escaped != `{\n}` {
		t.Errorf("a newline shows as %q and its escape as %q", raw, escaped)
	}
	if got := spellOut([]byte("a\u202eb\xff\u2400")); got != "a<U+202E>b<ff><U+2400>" {
		t.Errorf("invisible bytes show as %q", got)
	}
}

// Every rule says why it matters; where it says what to write in Go, that fits a
// line of 80 columns.
func TestEveryPayloadRuleIsExplained(t *testing.T) {
	for _, rule := range payload.Rules() {
		w := wordsOfRule[rule]
		if w.why == "" {
			t.Errorf("%s does not say why it matters", rule)
		}
		if width(w.why) > 90 || width(w.fix) > 70 {
			t.Errorf("%s: %d and %d cells are too long", rule, width(w.why), width(w.fix))
		}
		if strings.HasSuffix(w.why, ".") || Visible(w.fix) != w.fix {
			t.Errorf("%s: %q, %q", rule, w.why, w.fix)
		}
	}
}

func TestRedactionFindsTheBytesOfAField(t *testing.T) {
	p := []byte(`{ "a" : {"b":[1, "x" ,{"c":null}]} ,"A":"y","c":2}`)
	for path, want := range map[string]string{
		"a": `{"b":[1, "x" ,{"c":null}]}|"y"`, "a.b[1]": `"x"`, "..c": `null|2`, "a.b[*].c": `null`, "z": "",
	} {
		r, err := newRedactor([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.secretsIn(p).ranges {
			got = append(got, string(p[x.start:x.end]))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
