package config

import (
	"fmt"
	"io"
)

// masked is what is shown in place of a secret. Its length says nothing of the secret's.
const masked = "xxxxx"

// Secret is a password or another value that must never be shown. Everything that prints or encodes it (every
// verb of fmt, encoding/json, encoding/xml, log/slog, YAML) gives "xxxxx"; only [Secret.Reveal] gives the value.
// The zero Secret is the empty one and prints as nothing.
//
// The text is behind a pointer, so that fmt, which calls no methods on unexported fields of other structs,
// finds an address there.
type Secret struct{ text *string }

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal gives the value itself, to hand to a driver.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String gives "xxxxx", or "" for an empty secret.
func (s Secret) String() string {
	if s.Reveal() == "" {
		return ""
	}
	return masked
}

// GoString masks the value under %#v.
func (s Secret) GoString() string { return fmt.Sprintf("config.NewSecret(%q)", s.String()) }

// Format masks the value under every verb of fmt.
func (s Secret) Format(f fmt.State, verb rune) { formatMasked(f, verb, s.String(), s.GoString()) }

// MarshalText masks the value in every text encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON masks the value.
func (s Secret) MarshalJSON() ([]byte, error) { return jsonString(s.String()), nil }

// ConnString is a Redis URI or a ledger DSN, which may hold a password. Everything that prints or encodes it
// gives it as [Mask] leaves it; only [ConnString.Reveal] gives the value.
type ConnString struct{ secret Secret }

// NewConnString hides the secrets in text.
func NewConnString(text string) ConnString { return ConnString{secret: NewSecret(text)} }

// Reveal gives the value itself, to hand to a driver.
func (c ConnString) Reveal() string { return c.secret.Reveal() }

// String gives the value as Mask leaves it.
func (c ConnString) String() string { return Mask(c.Reveal()) }

// GoString masks the value under %#v.
func (c ConnString) GoString() string { return fmt.Sprintf("config.NewConnString(%q)", c.String()) }

// Format masks the value under every verb of fmt.
func (c ConnString) Format(f fmt.State, verb rune) { formatMasked(f, verb, c.String(), c.GoString()) }

// MarshalText masks the value in every text encoding.
func (c ConnString) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalJSON masks the value.
func (c ConnString) MarshalJSON() ([]byte, error) { return jsonString(c.String()), nil }

func (c *ConnString) parse(text string) error {
	if text == "" {
		return errNotThat
	}
	*c = NewConnString(text)
	return nil
}

func (*ConnString) expects() string { return "a connection string that is not empty" }

// formatMasked writes the masked text under any verb. An error of the writer is fmt's to report.
func formatMasked(f fmt.State, verb rune, text, goText string) {
	switch {
	case verb == 'v' && f.Flag('#'):
		text = goText
	case verb == 'q':
		text = fmt.Sprintf("%q", text)
	case verb == 'x' || verb == 'X':
		text = fmt.Sprintf("%"+string(verb), text)
	}
	_, _ = io.WriteString(f, text)
}
