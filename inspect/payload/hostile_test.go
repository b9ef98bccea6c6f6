package payload

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The sizes here are small enough for every run; what grows faster than the
// payload shows as a test that does not end.
const hostileSize = 2 << 20

func filled(head, unit, tail string) []byte {
	return []byte(head + strings.Repeat(unit, (hostileSize-len(head)-len(tail))/len(unit)) + tail)
}

func TestHostilePayloadsAreJudgedInOnePass(t *testing.T) {
	var names bytes.Buffer
	names.WriteByte('{')
	for i := 0; names.Len() < hostileSize; i++ {
		fmt.Fprintf(&names, `"%d":1,`, i*7919%9_999_991)
	}
	names.WriteString(`"z":1}`)
	var prefixes bytes.Buffer
	prefixes.WriteByte('{')
	for i := range 60 {
		fmt.Fprintf(&prefixes, `"%s%d":1,`, strings.Repeat("x", hostileSize/60), i*37%61)
	}
	prefixes.WriteString(`"z":1}`)
	deep := func(head, tail string, n int) []byte {
		return []byte(strings.Repeat(head, n) + "1" + strings.Repeat(tail, n))
	}
	tests := []struct {
		name    string
		payload []byte
		rules   string
	}{
		{"zeros", filled("[", "0,", "0]"), ""},
		{"fractions that are integers", filled("[", "1.0,", "0]"), "number-format"},
		{"unsorted objects", filled("[", `{"b":1,"a":1},`, "0]"), "key-order"},
		{"one object with unsorted names", names.Bytes(), "key-order"},
		{"one object with one name", filled("{", `"a":1,`, `"a":1}`), "duplicate-key"},
		{"long names with a common prefix", prefixes.Bytes(), "key-order"},
		{"one member that is written again and again", filled("{", `"a":1.0,`, `"a":1}`), "duplicate-key number-format"},
		{"an integer of millions of digits", filled("", "9", ""), "number-out-of-range"},
		{"a fraction of millions of digits", filled("0.", "0", "1"), "number-precision-loss"},
		{"exponents", filled("[", "1e999999999,", "0]"), "number-out-of-range"},
		{"arrays 10,000 deep", deep("[", "]", 10_000), ""},
		{"objects as deep as allowed", deep(`{"b":`, `,"a":1}`, MaxDepth), "key-order"},
		{"deeper than allowed", deep("[", "]", MaxDepth+1), "not-json"},
		{"opened and never closed", filled("", "[", ""), "not-json"},
		{"findings at every level", deep(`{"aa":1.0,"ab":`, "}", 90_000), "number-format"},
		{"one escaped string", filled(`["`, `\u0041`, `"]`), "string-escape"},
		{"bytes that are not UTF-8", filled(`["`, "\xff", `"]`), "invalid-utf8"},
		{"combining marks", filled(`["a`, "\u0301", `"]`), "unicode-not-nfc"},
		{"JSON in a string", filled(`["[`, `\"a\",`, `0]"]`), ""},
		{"clock readings under a long name", []byte(`{"` + strings.Repeat("a_", hostileSize/4) + `ts":[` + strings.Repeat("1714567890123,", hostileSize/28) + `0]}`), "timestamp-epoch"},
		{"MessagePack arrays in arrays", filled("", "\x91", ""), "not-json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Check(test.payload)
			var rules []string
			for _, rule := range r.Rules() {
				rules = append(rules, rule.String())
			}
			if got := strings.Join(rules, " "); got != test.rules {
				t.Errorf("rules %s, want %s", got, test.rules)
			}
			for _, f := range r.Findings {
				if len(f.Path) > 2*(maxPathEnd+maxPathName)+32 {
					t.Fatalf("a path of %d bytes", len(f.Path))
				}
			}
			if r.Defined() && !r.Canonical {
				if d := Diff(test.payload, r.Bytes); !d.Empty() {
					t.Errorf("differs from its form: %+v", d.Values[0])
				}
			}
		})
	}
}

func TestDepthLimitIsExact(t *testing.T) {
	at := []byte(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))
	if r := Check(at); !r.Canonical {
		t.Errorf("at the limit: %v", r.Rules())
	}
	r := Check([]byte("[" + string(at) + "]"))
	if r.Count(NotJSON) != 1 || !strings.Contains(r.Findings[0].Message, "100000 levels") {
		t.Errorf("beyond it: %+v", r.Findings)
	}
}

func TestPathsAreCutInTheMiddle(t *testing.T) {
	deep := strings.Repeat(`{"name":`, 5000) + "1.0" + strings.Repeat("}", 5000)
	path := Check([]byte(deep)).Findings[0].Path
	if !strings.HasPrefix(path, "$.name.name") || !strings.HasSuffix(path, ".name.name") || !strings.Contains(path, ellipsis) || len(path) > 2*maxPathEnd+64 {
		t.Errorf("a path of %d bytes: %.20s", len(path), path)
	}
	long := `{"` + strings.Repeat("é", 5000) + `":1.0}`
	path = Check([]byte(long)).Findings[0].Path
	if !strings.HasSuffix(path, "é"+ellipsis+"']") || len(path) > maxPathName+32 {
		t.Errorf("a path of %d bytes: …%.20s", len(path), path[len(path)-20:])
	}
	if got := Check([]byte(`{"` + "\\udc00\\ud800" + `":1.0}`)).Findings[0].Path; got != "$['\ufffd\ufffd']" {
		t.Errorf("lone surrogates: %q", got)
	}
}

// Two works whose paths are cut to one text are two findings all the same.
func TestCutPathsAreNotTakenForOne(t *testing.T) {
	deep := func(inner string) string {
		return strings.Repeat(`{"name":`, 3000) + inner + strings.Repeat("}", 3000)
	}
	r := Check([]byte("[" + deep(`[1.0]`) + "," + deep(`[1.0]`) + "]"))
	if r.Count(NumberFormat) != 2 {
		t.Errorf("%d findings", r.Count(NumberFormat))
	}
}
