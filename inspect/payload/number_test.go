package payload

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// formOf is the definition of a number's canonical form, written with exact
// rational numbers and the standard library's own ECMAScript spelling.
func formOf(literal string) (form string, kind numberKind) {
	exact, ok := new(big.Rat).SetString(literal)
	if !ok {
		panic(literal)
	}
	if exact.Sign() == 0 {
		return "0", numberZero
	}
	double, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(double, 0) {
		return "", numberRange
	}
	shortest, err := json.Marshal(double)
	if err != nil {
		panic(err)
	}
	kind = numberFraction
	if exact.IsInt() {
		kind = numberInteger
	}
	spelled, _ := new(big.Rat).SetString(string(shortest))
	switch {
	case spelled.Cmp(exact) == 0:
		return string(shortest), kind
	case kind == numberInteger:
		return exact.Num().String(), kind
	default:
		return "", numberLoss
	}
}

func checkNumber(t interface{ Fatalf(string, ...any) }, literal string) {
	want, wantKind := formOf(literal)
	form, kind := parseDecimal([]byte(literal), make([]byte, 0, maxDigits)).appendCanonical(nil)
	if string(form) != want || kind != wantKind {
		t.Fatalf("%s: %q, %d, want %q, %d", literal, form, kind, want, wantKind)
	}
	r := Check([]byte("[" + literal + "]"))
	if defined := wantKind != numberLoss && wantKind != numberRange; r.Defined() != defined {
		t.Fatalf("%s: form %q", literal, r.Bytes)
	}
	if r.Canonical != (want == literal) {
		t.Fatalf("%s: canonical %v, want %q", literal, r.Canonical, want)
	}
	exact, _ := new(big.Rat).SetString(literal)
	unsafe := wantKind == numberInteger && new(big.Int).Abs(exact.Num()).Cmp(big.NewInt(1<<53-1)) > 0
	if got := r.Count(NumberUnsafeInteger) == 1; got != unsafe {
		t.Fatalf("%s: unsafe %v, want %v", literal, got, unsafe)
	}
	if got := r.Count(FloatNumber) == 1; got != (wantKind == numberFraction) {
		t.Fatalf("%s: fraction %v", literal, got)
	}
}

func TestNumbersFollowTheDefinition(t *testing.T) {
	literal := rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?`),
		rapid.Custom(func(t *rapid.T) string {
			return strconv.FormatFloat(rapid.Float64().Draw(t, "f"), 'g', -1, 64)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return strconv.FormatFloat(rapid.Float64Range(-1e22, 1e22).Draw(t, "f"), 'f', -1, 64)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return strconv.FormatFloat(rapid.Float64Range(-1e3, 1e3).Draw(t, "f"), 'f', rapid.IntRange(1, 20).Draw(t, "digits"), 64)
		}),
	)
	rapid.Check(t, func(t *rapid.T) { checkNumber(t, literal.Draw(t, "literal")) })
}

func TestNumbersAtTheEdges(t *testing.T) {
	for _, literal := range []string{
		"0", "-0", "0.0", "-0.0e5", "0e999", "1", "-1", "1.0", "1e0", "10e-1", "100", "1e2",
		"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993.0", "9007199254740990",
		"999999999999999", "9999999999999999", "1e15", "1e16", "900719925474099.2e1",
		"1e20", "1e21", "1e22", "1e23", "123456789012345680000", "1152921504606846976", "18446744073709551615",
		"0.000001", "0.0000001", "1e-6", "1e-7", "1.5e-7", "0.00000015", "123e-20", "0.1", "0.10", "0.30000000000000004",
		"0.1234567890123456", "0.12345678901234567", "0.123456789012345678", "4.35", "1.005", "333333333.33333329",
		"5e-324", "4.9e-324", "2e-324", "2.4703282292062328e-324", "1e-323", "2.2250738585072011e-308", "2.2250738585072014e-308",
		"1e-306", "1e-307", "1e-308", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1.8e308", "1e308", "1e309",
		"0.1e310", "0.1e309", "17976931348623157" + strings.Repeat("0", 292), strings.Repeat("9", 308), strings.Repeat("9", 309),
		"1." + strings.Repeat("0", 400), "1." + strings.Repeat("0", 900) + "1", "0." + strings.Repeat("0", 320) + "5", strings.Repeat("1", 900) + "e-890",
		"123456789012345678e291", "1" + strings.Repeat("0", 300) + "e-300", "0." + strings.Repeat("0", 300) + "1e301",
	} {
		checkNumber(t, literal)
	}
}

// A rational of these would not fit into memory, so they cannot be compared with
// the definition.
func TestHugeExponentsAreReadWithoutBigIntegers(t *testing.T) {
	million := strings.Repeat("0", 1_000_000)
	tests := map[string]struct {
		rule Rule
		form string
	}{
		"1e999999999":                               {NumberOutOfRange, ""},
		"-1e99999999999999999999999":                {NumberOutOfRange, ""},
		"1e-999999999999999999999999":               {NumberPrecisionLoss, ""},
		"0e99999999999999999999999":                 {NumberFormat, "[0]"},
		"-0e-99999999999999999999999":               {NegativeZero, "[0]"},
		"1" + million:                               {NumberOutOfRange, ""},
		"1" + million + "." + million:               {NumberOutOfRange, ""},
		"1" + million + "e-1000000":                 {NumberFormat, "[1]"},
		"0." + million + "1":                        {NumberPrecisionLoss, ""},
		"0." + million + "1e1000001":                {NumberFormat, "[1]"},
		"0." + million + "12e1000002":               {NumberFormat, "[12]"},
		"0." + million + "125e1000001":              {NumberFormat, "[1.25]"},
		"0." + million:                              {NumberFormat, "[0]"},
		"1." + million:                              {NumberFormat, "[1]"},
		"1." + million + "1":                        {NumberPrecisionLoss, ""},
		strings.Repeat("7", 1_000_000):              {NumberOutOfRange, ""},
		strings.Repeat("7", 1_000_000) + "e-999999": {NumberPrecisionLoss, ""},
	}
	for literal, want := range tests {
		r := Check([]byte("[" + literal + "]"))
		if r.Count(want.rule) != 1 || string(r.Bytes) != want.form {
			t.Errorf("%.20s… (%d digits): rules %v, form %.40q, want %v, %q", literal, len(literal), r.Rules(), r.Bytes, want.rule, want.form)
		}
	}
}

func TestDecimalReadsValueOfNineteenDigits(t *testing.T) {
	for literal, want := range map[string]uint64{
		"0": 0, "7": 7, "1714567890123": 1714567890123, "9999999999999999999": 9999999999999999999, "12e3": 12000, "1.5e1": 15,
	} {
		if got := parseDecimal([]byte(literal), nil).uint64(); got != want {
			t.Errorf("%s = %d", literal, got)
		}
	}
}
