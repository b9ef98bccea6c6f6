package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// payloadText is a payload as it may be shown: redacted, or not at all.
type payloadText struct {
	encoding string // one of the encodings below; "" when payloads are not shown
	text     string
}

// How a payload is shown.
const (
	payloadJSON   = "json"     // its JSON value
	payloadPlain  = "text"     // its text
	payloadBase64 = "base64"   // its bytes
	payloadHidden = "redacted" // not at all: no path points into what is not JSON
)

// show is how a payload may be shown under these rules.
func (r redactor) show(payload []byte) payloadText {
	if len(payload) == 0 {
		return payloadText{payloadPlain, ""}
	}
	compact, err := r.apply(payload)
	isJSON := err == nil
	if r.hidesPayloads() || r.active() && !(isJSON && isContainer(compact)) {
		return payloadText{payloadHidden, fmt.Sprintf("[redacted: %d bytes]", len(payload))}
	}
	switch {
	case isJSON:
		return payloadText{payloadJSON, string(compact)}
	case utf8.Valid(payload):
		return payloadText{payloadPlain, string(payload)}
	default:
		return payloadText{payloadBase64, base64.StdEncoding.EncodeToString(payload)}
	}
}

func isContainer(compact []byte) bool { return compact[0] == '{' || compact[0] == '[' }

// json is the payload's value in a document, and the name of its encoding.
func (p payloadText) json() (json.RawMessage, *string) {
	switch p.encoding {
	case "":
		return nil, nil
	case payloadJSON:
		return json.RawMessage(p.text), &p.encoding
	default:
		quoted, err := marshal(p.text)
		if err != nil { // a string always marshals
			return nil, nil
		}
		return quoted, &p.encoding
	}
}

// unquote is the text of a JSON string.
func unquote(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(quoted)
	}
	return s
}

// marshal is json.Marshal without its care for HTML, which would turn < and &
// of an error text into escapes, but with care for terminals.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeInvisible(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// escapeInvisible writes every character of JSON text that Visible would not
// show as it is as a \u escape: the same value, and no power over a terminal.
// Outside strings JSON holds ASCII only.
func escapeInvisible(text []byte) []byte {
	if clean(text) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r >= ' ' && r < 0x7f || r >= utf8.RuneSelf && shows(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// clean says whether the text is printable ASCII.
func clean(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
