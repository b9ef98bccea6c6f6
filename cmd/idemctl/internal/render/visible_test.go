package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":                      "plain text",
		"a\nb\tc\rd":                      `a\nb\tc\rd`,
		"\x1b[31mred\x1b[0m":              `\x1b[31mred\x1b[0m`,
		"\x00\x7f":                        `\x00\x7f`,
		"\u009b31m":                       `\u009b31m`,
		"\xff\xc3(":                       `\xff\xc3(`,
		"a\u202eb":                        `a\u202eb`,
		"a\u200bb\ufeff":                  `a\u200bb\ufeff`,
		"\U000e0041":                      `\U000e0041`,
		"\u0378":                          `\u0378`,
		"\ue000":                          `\ue000`,
		"a\u00a0b\u3000c":                 `a\u00a0b\u3000c`,
		"\u2800\u3164":                    `\u2800\u3164`,
		"日本":                              "日本",
		"e\u0301":                         "e\u0301",
		"\u0301e":                         `\u0301e`,
		"\x1b\u0301":                      `\x1b\u0301`,
		"e\u0301\u0301\u0301\u0301\u0301": "e\u0301\u0301\u0301\u0301" + `\u0301`,
		"👨\u200d👩":                        `👨\u200d👩`,
		"❤\ufe0f":                         `❤\ufe0f`,
		`back\slash \n`:                   `back\slash \n`,
		"ไทย กำ":                          "ไทย กำ",
		"हिन्दी":                          "हिन्दी",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) is %q, not %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range tricks {
		f.Add(s, "next")
	}
	f.Fuzz(func(t *testing.T, s, next string) {
		v := Visible(s)
		if !utf8.ValidString(v) {
			t.Fatalf("%q is not UTF-8", v)
		}
		for _, r := range v {
			if !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
				t.Fatalf("%U is left of %q", r, s)
			}
		}
		if again := Visible(v); again != v {
			t.Fatalf("%q becomes %q the second time", v, again)
		}
		if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 && v != s {
			t.Fatalf("plain %q became %q", s, v)
		}
		// What stands beside it changes no width: columns hold.
		beside := " " + v + " " + Visible(next) + "│"
		if got, want := displaywidth.String(beside), 3+width(v)+width(Visible(next)); got != want {
			t.Fatalf("%q takes %d cells, not %d", beside, got, want)
		}
	})
}

func FuzzFit(f *testing.F) {
	for _, s := range tricks {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, cells int) {
		v := Visible(s)
		cells = int(uint(cells) % 300)
		cut := fit(v, cells)
		if width(cut) > cells {
			t.Fatalf("fit(%q, %d) is %q: %d cells", v, cells, cut, width(cut))
		}
		if cut != v {
			head := strings.TrimSuffix(cut, ellipsis)
			if !strings.HasPrefix(v, head) {
				t.Fatalf("fit(%q, %d) is %q", v, cells, cut)
			}
			if rest := v[len(head):]; head != "" && width(head)+width(rest) != width(v) {
				t.Fatalf("fit(%q, %d) cuts a grapheme: %q", v, cells, cut)
			}
		}
		if cells < 2 {
			return // a wide character has no room on a line of one cell
		}
		lines := wrap(v, cells)
		for _, line := range lines {
			if width(line) > cells {
				t.Fatalf("wrap(%q, %d) has the line %q", v, cells, line)
			}
		}
		strip := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if strip(strings.Join(lines, "")) != strip(v) {
			t.Fatalf("wrap(%q, %d) is %q", v, cells, lines)
		}
	})
}
