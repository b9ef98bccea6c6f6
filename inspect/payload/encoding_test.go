package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func utf16Bytes(text string, bigEndian, mark bool) []byte {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var b []byte
	for _, u := range units {
		if bigEndian {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

func TestEncodingIsGuessed(t *testing.T) {
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(struct{ ID int }{42}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		payload []byte
		want    Encoding
	}{
		{"json", []byte(`{"a":1}`), EncodingJSON},
		{"json without canonical form", []byte(`{"a":1,"a":2}`), EncodingJSON},
		{"msgpack map", []byte("\x81\xa1a\x01"), EncodingMsgpack},
		{"msgpack array", []byte("\x92\x01\xc0"), EncodingMsgpack},
		{"msgpack map 16", append([]byte{0xDE, 0, 1}, "\xa1a\x01"...), EncodingMsgpack},
		{"msgpack empty map", []byte{0x80}, EncodingMsgpack},
		{"msgpack string", []byte("\xa5hello"), EncodingMsgpack},
		{"msgpack with integer keys", []byte("\x81\x01\x02"), EncodingMsgpack},
		{"msgpack with an extension", []byte("\x91\xd6\xff\x00\x00\x00\x01"), EncodingMsgpack},
		{"msgpack cut short", []byte("\x82\xa1a\x01"), EncodingBinary},
		{"msgpack with a tail", []byte("\x81\xa1a\x01\x01"), EncodingBinary},
		{"gob", stream.Bytes(), EncodingBinary},
		{"protobuf", []byte("\x08\x96\x01\x12\x07testing"), EncodingBinary},
		{"nul byte", []byte("{\"a\":1}\x00"), EncodingBinary},
		{"latin-1 text", []byte("Zo\xeb"), EncodingBinary},
		{"gzip", gzipped(t, []byte(`{}`)), EncodingGzip},
		{"utf-16 little-endian", utf16Bytes(`{"a":"é😂"}`, false, true), EncodingUTF16},
		{"utf-16 big-endian", utf16Bytes(`{"a":"é"}`, true, true), EncodingUTF16},
		{"utf-16 without mark", utf16Bytes(`{"a":1}`, false, false), EncodingUTF16},
		{"utf-16 big-endian without mark", utf16Bytes(`{"a":1}`, true, false), EncodingUTF16},
		{"base64 of json", []byte("eyJhIjoxfQ=="), EncodingBase64JSON},
		{"base64 of json without padding", []byte("eyJhIjoxfQ"), EncodingBase64JSON},
		{"base64 of json, url alphabet", []byte(base64.URLEncoding.EncodeToString([]byte(`["??>>~~"]`))), EncodingBase64JSON},
		{"base64 of something else", []byte("aGVsbG8gd29ybGQ="), EncodingText},
		{"text", []byte("user_id=42&template=x"), EncodingText},
		{"cut json", []byte(`{"a":1`), EncodingText},
		{"blanks", []byte(" \n"), EncodingText},
		{"byte order mark alone", []byte("\ufeff"), EncodingText},
	}
	for _, test := range tests {
		if got := Check(test.payload).Encoding; got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDecodeMsgpack(t *testing.T) {
	tests := []struct{ name, payload, want string }{
		{"map", "\x82\xa7user_id*\xa1t\xa1x", `{"user_id":42,"t":"x"}`},
		{"nested", "\x81\xa1a\x93\x01\x90\x80", `{"a":[1,[],{}]}`},
		{"duplicate names stay", "\x82\xa1a\x01\xa1a\x02", `{"a":1,"a":2}`},
		{"literals", "\x93\xc0\xc2\xc3", `[null,false,true]`},
		{"integers", "\x96\x7f\xff\xcc\xff\xcd\xff\xff\xd0\x80\xd1\x80\x00", `[127,-1,255,65535,-128,-32768]`},
		{"wide integers", "\x93\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xd3\x80\x00\x00\x00\x00\x00\x00\x00\xd2\x80\x00\x00\x00", `[18446744073709551615,-9223372036854775808,-2147483648]`},
		{"double", "\x91\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a", `[0.1]`},
		{"double that is an integer", "\x91\xcb\x40\x24\x00\x00\x00\x00\x00\x00", `[10.0]`},
		{"negative zero", "\x91\xcb\x80\x00\x00\x00\x00\x00\x00\x00", `[-0.0]`},
		{"single precision", "\x91\xca\x3f\x00\x00\x00", `[0.5]`},
		{"text", "\xa4\"\\\n\x01", `"\"\\\n\u0001"`},
		{"text 8", "\xd9\x02hi", `"hi"`},
		{"bytes", "\xc4\x03\x01\x02\x03", `"AQID"`},
		{"array 16", "\xdc\x00\x01\x01", `[1]`},
		{"timestamp", "\xd6\xff\x66\x32\x35\x70", `"2024-05-01T12:28:32Z"`},
		{"timestamp with nanoseconds", "\xd7\xff\x00\x00\x00\x04\x66\x32\x35\x70", `"2024-05-01T12:28:32.000000001Z"`},
	}
	for _, test := range tests {
		got, err := Decode([]byte(test.payload), DecodingMsgpack)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: %q is not JSON", test.name, got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, payload string
		steps         []Decoding
		want          string
	}{
		{"empty msgpack", "", []Decoding{DecodingMsgpack}, "ends too early"},
		{"an array that promises 4 billion elements", "\xdd\xff\xff\xff\xff", []Decoding{DecodingMsgpack}, "ends too early"},
		{"a string that promises 4 GiB", "\xdb\xff\xff\xff\xff", []Decoding{DecodingMsgpack}, "ends too early"},
		{"an integer key", "\x81\x01\x02", []Decoding{DecodingMsgpack}, "map key is not a string"},
		{"a tail", "\xc0\xc0", []Decoding{DecodingMsgpack}, "more follows"},
		{"not a number", "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", []Decoding{DecodingMsgpack}, "not a finite number"},
		{"an unknown extension", "\xd4\x01\x00", []Decoding{DecodingMsgpack}, "extension type 1"},
		{"the unused byte", "\xc1", []Decoding{DecodingMsgpack}, "0xc1"},
		{"deep nesting", strings.Repeat("\x91", MaxDepth+1) + "\x01", []Decoding{DecodingMsgpack}, "100000 levels"},
		{"bad base64", "ab$d", []Decoding{DecodingBase64}, "base64"},
		{"bad gzip", "\x1f\x8bxx", []Decoding{DecodingGzip}, "gzip"},
		{"the second step", base64.StdEncoding.EncodeToString([]byte("x")), []Decoding{DecodingBase64, DecodingGzip}, "gzip"},
		{"an unknown step", "x", []Decoding{DecodingUnknown}, "unknown decoding"},
	}
	for _, test := range tests {
		_, err := Decode([]byte(test.payload), test.steps...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestDecodeStopsGzipBombs(t *testing.T) {
	bomb := gzipped(t, make([]byte, DecodeLimit+1))
	if _, err := Decode(bomb, DecodingGzip); !errors.Is(err, ErrDecodedTooLarge) {
		t.Errorf("%d bytes: %v", len(bomb), err)
	}
	fits := gzipped(t, make([]byte, 1<<20))
	if got, err := Decode(fits, DecodingGzip); err != nil || len(got) != 1<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestDecodeStepsAreChained(t *testing.T) {
	p := []byte(base64.StdEncoding.EncodeToString(gzipped(t, []byte("\x81\xa1a\x01"))))
	got, err := Decode(p, DecodingBase64, DecodingGzip, DecodingMsgpack, DecodingNone)
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Decode(p); err != nil || !bytes.Equal(got, p) {
		t.Errorf("without steps: %q, %v", got, err)
	}
	for _, text := range []string{"aGk", "aGk=", " aGk=\n", "-_-_", "+/+/"} {
		if _, err := Decode([]byte(text), DecodingBase64); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDecodingsHaveNames(t *testing.T) {
	for _, d := range []Decoding{DecodingNone, DecodingBase64, DecodingGzip, DecodingMsgpack} {
		if parsed, err := ParseDecoding(d.String()); err != nil || parsed != d {
			t.Errorf("%v parses as %v, %v", d, parsed, err)
		}
	}
	if _, err := ParseDecoding("unknown"); err == nil {
		t.Error("the unknown decoding has a name to parse")
	}
}
