package inspect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"
)

// otherFields are a message's fields in their order, as bytes, without those
// that asynq reads the two numbers from.
func otherFields(t rapid.TB, msg []byte) (fields []string) {
	t.Helper()
	for len(msg) > 0 {
		number, kind, size := protowire.ConsumeField(msg)
		if size < 0 {
			t.Fatalf("malformed at %x", msg)
		}
		if kind != protowire.VarintType || number != 5 && number != 6 {
			fields = append(fields, string(msg[:size]))
		}
		msg = msg[size:]
	}
	return fields
}

// checkRewritten holds for whatever was taken for a message.
func checkRewritten(t rapid.TB, desc protoreflect.MessageDescriptor, msg []byte, attempts int) {
	t.Helper()
	kept := bytes.Clone(msg)
	got, before, after, err := RewriteAttempts(msg, attempts)
	if err != nil {
		t.Fatalf("rewriting %x: %v", msg, err)
	}
	if !bytes.Equal(msg, kept) {
		t.Fatalf("%x became %x in place", kept, msg)
	}
	want, err := byLibrary(desc, msg)
	if err != nil {
		t.Fatal(err)
	}
	if before != (Retries{want.Retried, want.MaxRetry}) {
		t.Errorf("before %+v, the library reads %+v", before, want)
	}
	read, err := byLibrary(desc, got)
	if err != nil {
		t.Fatalf("%x cannot be decoded: %v", got, err)
	}
	if after != (Retries{read.Retried, read.MaxRetry}) || after.Attempts() != attempts {
		t.Errorf("after %+v, %d attempts, the library reads %d of %d; want %d attempts", after, after.Attempts(), read.Retried, read.MaxRetry, attempts)
	}
	want.Retried, want.MaxRetry = read.Retried, read.MaxRetry
	if !sameMessage(want, read) {
		t.Errorf("other fields changed:\n%+v\n%+v", want, read)
	}
	if a, b := otherFields(t, msg), otherFields(t, got); strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("other fields are %q, want %q", b, a)
	}
	// A failure need not have been counted: asynq.SkipRetry archives without.
	failed := before.Retried > 0 || attempts > 1 && (want.LastErr != "" || !want.LastFailedAt.IsZero())
	if failed != (after.Retried > 0) {
		t.Errorf("retried %d became %d: the task is taken for a new one, or the reverse", before.Retried, after.Retried)
	}
}

// messages draws well-formed messages: fields in any order and number, known ones
// with each wire type, unknown ones, and numbers that are written with too many bytes.
func messages() *rapid.Generator[[]byte] {
	varint := func(t *rapid.T, b []byte) []byte {
		v := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64()).Draw(t, "number")
		b = protowire.AppendVarint(b, v)
		if len(b) < 9 && rapid.IntRange(0, 9).Draw(t, "padded") == 0 {
			b[len(b)-1] |= 0x80
			b = append(b, 0)
		}
		return b
	}
	field := rapid.Custom(func(t *rapid.T) []byte {
		number := protowire.Number(rapid.OneOf(rapid.IntRange(1, 17), rapid.SampledFrom([]int{5, 6, 5, 6, 100, 1<<29 - 1})).Draw(t, "field"))
		text := []byte(rapid.StringMatching(`[a-zé]{0,5}`).Draw(t, "text"))
		entry := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), text)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			return append(protowire.AppendTag(nil, number, protowire.VarintType), varint(t, nil)...)
		case 2:
			return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), 7)
		case 3:
			return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), 7)
		case 4:
			b := append(protowire.AppendTag(nil, number, protowire.StartGroupType), entry...)
			return protowire.AppendTag(b, number, protowire.EndGroupType)
		default:
			if number == fieldHeaders {
				text = entry
			}
			return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), text)
		}
	})
	return rapid.Custom(func(t *rapid.T) []byte {
		return bytes.Join(rapid.SliceOfN(field, 1, 12).Draw(t, "fields"), nil)
	})
}

func TestRewriteAttemptsKeepsEveryOtherField(t *testing.T) {
	desc := taskMessage(t)
	rapid.Check(t, func(rt *rapid.T) {
		checkRewritten(rt, desc, messages().Draw(rt, "message"), rapid.IntRange(1, MaxAttempts).Draw(rt, "attempts"))
	})
}

