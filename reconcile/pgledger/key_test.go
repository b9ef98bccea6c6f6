package pgledger

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// FuzzParseUUID compares with a reading that ignores where hyphens are: what is
// taken has 32 digits, and the canonical spelling is taken for the same value.
func FuzzParseUUID(f *testing.F) {
	for _, s := range []string{
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
		"urn:uuid:a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0ee-bc99", "", "-", "{}", strings.Repeat("0", 33),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, ok := parseUUID(s)
		if !ok {
			if _, err := uuid.Parse(s); err == nil && len(s) != 38 {
				t.Errorf("%q is refused", s)
			}
			return
		}
		digits := strings.ToLower(strings.NewReplacer("-", "", "{", "", "}", "").Replace(s))
		digits = strings.TrimPrefix(digits, "urn:uuid:")
		if got := strings.ReplaceAll(u.String(), "-", ""); got != digits {
			t.Errorf("%q is read as %s", s, u)
		}
		if again, ok := parseUUID(u.String()); !ok || again != u {
			t.Errorf("%q is read as %s, and that as %s", s, u, again)
		}
	})
}

// FuzzFit: no key, however hostile, panics or changes its canonical form when it
// is read again.
func FuzzFit(f *testing.F) {
	for _, s := range []string{"1", "-0", "+7", "9223372036854775808", "a b ", "\xff", "\x00", "ä"} {
		f.Add(s)
	}
	forms := []keyForm{
		{kind: keyText},
		{kind: keyText, limit: 3},
		{kind: keyChar, limit: 3},
		{kind: keyUUID},
		{kind: keyInteger, low: -32768, high: 32767},
		{kind: keyBytes},
		{kind: keyText, ascii: true},
	}
	f.Fuzz(func(t *testing.T, key string) {
		for _, form := range forms {
			if form.fit(key) != "" {
				continue
			}
			asked := form.kind.asked(key)
			if form.kind.byValue() && (form.fit(asked) != "" || form.kind.asked(asked) != asked) {
				t.Errorf("key type %d: %q becomes %q", form.kind, key, asked)
			}
			form.kind.array([]string{asked})
		}
	})
}
