package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect/payload"
)

func sampleDifference() PayloadDifference {
	a := []byte("{\"order_id\": 42,\"note\":\"a\\u003cb\",\"total\":19.90,\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\"}\n")
	b := []byte(`{"note":"a<b","order_id":42,"total":19.9,"trace_id":"00f067aa0ba902b700f067aa0ba902b7","channel":"web"}`)
	return PayloadDifference{
		A:          Payload{ID: "3f0c", Task: true, Queue: "payments", Type: "payment:charge", Raw: a, Bytes: a},
		B:          Payload{ID: "77aa", Task: true, Queue: "payments", Type: "payment:charge", Raw: b, Bytes: b},
		Difference: payload.Diff(a, b),
	}
}

func differed(t testing.TB, o Options) string {
	t.Helper()
	d := sampleDifference()
	var b bytes.Buffer
	if err := WritePayloadDifference(&b, o, &d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPayloadDifferenceKeepsItsFaces(t *testing.T) {
	for _, face := range faces {
		switch face.format {
		case FormatTable, FormatJSON, FormatNDJSON:
			t.Run(face.name, func(t *testing.T) {
				o := sampleOptions(face.format, face.width, face.tty)
				o.Color = face.color
				golden(t, "payloaddiff-"+strings.Replace(face.name, ".tsv", ".txt", 1), differed(t, o))
			})
		default:
		}
	}
}

// What the reader must not take from one case for another.
func TestPayloadDifferenceSaysWhetherBothCanRun(t *testing.T) {
	one := func(a, b string, raw bool) PayloadDifference {
		d := PayloadDifference{
			A: Payload{ID: "a", Queue: "q", Type: "t", Raw: []byte(a), Bytes: []byte(a)},
			B: Payload{ID: "b", Queue: "q", Type: "t", Raw: []byte(b), Bytes: []byte(b)},
		}
		d.Difference = payload.Diff(d.A.Bytes, d.B.Bytes)
		d.OneLock = raw
		return d
	}
	for name, c := range map[string]struct {
		d    PayloadDifference
		want string
	}{
		"equal":             {one(`1`, `1`, true), "the same bytes: one lock"},
		"other queue":       {one(`1`, `1`, false), "the same bytes, and two locks"},
		"respelled":         {one(`{"a":1}`, `{ "a":1}`, false), "the same work in two spellings: two locks"},
		"other work":        {one(`1`, `2`, false), "different values: two locks"},
		"no canonical form": {one(`{`, `[`, false), "cannot be said"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WritePayloadDifference(&b, sampleOptions(FormatTable, 120, true), &c.d); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.want) {
				t.Errorf("does not say %q:\n%s", c.want, b.String())
			}
		})
	}
}

func TestPayloadKeysKeepTheirFaces(t *testing.T) {
	for _, face := range faces {
		switch {
		case face.format == FormatTable && !face.color, face.format == FormatNDJSON, face.format == FormatName:
			t.Run(face.name, func(t *testing.T) {
				var b bytes.Buffer
				k := NewPayloadKeys(&b, sampleOptions(face.format, face.width, face.tty))
				samples := append(samplePayloads(), Payload{ID: "nil", Queue: "q", Type: "t"})
				for i := range samples {
					form, err := payload.Canonical(samples[i].Bytes)
					var undefined *payload.UndefinedError
					if err != nil && !errors.As(err, &undefined) {
						t.Fatal(err)
					}
					if err := k.Key(&samples[i], form, undefined); err != nil {
						t.Fatal(err)
					}
				}
				golden(t, "payloadkeys-"+strings.Replace(face.name, ".tsv", ".txt", 1), b.String())
			})
		default:
		}
	}
}
