package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect/payload"
)

// sampleCorpus is a type whose producers put a clock into the payload, disagree on
// order and on null, and one queue with too little to say.
func sampleCorpus() []payload.GroupReport {
	var c payload.Corpus
	add := func(id, format string, args ...any) {
		c.Add(payload.Entry{ID: id, Queue: "payments", Type: "payment:charge", Payload: fmt.Appendf(nil, format, args...)})
	}
	for i := range 60 {
		work, clock := i%20, fmt.Sprintf("2026-07-01T03:12:%02d.%03dZ", i%60, 100+i*7)
		switch {
		case i%10 == 3:
			add(fmt.Sprint("pay-", i), `{"sent_at":%q,"order_id":%d,"note":null}`, clock, work)
		default:
			add(fmt.Sprint("pay-", i), `{"order_id":%d,"sent_at":%q}`, work, clock)
		}
	}
	add("zip", "\x1f\x8b\x08\x00")
	add("spelled-1", `{"order_id":7,"sent_at":"2026-07-01T03:12:09.5Z"}`)
	add("spelled-2", `{"order_id": 7,"sent_at":"2026-07-01T03:12:09.5Z"}`)
	c.Add(payload.Entry{ID: "mail-1", Queue: "mail", Type: "mail:send", Payload: []byte(`{"to":1}`)})
	return c.Result()
}

func corpusText(t testing.TB, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCorpus(&b, o, sampleCorpus(), complete); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCorpusKeepsItsFaces(t *testing.T) {
	for _, face := range faces {
		switch face.format {
		case FormatCSV, FormatName:
		default:
			t.Run(face.name, func(t *testing.T) {
				o := sampleOptions(face.format, face.width, face.tty)
				o.Color = face.color
				golden(t, "corpus-"+strings.Replace(face.name, ".tsv", ".txt", 1), corpusText(t, o))
			})
		}
	}
}

// A script reads one object whatever there was to read, and lists are never null.
func TestCorpusOfNothingIsOneObject(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCorpus(&b, sampleOptions(FormatJSON, 0, false), nil, PayloadEnd{Problem: "timed out", Unread: 1}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `"payloads":0`) || !strings.Contains(got, `"clusters":[]`) ||
		!strings.Contains(got, `"complete":false`) || !strings.Contains(got, `"problem":"timed out"`) {
		t.Errorf("not one whole object: %s", got)
	}
}

func TestCorpusPageSaysWhatItCannotSay(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCorpus(&b, sampleOptions(FormatTable, 80, true), sampleCorpus()[:1], PayloadEnd{Problem: "interrupted", Unread: 3}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"statistics need 20 payloads", "incomplete: interrupted", "3 inputs could not be read"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("does not say %q:\n%s", want, b.String())
		}
	}
}

func TestGeneralisedWritesEveryIndexAsStar(t *testing.T) {
	for path, want := range map[string]string{
		"$.a[0].b[12]": "$.a[*].b[*]", `$['x[1]\'[2]'][2]`: `$['x[1]\'[2]'][*]`, "$": "$", "$[": "$[", "$[3": "$[3",
	} {
		if got := generalised(path); got != want {
			t.Errorf("generalised(%q) = %q, want %q", path, got, want)
		}
	}
}
