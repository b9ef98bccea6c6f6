package payload

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Faults is Check for whole queues: it may leave nothing out that Check calls an
// error, and say nothing that Check does not.
func TestFaultsAreTheErrorsOfCheck(t *testing.T) {
	texts := []string{
		"", "{}", `{"b":1,"a":2}`, `{"a": 1}`, "{\"a\":1}\n", "\ufeff{\"a\":1}", "\ufeff", `{"a":1,"a":2}`, `{"a":"\ud800"}`,
		"{\"a\":\"\xff\"}", `{"a":1.0,"b":2.0}`, `{"a":-0}`, `{"a":0.10000000000000001}`, `{"a":1e400}`, `{"a":"\u003c"}`,
		`{"a":9007199254740993}`, "\x91\x01", " 1", `{"a":1.0,"a":1.0}`, "[1.0,1.0]", `{"a":"\/"}`, `{"a":null}`, "\ufeff{\"a\":1.0 }\n",
	}
	check := func(t rapid.TB, p []byte) {
		var want []Finding
		for _, f := range Check(p).Findings {
			known := slices.ContainsFunc(want, func(w Finding) bool { return w.Rule == f.Rule })
			if f.Severity() == Error && !known {
				want = append(want, f)
			}
		}
		if got := Faults(p); !slices.Equal(got, want) {
			t.Fatalf("%q: %+v, want %+v", p, got, want)
		}
	}
	for _, text := range texts {
		check(t, []byte(text))
	}
	piece := rapid.SampledFrom([]string{
		`{"a":`, `,"a":`, "[", "]", "}", `"x"`, `"\ud83d"`, "\"\xe9\"", "1", "1.0", "-0", "0.10000000000000001", "1e400", " ", "\n", ",", "true", "\ufeff",
	})
	rapid.Check(t, func(t *rapid.T) {
		check(t, []byte(joinPieces(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"))))
	})
}

func joinPieces(pieces []string) string {
	var b bytes.Buffer
	for _, p := range pieces {
		b.WriteString(p)
	}
	return b.String()
}

func TestLikenessSurvivesWhatHidesEqualWork(t *testing.T) {
	base := `{"user":42,"mail":"a@b.c","at":"2026-07-01T03:12:09.123Z","amount":0.30000000000000004,"name":"Ren\u00e9","seats":["a","b"]}`
	for name, other := range map[string]string{
		"another order of members":  `{"mail":"a@b.c","user":42,"at":"2026-07-01T03:12:09.123Z","amount":0.30000000000000004,"name":"Ren\u00e9","seats":["a","b"]}`,
		"another order of elements": `{"user":42,"mail":"a@b.c","at":"2026-07-01T03:12:09.123Z","amount":0.30000000000000004,"name":"Ren\u00e9","seats":["b","a"]}`,
		"blanks":                    "{\n \"user\": 42, \"mail\":\"a@b.c\",\"at\":\"2026-07-01T03:12:09.123Z\",\"amount\":0.30000000000000004,\"name\":\"Ren\\u00e9\",\"seats\":[\"a\",\"b\"]}\n",
		"another clock reading":     `{"user":42,"mail":"a@b.c","at":"2027-01-01T00:00:00.5Z","amount":0.30000000000000004,"name":"Ren\u00e9","seats":["a","b"]}`,
		"a Unix time":               `{"user":42,"mail":"a@b.c","at":1782875529123,"amount":0.30000000000000004,"name":"Ren\u00e9","seats":["a","b"]}`,
		"the last digit":            `{"user":42,"mail":"a@b.c","at":"2026-07-01T03:12:09.123Z","amount":0.3,"name":"Ren\u00e9","seats":["a","b"]}`,
		"another composition":       "{\"user\":42,\"mail\":\"a@b.c\",\"at\":\"2026-07-01T03:12:09.123Z\",\"amount\":0.3,\"name\":\"Rene\u0301\",\"seats\":[\"a\",\"b\"]}",
	} {
		if Likeness([]byte(base)) != Likeness([]byte(other)) {
			t.Errorf("%s makes another work of it", name)
		}
	}
	if p := []byte(base); Likeness(p) == Likeness(bytes.Replace(p, []byte("42"), []byte("43"), 1)) {
		t.Error("another user is the same work")
	}
}

// It is the same in every process, so that an audit samples the same works twice.
func TestLikenessIsKnownBeforehand(t *testing.T) {
	if got := Likeness([]byte(`{"id":1}`)); got != 0xaad6679fe9578d50 {
		t.Errorf("Likeness = %#x", got)
	}
}

func TestLikenessReadsAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { Likeness(rapid.SliceOf(rapid.Byte()).Draw(t, "payload")) })
	for _, p := range []string{`"`, `"\`, `{"a":"`, "-", "1e"} {
		Likeness([]byte(p))
	}
}

// A sample of whole works repeats more often than chance has it, which proves
// nothing: only what needs no chance is said of it.
func TestSampledCorpusAsksNoChance(t *testing.T) {
	entries := func() []Entry {
		var all []Entry
		for i := range 200 {
			p, err := json.Marshal(map[string]any{"order": payloadID(i), "size": i / 10 % 10, "colour": i / 10 % 7})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Entry{ID: payloadID(i), Payload: p})
		}
		return all
	}
	for _, sampled := range []bool{false, true} {
		c := Corpus{Sampled: sampled}
		for _, e := range entries() {
			c.Add(e)
		}
		if got := c.Result()[0].Volatile; (len(got) == 0) != sampled {
			t.Errorf("sampled %t: volatile %v", sampled, got)
		}
	}
}

func payloadID(i int) string {
	id := []byte("00000000-0000-4000-8000-000000000000")
	for at := len(id) - 1; i > 0; at-- {
		id[at] = "0123456789abcdef"[i%16]
		i /= 16
	}
	return string(id)
}

func BenchmarkFaults(b *testing.B) {
	p := corpusOf(3)[0].Payload
	for b.Loop() {
		Faults(p)
	}
}

func BenchmarkLikeness(b *testing.B) {
	p := corpusOf(3)[0].Payload
	for b.Loop() {
		Likeness(p)
	}
}
