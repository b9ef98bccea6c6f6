package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/inspect/payload"
)

// publishedPayload is a schema that scripts rely on, or a part of it.
func publishedPayload(t *testing.T, file, fragment string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../../../docs/schema/" + file + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everyPayload is the samples and all tricks, with and without a type.
func everyPayload() []Payload {
	all := samplePayloads()
	for _, text := range tricks {
		all = append(all,
			Payload{ID: text, Queue: "q", Raw: []byte(text), Bytes: []byte(text)},
			Payload{ID: text, Task: true, Queue: text, Type: text + "x", Raw: []byte(`"` + text + `"`), Bytes: []byte(`"` + text + `"`)})
	}
	return append(all, Payload{ID: "nil", Queue: "q", Type: "t"})
}

func TestPayloadDocumentsAreAsPublished(t *testing.T) {
	document := publishedPayload(t, "payload.v1.json", "")
	line := publishedPayload(t, "payload.v1.json", "#/$defs/payload")
	for _, redact := range [][]string{nil, {"card"}} {
		for _, tty := range []bool{false, true} {
			o := sampleOptions(FormatJSON, 80, tty)
			o.Redact = redact
			validate(t, document, checked(t, o, complete, everyPayload()...))
			validate(t, document, checked(t, o, PayloadEnd{Problem: "timed out", Unread: 3}))
		}
		o := sampleOptions(FormatNDJSON, 0, false)
		o.Redact = redact
		lines := strings.Split(strings.TrimSuffix(checked(t, o, PayloadEnd{Problem: "interrupted"}, everyPayload()...), "\n"), "\n")
		if len(lines) != len(everyPayload()) {
			t.Fatalf("%d lines for %d payloads", len(lines), len(everyPayload()))
		}
		for _, l := range lines {
			validate(t, line, l)
		}
	}
}

func TestPayloadKeysAndDifferencesAreAsPublished(t *testing.T) {
	key := publishedPayload(t, "payload.v1.json", "#/$defs/key")
	difference := publishedPayload(t, "payload.v1.json", "#/$defs/difference")
	all := everyPayload()
	for i := range all {
		other := &all[(i+1)%len(all)]
		d := PayloadDifference{A: all[i], B: *other, Difference: payload.Diff(all[i].Bytes, other.Bytes)}
		for _, tty := range []bool{false, true} {
			var b bytes.Buffer
			if err := WritePayloadDifference(&b, sampleOptions(FormatJSON, 80, tty), &d); err != nil {
				t.Fatal(err)
			}
			validate(t, difference, b.String())
		}
		if all[i].Type == "" {
			continue
		}
		var b bytes.Buffer
		if err := NewPayloadKeys(&b, sampleOptions(FormatNDJSON, 0, false)).Key(&all[i], nil, d.Difference.A); err != nil {
			t.Fatal(err)
		}
		validate(t, key, b.String())
	}
}

func TestCorpusObjectsAreAsPublished(t *testing.T) {
	object := publishedPayload(t, "payloadcorpus.v1.json", "")
	for _, reports := range [][]payload.GroupReport{sampleCorpus(), nil} {
		for _, end := range []PayloadEnd{complete, {Problem: "interrupted", Unread: 1}} {
			var b bytes.Buffer
			if err := WriteCorpus(&b, sampleOptions(FormatNDJSON, 0, false), reports, end); err != nil {
				t.Fatal(err)
			}
			for _, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
				validate(t, object, l)
			}
		}
	}
}
