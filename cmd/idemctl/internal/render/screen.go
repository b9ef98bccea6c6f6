package render

import (
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// What the browser shows of a payload goes through the same rules as what the
// reports print.

// Shown is a payload as a screen may show it.
type Shown struct {
	Text string // "" is an empty payload
	JSON bool
	// Canonical is the canonical form of what is shown; "" where there is none.
	Canonical string
	// Spelling says what the spelling means for the task's lock.
	Spelling string
}

// ShownPayload is the task's payload, without what o redacts.
func ShownPayload(o Options, t *inspect.Task) Shown {
	hide, err := newRedactor(o.Redact)
	if err != nil {
		return Shown{Text: "[redacted: a path of redact: cannot be read]"}
	}
	text := hide.show(t.Payload)
	out := Shown{Text: text.text, JSON: text.encoding == payloadJSON}
	if t.Defect != inspect.DefectNone || len(t.Payload) == 0 {
		return out
	}
	e, r := checkedPayload(t)
	out.Spelling = canonicalWords(e, &r)
	if out.JSON && r.Defined() && r.Bytes != nil {
		if form, err := payload.Canonical([]byte(text.text)); err == nil {
			out.Canonical = hide.show(form).text
		}
	}
	return out
}

// ShownHeaders are a task's headers as JSON, without what o redacts; "" is none.
func ShownHeaders(o Options, headers map[string]string) string {
	hide, err := newRedactor(o.Redact)
	if err != nil || len(headers) == 0 {
		return ""
	}
	return string(hide.headers(headers))
}

// ShownBytes are any bytes that are shown like a payload, such as a result.
func ShownBytes(o Options, b []byte) string {
	hide, err := newRedactor(o.Redact)
	if err != nil || len(b) == 0 {
		return ""
	}
	return hide.show(b).text
}
