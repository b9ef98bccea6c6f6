package sqltext

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseNameFollowsQuotes(t *testing.T) {
	for in, want := range map[string][]Part{
		`payments`:            {{Text: "payments"}},
		`app.payments`:        {{Text: "app"}, {Text: "payments"}},
		`"app.payments"`:      {{Text: "app.payments", Literal: true}},
		`App."Pay""ments"`:    {{Text: "App"}, {Text: `Pay"ments`, Literal: true}},
		` app . "payments" `:  {{Text: "app"}, {Text: "payments", Literal: true}},
		`größe`:               {{Text: "größe"}},
		`"a; DROP TABLE x--"`: {{Text: "a; DROP TABLE x--", Literal: true}},
	} {
		got, err := ParseName(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseName(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
}

func TestParseNameRefusesBrokenNames(t *testing.T) {
	for _, in := range []string{``, `.`, `a.`, `.a`, `""`, `"a`, `"a"b`, `a"b"`, `drop table x; --`, `count(*)`, `a--`, `a/*b`, "a\x00", "\xff"} {
		if got, err := ParseName(in); err == nil {
			t.Errorf("ParseName(%q) = %+v, want an error", in, got)
		}
	}
}

func TestSpellingsPreferTheExactOne(t *testing.T) {
	if got := (Part{Text: "Pay"}).Spellings(); !reflect.DeepEqual(got, []string{"Pay", "pay"}) {
		t.Errorf("bare name: %q", got)
	}
	if got := (Part{Text: "Pay", Literal: true}).Spellings(); !reflect.DeepEqual(got, []string{"Pay"}) {
		t.Errorf("quoted name: %q", got)
	}
}

func TestCheckPredicateKeepsOneExpression(t *testing.T) {
	for _, s := range []string{
		`status = 'done'`, `status IN ('a', 'b') AND (x > 1 OR y IS NULL)`, `note = 'it''s; -- fine)'`,
		`"odd)name" = 1`, `data->>'state' = 'x'`, `a - -1 > 0`,
	} {
		for _, d := range []Dialect{PostgreSQL, SQLite} {
			if err := CheckPredicate(s, d); err != nil {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
	for _, s := range []string{`note = E'it\'s)'`, `note = $x$a;)--$x$`, `a ? 'k'`, `b::int = 1`, `x$1 = 2`, `note = $$)$$`} {
		if err := CheckPredicate(s, PostgreSQL); err != nil {
			t.Errorf("postgres %q: %v", s, err)
		}
	}
	for _, s := range []string{"`odd)` = 1", `[odd)] = 1`} {
		if err := CheckPredicate(s, SQLite); err != nil {
			t.Errorf("sqlite %q: %v", s, err)
		}
	}
}

func TestCheckPredicateRefusesEscapes(t *testing.T) {
	both := []string{
		`true) OR (true`, `true; DROP TABLE x`, `true -- rest`, `true /* rest`, `(true`, `a = 'x`, `a = "x`,
		`status = 'x') UNION ALL SELECT (1`, "a = '\x00'", "a = '\xff'", `)(`,
	}
	for _, s := range both {
		for _, d := range []Dialect{PostgreSQL, SQLite} {
			if err := CheckPredicate(s, d); err == nil {
				t.Errorf("dialect %d takes %q", d, s)
			}
		}
	}
	for _, s := range []string{`a = $1`, `a = E'\'`, `a = $x$b`, `a = 'x\') OR (true`} {
		if err := CheckPredicate(s, PostgreSQL); err == nil {
			t.Errorf("postgres takes %q", s)
		}
	}
	for _, s := range []string{`a = ?`, `a = :k`, `a = @k`, `a = $k`, `[a = 1`, "`a = 1"} {
		if err := CheckPredicate(s, SQLite); err == nil {
			t.Errorf("sqlite takes %q", s)
		}
	}
}

// FuzzCheckPredicate holds the promise against a second, simpler reading: what is
// accepted has, outside of quoted pieces, no semicolon and no comment.
func FuzzCheckPredicate(f *testing.F) {
	for _, s := range []string{`a = 'x'`, `a = E'\\'`, `$a$;$a$`, `"a"";"`, `(a)`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckPredicate(s, PostgreSQL) != nil || strings.ContainsAny(s, `'"$`) {
			return
		}
		if strings.Contains(s, ";") || strings.Contains(s, "--") || strings.Contains(s, "/*") ||
			strings.Count(s, "(") != strings.Count(s, ")") {
			t.Errorf("accepted %q", s)
		}
	})
}

func TestNearFindsTypos(t *testing.T) {
	got := Near("processed_task", []string{"public.orders", "app.processed_tasks", "public.users"})
	if !reflect.DeepEqual(got, []string{"app.processed_tasks"}) {
		t.Errorf("got %q", got)
	}
	if got := Near("xyz", []string{"public.orders"}); got != nil {
		t.Errorf("far names suggested: %q", got)
	}
}

func TestDisplayQuotesOnlyWhereNeeded(t *testing.T) {
	if got := Display("public", "Pay", `a"b`, "x1"); got != `public."Pay"."a""b".x1` {
		t.Errorf("got %s", got)
	}
}

func TestConjunctsSplitsOnlyOutermostAnds(t *testing.T) {
	for in, want := range map[string][]string{
		``:                              nil,
		`(a = 1)`:                       {`a = 1`},
		`((a = 1) AND (b = 2))`:         {`a = 1`, `b = 2`},
		`(a = 1) AND ((b = 2) OR c)`:    {`a = 1`, `(b = 2) OR c`},
		`a = 'x AND y' and b`:           {`a = 'x AND y'`, `b`},
		`a BETWEEN 1 AND 2 AND b = 3`:   {`a BETWEEN 1 AND 2`, `b = 3`},
		`(a) OR (b)`:                    {`(a) OR (b)`},
		`"x AND" = 1 AND brand = 'AND'`: {`"x AND" = 1`, `brand = 'AND'`},
		`((a AND b) AND (c AND d))`:     {`a`, `b`, `c`, `d`},
	} {
		if got := Conjuncts(in); !reflect.DeepEqual(got, want) {
			t.Errorf("Conjuncts(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAfterWhereSkipsInnerOnes(t *testing.T) {
	for in, want := range map[string]string{
		`CREATE UNIQUE INDEX i ON t (a) WHERE status = 'done'`:        `status = 'done'`,
		`CREATE INDEX "where" ON t (a)`:                               ``,
		`CREATE INDEX i ON t ((a IN (SELECT 1 WHERE 1))) where b > 1`: `b > 1`,
	} {
		if got := AfterWhere(in); got != want {
			t.Errorf("AfterWhere(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWordsForgivesOnlySpelling(t *testing.T) {
	for _, pair := range [][2]string{
		{`status = 'Done'`, `"status"='Done'`}, {`A  IS NOT  null`, `a is not null`}, {`x>1`, `x > 1`},
	} {
		if Words(pair[0]) != Words(pair[1]) {
			t.Errorf("%q and %q differ: %q, %q", pair[0], pair[1], Words(pair[0]), Words(pair[1]))
		}
	}
	for _, pair := range [][2]string{
		{`status = 'Done'`, `status = 'done'`}, {`a b`, `ab`}, {`"a b"`, `a b`}, {`x = 'a b'`, `x = 'ab'`},
	} {
		if Words(pair[0]) == Words(pair[1]) {
			t.Errorf("%q and %q are taken for one", pair[0], pair[1])
		}
	}
}
