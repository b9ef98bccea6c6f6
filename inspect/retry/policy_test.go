package retry

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, spec string) Policy {
	t.Helper()
	p, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBoundsPerPolicy(t *testing.T) {
	for _, c := range []struct {
		spec     string
		n        int
		min, max time.Duration
	}{
		{"default", 0, 15 * time.Second, 44 * time.Second},
		{"default", 1, 16 * time.Second, 74 * time.Second},
		{"default", 24, 331_791 * time.Second, 332_516 * time.Second},
		{"default", -3, 15 * time.Second, 44 * time.Second},
		{"fixed(60s)", 7, time.Minute, time.Minute},
		{"fixed(300ms)", 7, 300 * time.Millisecond, 300 * time.Millisecond},
		{"fixed(2d)", 0, 48 * time.Hour, 48 * time.Hour},
		{"linear(base=0s, step=2s, cap=1h)", 0, 0, 0},
		{"linear(base=10s, step=2s)", 3, 16 * time.Second, 16 * time.Second},
		{"linear(base=0s, step=2s, cap=1h)", 9999, time.Hour, time.Hour},
		{"poly(coef=5s, power=2)", 3, 45 * time.Second, 45 * time.Second},
		{"exponential(base=30s, factor=2, cap=1h)", 3, 4 * time.Minute, 4 * time.Minute},
		{"exponential(base=30s, factor=2, cap=1h, jitter=full)", 30, 0, time.Hour},
		{"exponential(base=30s, factor=2, cap=1h, jitter=equal)", 1, 30 * time.Second, time.Minute},
		{"exponential(base=30s, factor=2, cap=1h, jitter=20%)", 30, 48 * time.Minute, 72 * time.Minute},
		{"table(30s, 1m, 4m)", 1, time.Minute, time.Minute},
		{"table(30s, 1m, 4m)", 50, 4 * time.Minute, 4 * time.Minute},
		{`expr("30 * (n + 1)")`, 1, time.Minute, time.Minute},
		{`expr("duration('1h30m') + 30*n")`, 2, 91 * time.Minute, 91 * time.Minute},
		{`expr("n**4 + 15 + int(rand*30)*(n+1)")`, 3, 96 * time.Second, 212 * time.Second},
		{`expr("60 - 30*rand")`, 0, 30 * time.Second, time.Minute},
		// Too long for time.Duration: saturated, never overflowing.
		{"exponential(base=30s, factor=2)", 5000, math.MaxInt64, math.MaxInt64},
		{"poly(coef=1d, power=300)", 5000, math.MaxInt64, math.MaxInt64},
		{"exponential(base=0s, factor=2)", 5000, 0, 0},
	} {
		low, high := mustParse(t, c.spec).Bounds(c.n)
		if low != c.min || high != c.max {
			t.Errorf("%s at n=%d: %v to %v, want %v to %v", c.spec, c.n, low, high, c.min, c.max)
		}
	}
}

func TestZeroPolicyPromisesNothing(t *testing.T) {
	low, high := Policy{}.Bounds(0)
	if low != 0 || high != math.MaxInt64 {
		t.Errorf("the zero policy has bounds %v to %v", low, high)
	}
	if _, err := Parse(Policy{}.String()); err == nil {
		t.Error("the zero policy's name can be parsed")
	}
}

// Each wrong spec gives one line that names the offending part.
func TestParseNamesTheOffendingPart(t *testing.T) {
	for spec, part := range map[string]string{
		"":                                  "empty",
		"  ":                                "empty",
		"nope(3s)":                          `unknown policy "nope"`,
		"Default":                           `unknown policy "Default"`,
		"default(3s)":                       "default takes no arguments",
		"fixed":                             "fixed takes one delay",
		"fixed()":                           "fixed takes one delay",
		"fixed(1s, 2s)":                     "fixed takes one delay",
		"fixed(-1s)":                        "-1s is negative",
		"fixed(60)":                         `"60"`,
		"fixed(1 fortnight)":                `"1 fortnight"`,
		"fixed(NaN)":                        `"NaN"`,
		"fixed(60s":                         "closing parenthesis",
		"fixed(delay=60s)":                  `"delay"`,
		"linear(base=1s)":                   "step is missing",
		"linear(step=-2s)":                  "step -2s is negative",
		"linear(step=2s, pace=3s)":          `unknown parameter "pace"`,
		"linear(step=2s, step=3s)":          "step is written twice",
		"linear(2s)":                        `"2s" has no name`,
		"linear(base=1m, step=1s, cap=59s)": "cap 59s is below base 1m",
		"linear(=2s)":                       "parameter name is missing",
		"linear(step=)":                     "an argument is empty",
		"poly(coef=5s)":                     "power is missing",
		"poly(coef=5s, power=NaN)":          `power "NaN"`,
		"poly(coef=5s, power=-1)":           "power is negative",
		"exponential(factor=2)":             "base is missing",
		"exponential(base=30s, factor=Inf)": `factor "Inf"`,
		"exponential(base=30s, factor=-2)":  "factor is negative",
		"exponential(base=30s, factor=0)":   "factor is 0",
		"exponential(base=30s, cap=1s)":     "cap 1s is below base 30s",
		"exponential(base=1s, jitter=some)": `jitter "some"`,
		"exponential(base=1s, jitter=-5%)":  "jitter is negative",
		"exponential(base=1s, jitter=101%)": "jitter is above 100%",
		"table()":                           "table is empty",
		"table":                             "table is empty",
		"table(30s, , 1m)":                  "an argument is empty",
		"table(30s, -1m)":                   "-1m is negative",
		`expr("")`:                          "expression is empty",
		`expr(n)`:                           "double quotes",
		`expr("n)`:                          "quoted expression",
		`expr("n +")`:                       "does not compile",
		`expr("later + 1")`:                 "unknown name later",
		`expr("now()")`:                     "unknown name now",
		`expr("reduce(1..9000, #acc + #)")`: "the expression loops",
		`expr("len(1..9000000)")`:           "the expression loops",
		`expr("sum([n, 1], # * 2)")`:        "the expression loops",
		`expr("'a while'")`:                 "gives text",
		`expr("rand < 0.5")`:                "gives true or false",
		`expr("n - 1")`:                     "negative at n=0",
		`expr("0/0")`:                       "not a number at n=0",
		`expr("1/n")`:                       "infinite at n=0",
		`expr("duration('soon')")`:          `"soon"`,
		`expr("[1,2][n]")`:                  "fails at n=2",
		"exponential(base=1e9999s)":         "base",
		"table(" + strings.Repeat("9", 400): "closing parenthesis",
		"fixed(" + strings.Repeat("9", 400): "closing parenthesis",
		"x" + strings.Repeat("y", 1<<20):    "unknown policy",
		"table(1s" + strings.Repeat(",1", 1<<15) + ")": "more than",
	} {
		_, err := Parse(spec)
		if err == nil {
			t.Errorf("%.60q is accepted", spec)
			continue
		}
		message := err.Error()
		if !strings.Contains(message, part) {
			t.Errorf("%.60q: %s\nwant it to say %q", spec, message, part)
		}
		if strings.Contains(message, "\n") || strings.HasSuffix(message, ".") || len(message) > 400 {
			t.Errorf("%.60q: not one short line: %q", spec, message)
		}
	}
}

// genPolicy draws valid specs of every kind.
func genPolicy(t *rapid.T) string {
	length := func(label string, least float64) string {
		return Seconds(rapid.Float64Range(least, 1e7).Draw(t, label)).String()
	}
	limit := func(base Seconds) string {
		if rapid.Bool().Draw(t, "capped") {
			return ", cap=" + (base + Seconds(rapid.IntRange(0, 1e6).Draw(t, "room"))).String()
		}
		return ""
	}
	base := Seconds(rapid.IntRange(0, 1e5).Draw(t, "base"))
	switch rapid.SampledFrom([]Kind{KindDefault, KindFixed, KindLinear, KindPoly, KindExponential, KindTable, KindExpr}).Draw(t, "kind") {
	case KindFixed:
		return "fixed(" + length("delay", 0) + ")"
	case KindLinear:
		return "linear(base=" + base.String() + ", step=" + length("step", 0) + limit(base) + ")"
	case KindPoly:
		return "poly(coef=" + base.String() + ", power=" + float(rapid.Float64Range(0, 6).Draw(t, "power")) + limit(base) + ")"
	case KindExponential:
		jitter := rapid.SampledFrom([]string{"none", "full", "equal", "20%", "0.1%", "33.3%", "100%"}).Draw(t, "jitter")
		factor := float(rapid.Float64Range(0.1, 4).Draw(t, "factor"))
		return "exponential(base=" + base.String() + ", factor=" + factor + limit(base) + ", jitter=" + jitter + ")"
	case KindTable:
		var entries []string
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			entries = append(entries, length("entry", 0))
		}
		return "table(" + strings.Join(entries, ", ") + ")"
	case KindExpr:
		return rapid.SampledFrom([]string{
			`expr("30 * (n + 1)")`, `expr("duration(\"90s\") * (1 + rand)")`, `expr("min(2.0^n, 3600) * rand")`,
		}).Draw(t, "expr")
	}
	return "default"
}

func TestStringIsReadBackAsTheSamePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := genPolicy(t)
		p, err := Parse(spec)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		again, err := Parse(p.String())
		if err != nil {
			t.Fatalf("%s became %s: %v", spec, p, err)
		}
		sameBounds(t, p, again)
		if again.String() != p.String() {
			t.Fatalf("%s became %s, then %s", spec, p, again)
		}
	})
}

func sameBounds(t interface{ Fatalf(string, ...any) }, p, q Policy) {
	for _, n := range []int{0, 1, 2, 7, 24, 309, 310, 400, 10_000, 1 << 40} {
		a, b := p.Bounds(n)
		c, d := q.Bounds(n)
		if a != c || b != d {
			t.Fatalf("%s and %s differ at n=%d: %v…%v, %v…%v", p, q, n, a, b, c, d)
		}
		if a < 0 || a > b {
			t.Fatalf("%s at n=%d: %v to %v", p, n, a, b)
		}
	}
}

// FuzzParse: any text is refused with one short line or gives a policy that
// prints as itself and whose bounds are in order for every n.
func FuzzParse(f *testing.F) {
	seeds := []string{
		"default", "fixed(60s)", "linear(base=0s, step=2s, cap=1h)", "poly(coef=5s, power=2)",
		"exponential(base=30s, factor=2, cap=1h, jitter=20%)", "table(30s, 1m, 4m)", `expr("30*n + rand")`,
		"fixed(1e3s)", "fixed(-0s)", "fixed(.s)", "exponential(base=1s,jitter=1e-300)", "fixed(9999999999999999999999d)",
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := Parse(spec)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("%q: more than one line: %q", spec, err)
			}
			return
		}
		q, err := Parse(p.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", spec, p, err)
		}
		sameBounds(t, p, q)
	})
}
