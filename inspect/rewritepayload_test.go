package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

func TestRewritePayloadChangesItsFieldsAndNoOther(t *testing.T) {
	desc := taskMessage(t)
	payload := func([]byte) []byte { return []byte(`{"hidden":true}`) }
	lastErr := func([]byte) []byte { return []byte("hidden") }
	header := func(name, value string) string { return name + "=" + value }
	rapid.Check(t, func(rt *rapid.T) {
		msg := messages().Draw(rt, "message")
		kept := bytes.Clone(msg)
		got, err := RewritePayload(msg, Rewriting{payload, lastErr, header})
		if err != nil {
			rt.Fatalf("rewriting %x: %v", msg, err)
		}
		if !bytes.Equal(msg, kept) {
			rt.Fatalf("%x became %x in place", kept, msg)
		}
		want, err := byLibrary(desc, msg)
		if err != nil {
			rt.Fatal(err)
		}
		read, err := byLibrary(desc, got)
		if err != nil {
			rt.Fatalf("%x cannot be decoded: %v", got, err)
		}
		if len(want.Payload) > 0 {
			want.Payload = payload(nil)
		}
		if want.LastErr != "" {
			want.LastErr = string(lastErr(nil))
		}
		for name, value := range want.Headers {
			if value != "" {
				want.Headers[name] = header(name, value)
			}
		}
		if !sameMessage(want, read) {
			rt.Errorf("\n%+v, want\n%+v", read, want)
		}
		others := func(msg []byte) string {
			var fields []string
			for len(msg) > 0 {
				number, kind, size := protowire.ConsumeField(msg)
				if kind != protowire.BytesType || number != fieldPayload && number != fieldErrorMsg && number != fieldHeaders {
					fields = append(fields, fmt.Sprintf("%x", msg[:size]))
				}
				msg = msg[size:]
			}
			return strings.Join(fields, " ")
		}
		if a, b := others(msg), others(got); a != b {
			rt.Errorf("other fields are %s, want %s", b, a)
		}
	})
}

// A message may repeat its payload. Only the last counts, and all would be
// written somewhere.
func TestRewritePayloadLeavesNoEarlierPayloadBehind(t *testing.T) {
	var msg []byte
	for _, secret := range []string{"4111-1", "", "4111-2"} {
		msg = protowire.AppendBytes(protowire.AppendTag(msg, fieldPayload, protowire.BytesType), []byte(secret))
		msg = protowire.AppendBytes(protowire.AppendTag(msg, fieldErrorMsg, protowire.BytesType), []byte("card "+secret))
	}
	hide := func([]byte) []byte { return []byte("x") }
	got, err := RewritePayload(msg, Rewriting{Payload: hide, LastErr: hide})
	if err != nil || bytes.Contains(got, []byte("4111")) {
		t.Errorf("%q, %v", got, err)
	}
	got, err = RewritePayload(msg, Rewriting{})
	if err != nil || !bytes.Equal(got, msg) {
		t.Errorf("without functions %q became %q, %v", msg, got, err)
	}
}

func TestRewritePayloadRefusesWhatIsNoMessage(t *testing.T) {
	for _, msg := range []string{"", "\xff", "\x12\x05ab", "\x0a\x01\xff"} {
		if got, err := RewritePayload([]byte(msg), Rewriting{}); err == nil {
			t.Errorf("%q became %q", msg, got)
		}
		if task, err := DecodeMessage(Ref{Queue: "q", ID: "i"}, []byte(msg)); err == nil || errors.Unwrap(err) != nil || task.Defect != DefectUndecodable || task.Ref.ID != "i" {
			t.Errorf("%q was read as %+v, %v", msg, task, err)
		}
	}
}