// What asynq would have written with the other numbers is what is written.
func TestRewriteAttemptsWritesWhatAsynqWrites(t *testing.T) {
	desc := taskMessage(t)
	encode := func(retried, retry int32, others bool) []byte {
		m := dynamicpb.NewMessage(desc)
		set := func(number protoreflect.FieldNumber, v any) {
			m.Set(desc.Fields().ByNumber(number), protoreflect.ValueOf(v))
		}
		set(fieldType, "mail:send")
		set(fieldQueue, "default")
		if others {
			set(fieldPayload, []byte(`{"a":1}`))
			set(fieldErrorMsg, "failed")
			set(fieldTimeout, int64(1800))
			set(fieldUniqueKey, "asynq:{default}:unique:mail:send:")
			m.Mutable(desc.Fields().ByNumber(fieldHeaders)).Map().Set(protoreflect.ValueOf("k").MapKey(), protoreflect.ValueOf("v"))
		}
		set(fieldRetry, retry)
		set(fieldRetried, retried)
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		was, want Retries
		n         int
	}{
		{was: Retries{25, 25}, n: 1, want: Retries{25, 25}},
		{was: Retries{25, 25}, n: 3, want: Retries{1, 3}},
		{was: Retries{3, 25}, n: 1, want: Retries{3, 3}}, // by SkipRetry, with attempts left
		{was: Retries{3, 25}, n: 2, want: Retries{1, 2}},
		{was: Retries{0, 25}, n: 1, want: Retries{0, 0}},
		{was: Retries{0, 25}, n: 3, want: Retries{0, 2}},
		{was: Retries{0, 0}, n: 1, want: Retries{0, 0}},
		{was: Retries{0, 0}, n: 5, want: Retries{0, 4}},
		{was: Retries{1, 3}, n: 3, want: Retries{1, 3}},
		{was: Retries{9, 3}, n: 1, want: Retries{9, 3}},
		{was: Retries{-4, 3}, n: 1, want: Retries{0, 0}},
		{was: Retries{-4, 3}, n: 2, want: Retries{0, 1}},
		{was: Retries{25, 25}, n: MaxAttempts, want: Retries{1, MaxAttempts}},
	} {
		for _, others := range []bool{false, true} {
			was := encode(int32(c.was.Retried), int32(c.was.MaxRetry), others)
			got, before, after, err := RewriteAttempts(was, c.n)
			numbers := c.want
			if others && c.n > 1 && numbers.Retried == 0 {
				numbers = Retries{1, c.n} // it bears an error
			}
			want := encode(int32(numbers.Retried), int32(numbers.MaxRetry), others)
			if err != nil || before != c.was || after != numbers || !bytes.Equal(got, want) {
				t.Errorf("%+v, %d attempts: %+v to %+v, %x, want %+v, %x; error %v", c.was, c.n, before, after, got, numbers, want, err)
			}
		}
	}
}

func TestRewriteAttemptsRefusesWhatItCannotKeep(t *testing.T) {
	good := []byte("\x0a\x01t\x28\x19\x30\x19")
	for _, msg := range []string{"", "x", "\x0a\x05t", "\x0a\x01\xff", "\x7a\x02\x0a\x05", "\x28", "\x00\x00"} {
		if got, before, after, err := RewriteAttempts([]byte(msg), 2); err == nil || got != nil || before != (Retries{}) || after != (Retries{}) {
			t.Errorf("%q: %x, %+v, %+v, error %v", msg, got, before, after, err)
		}
	}
	for _, attempts := range []int{-1, 0, MaxAttempts + 1, 1 << 40} {
		if got, _, _, err := RewriteAttempts(good, attempts); err == nil || got != nil || !strings.Contains(err.Error(), fmt.Sprint(attempts)) {
			t.Errorf("%d attempts: %x, error %v", attempts, got, err)
		}
	}
}

// FuzzRewriteAttempts: whatever decodes is rewritten with its other fields kept,
// and nothing else is.
func FuzzRewriteAttempts(f *testing.F) {
	desc := taskMessage(f)
	seeds := []string{
		"\x0a\x01t\x12\x02{}\x1a\x02id\x22\x01q\x28\x19\x30\x03\x3a\x03err\x40\x88\x0e\x52\x01u\x58\x02\x72\x01g\x7a\x06\x0a\x01k\x12\x01v",
		"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\xff\xff\xff\xff\x0f", "\x30\x01\x28\x02\x30\x03\x28\x04", "\xfa\x01\x01x\x0a\x01t",
		"\x2a\x01x\x35\x01\x02\x03\x04", "\x28\x80\x00", "\x0b\x0c", "\x7a\x00\x28\x00",
	}
	for i, seed := range seeds {
		var names interner
		if seed == "" || names.decodeMessage([]byte(seed), new(Task)) != nil {
			f.Fatalf("seed %d is no message", i)
		}
		f.Add([]byte(seed), 1+i)
	}
	f.Fuzz(func(t *testing.T, msg []byte, attempts int) {
		attempts = 1 + int(uint(attempts)%MaxAttempts)
		if _, err := byLibrary(desc, msg); err != nil || len(msg) == 0 {
			if got, _, _, err := RewriteAttempts(msg, attempts); err == nil {
				t.Errorf("%x, which cannot be decoded, became %x", msg, got)
			}
			return
		}
		checkRewritten(t, desc, msg, attempts)
	})
}
