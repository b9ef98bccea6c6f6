package payload

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// value is a JSON value as a tree, for tests that need to know what bytes mean.
// Numbers are exact.
type value struct {
	kind     byte // n, t, f, 0 (number), ", [, {
	number   *big.Rat
	text     string
	elements []value
	names    []string
}

// drawValue draws a value that has a canonical form.
func drawValue(t *rapid.T, depth int) value {
	kinds := []byte{'n', 't', 'f', '0', '0', '"', '"', '[', '{'}
	if depth == 0 {
		kinds = kinds[:7]
	}
	v := value{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch v.kind {
	case '0':
		v.number = drawNumber(t)
	case '"':
		v.text = drawText(t)
	case '[':
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			v.elements = append(v.elements, drawValue(t, depth-1))
		}
	case '{':
		seen := map[string]bool{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			name := drawText(t)
			if !seen[name] {
				seen[name] = true
				v.names = append(v.names, name)
				v.elements = append(v.elements, drawValue(t, depth-1))
			}
		}
	}
	return v
}

// drawText favours what is spelled in several ways and what sorts oddly.
func drawText(t *rapid.T) string {
	if rapid.Bool().Draw(t, "plain") {
		return rapid.StringMatching(`[a-c_]{0,9}`).Draw(t, "text")
	}
	runes := []rune("a/\"\\<>&\b\f\n\r\t\u0000\u001f\u007f\u00e9\u0301\u2028\ud7ff\ue000\uffff\U00010000\U0001f602\U0010ffff")
	return string(rapid.SliceOfN(rapid.SampledFrom(runes), 0, 5).Draw(t, "runes"))
}

// drawNumber draws an integer of any size or a fraction that a double spells.
func drawNumber(t *rapid.T) *big.Rat {
	switch rapid.IntRange(0, 4).Draw(t, "number") {
	case 0:
		return big.NewRat(rapid.Int64Range(-20, 20).Draw(t, "small"), 1)
	case 1:
		return big.NewRat(rapid.Int64().Draw(t, "integer"), 1)
	case 2:
		digits := rapid.StringMatching(`[1-9][0-9]{15,30}`).Draw(t, "digits")
		n, _ := new(big.Rat).SetString(digits)
		return n
	case 3:
		return big.NewRat(1<<53+rapid.Int64Range(-2, 4).Draw(t, "edge"), 1)
	default:
		f := rapid.Float64Range(-1e30, 1e30).Draw(t, "double")
		n, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		return n
	}
}

// spell writes the value in one of its many spellings.
func (v value) spell(t *rapid.T) string {
	var b strings.Builder
	v.spellInto(t, &b)
	return blanks(t) + b.String() + blanks(t)
}

func (v value) spellInto(t *rapid.T, b *strings.Builder) {
	switch v.kind {
	case 'n':
		b.WriteString("null")
	case 't':
		b.WriteString("true")
	case 'f':
		b.WriteString("false")
	case '0':
		b.WriteString(spellNumber(t, v.number))
	case '"':
		b.WriteString(spellText(t, v.text))
	case '[':
		b.WriteString("[" + blanks(t))
		for i, e := range v.elements {
			if i > 0 {
				b.WriteString(blanks(t) + "," + blanks(t))
			}
			e.spellInto(t, b)
		}
		b.WriteString(blanks(t) + "]")
	case '{':
		b.WriteString("{" + blanks(t))
		for i, at := range rapid.Permutation(indices(len(v.names))).Draw(t, "order") {
			if i > 0 {
				b.WriteString(blanks(t) + "," + blanks(t))
			}
			b.WriteString(spellText(t, v.names[at]) + blanks(t) + ":" + blanks(t))
			v.elements[at].spellInto(t, b)
		}
		b.WriteString(blanks(t) + "}")
	}
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func blanks(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t", "\r\n"}).Draw(t, "blanks")
}

func spellText(t *rapid.T, text string) string {
	b := strings.Builder{}
	b.WriteByte('"')
	for _, r := range text {
		if r >= ' ' && r != '"' && r != '\\' && rapid.Bool().Draw(t, "raw") {
			b.WriteRune(r)
			continue
		}
		short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[r]
		if short != "" && rapid.Bool().Draw(t, "short") {
			b.WriteString(short)
			continue
		}
		format := rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "hex")
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, format, unit)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// spellNumber writes a number with digits moved between its parts.
func spellNumber(t *rapid.T, n *big.Rat) string {
	digits, exp := exactDigitsOf(n)
	sign := ""
	if n.Sign() < 0 || n.Sign() == 0 && rapid.Bool().Draw(t, "minus") {
		sign = "-"
	}
	zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
	digits += strings.Repeat("0", zeros)
	// digits × 10^(exp−zeros); put the point after k of them.
	k := rapid.IntRange(1, len(digits)).Draw(t, "point")
	e := exp - zeros + len(digits) - k
	out := sign
	if digits[0] == '0' && k > 1 {
		k, e = 1, exp-zeros+len(digits)-1
	}
	out += digits[:k]
	if k < len(digits) {
		out += "." + digits[k:]
	}
	if e == 0 && rapid.Bool().Draw(t, "no exponent") {
		return out
	}
	return out + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + map[bool]string{true: "+", false: ""}[e >= 0 && rapid.Bool().Draw(t, "plus")] + strconv.Itoa(e)
}

// exactDigitsOf splits a decimal fraction into digits × 10^exp.
func exactDigitsOf(n *big.Rat) (digits string, exp int) {
	ten := big.NewRat(10, 1)
	m := new(big.Rat).Abs(n)
	for !m.IsInt() {
		m.Mul(m, ten)
		exp--
	}
	digits = m.Num().String()
	for len(digits) > 1 && strings.HasSuffix(digits, "0") {
		digits = digits[:len(digits)-1]
		exp++
	}
	return digits, exp
}

// meaning is what bytes say, in a form that is equal exactly for equal values: it
// shares no code with the canonical form.
func (v value) meaning() string {
	switch v.kind {
	case '0':
		return v.number.RatString()
	case '"':
		return fmt.Sprintf("%+q", v.text)
	case '[':
		parts := make([]string, len(v.elements))
		for i, e := range v.elements {
			parts[i] = e.meaning()
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '{':
		members := map[string]string{}
		for i, name := range v.names {
			members[fmt.Sprintf("%+q", name)] = v.elements[i].meaning()
		}
		b, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		return string(b)
	default:
		return string(v.kind)
	}
}
