package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
)

func TestShapeHidesWhatVariesFromCaseToCase(t *testing.T) {
	tests := []struct{ name, one, other string }{
		{"number", "order 17 not found", "order 4711 not found"},
		{"negative number", "balance is -5", "balance is 1200"},
		{"number that an error code looks like", "order 1062 not found", "order 1063 not found"},
		{"number behind a colon", "Error: 17 rows failed", "Error: 18 rows failed"},
		{"decimal and whole number", "amount 12 is too small", "amount 12.50 is too small"},
		{"UUID", "task 7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e failed", "task 00000000-0000-4000-8000-000000000001 failed"},
		{"hex", "object 0xc000123abc is gone", "object 0xdeadbeef01 is gone"},
		{"hex of letters alone", "object deadbeefcafebabefeed is gone", "object 00112233445566778899 is gone"},
		{"identifier", "charge ch_3PqXyZ2eZvKYlo2C failed", "charge ch_1 failed"},
		{"double quotes", `constraint "payments_pkey" violated`, `constraint "orders_pkey" violated`},
		{"single quotes", "Duplicate entry 'evt_a' for key 'p'", "Duplicate entry 'evt_b' for key 'p'"},
		{"backquotes", "unknown column `amount`", "unknown column `total`"},
		{"quoted nothing", `user "" is blocked`, `user "ann" is blocked`},
		{"quoted text with a quote in it", fmt.Sprintf("user %q is blocked", `o"brien`), fmt.Sprintf("user %q is blocked", "ann")},
		{"time", "not before 2026-03-01T12:00:00Z", "not before 2025-12-31T23:59:59Z"},
		{"time with and without a fraction", "not before 2026-03-01T12:00:00Z", "not before 2026-03-01T12:00:00.25Z"},
		{"address", "dial tcp 10.0.0.1:5432: connection refused", "dial tcp 192.168.17.4:33456: connection refused"},
		{"duration", "no answer within 250ms", "no answer within 30s"},
		{"panic's place", "panic error cause by: panic [/app/pay.go:17]: boom", "panic error cause by: panic [/app/pay.go:1234]: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if one, other := Shape(tt.one), Shape(tt.other); one != other {
				t.Errorf("%q and %q differ: %q and %q", tt.one, tt.other, one, other)
			}
		})
	}
}

func TestShapeKeepsKindsOfFailureApart(t *testing.T) {
	kinds := []string{
		"",
		"boom",
		"asynq: task lease expired",
		"context deadline exceeded",
		"context canceled",
		`handler not found for task "a"`,
		"panic error cause by: panic [/app/pay.go:17]: boom",
		`ERROR: duplicate key value violates unique constraint "p" (SQLSTATE 23505)`,
		"ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)",
		"ERROR: deadlock detected (SQLSTATE 40P01)",
		"dial tcp 10.0.0.1:5432: connect: connection refused",
		"can't reach the bank",
		"can't reach the shop",
		"order 17 not found",
		"order 17 not payable",
	}
	seen := map[string]string{}
	for _, text := range kinds {
		shape := Shape(text)
		if before, ok := seen[shape]; ok {
			t.Errorf("%q and %q have one shape %q", before, text, shape)
		}
		seen[shape] = text
	}
}

func TestShapeIsReadable(t *testing.T) {
	tests := map[string]string{
		"boom": "boom",
		`ERROR: duplicate key value violates unique constraint "p" (SQLSTATE 23505)`: `ERROR: duplicate key value violates unique constraint "…" (SQLSTATE 23505)`,
		"order 17 isn't payable": "order # isn't payable",
	}
	for text, want := range tests {
		if got := Shape(text); got != want {
			t.Errorf("Shape(%q) = %q, want %q", text, got, want)
		}
	}
}

// A quoted value of any length and content is a value.
func TestShapeOfAQuotedValueDoesNotDependOnIt(t *testing.T) {
	plain := Shape(`cannot read "x" of the payload`)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOf(rapid.RuneFrom([]rune("ab \"'\\1é\n{}"))).Draw(t, "value")
		text := fmt.Sprintf("cannot read %q of the payload", value)
		if got := Shape(text); got != plain {
			t.Fatalf("Shape(%s) = %s, want %s", text, got, plain)
		}
	})
}

func TestShapeOfALongQuotedValueDoesNotShowIt(t *testing.T) {
	one := Shape(`cannot read "` + strings.Repeat("alpha ", 400) + `" of the payload`)
	other := Shape(`cannot read "` + strings.Repeat("beta ", 400) + `" of the payload`)
	if one != other {
		t.Errorf("two long values give two shapes:\n%s\n%s", one, other)
	}
}

func TestShapeBoundsAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "text"))
		if rapid.Bool().Draw(t, "long") {
			text = strings.Repeat(text, 50)
		}
		shape := Shape(text)
		if len(shape) > maxShape || !utf8.ValidString(shape) {
			t.Fatalf("shape of %d bytes, valid UTF-8 %t", len(shape), utf8.ValidString(shape))
		}
		if shape != Shape(text) {
			t.Fatal("two shapes of one text")
		}
		if strings.ContainsFunc(shape, func(r rune) bool { return r >= '1' && r <= '9' }) && !strings.ContainsAny(text, "123456789") {
			t.Fatalf("shape %q holds digits of its own", shape)
		}
	})
}

// failure is an effect finding of an archived task.
func failure(id, text string, at time.Time) Finding {
	task := with(inState(inspect.StateArchived), func(t *inspect.Task) { t.ID, t.LastErr, t.LastFailedAt = id, text, at })
	return Finding{Code: CodeLost, Severity: SeverityHigh, Task: task, Cause: CauseOf(task)}
}

func TestAThousandFailuresBecomeAFewLines(t *testing.T) {
	var table signatureTable
	for i := range 1000 {
		text := fmt.Sprintf("order %d not found in region %q", i, fmt.Sprint("eu-", i%7))
		table.add(failure(fmt.Sprint("t-", i), text, noon.Add(time.Duration(500-i)*time.Second)))
	}
	for i := range 10 {
		f := failure(fmt.Sprint("l-", i), textLease, time.Time{})
		f.Code, f.Severity = CodeAppliedArchived, SeverityHigh
		table.add(f)
	}
	groups, cut := table.sorted()
	if len(groups) != 2 || cut != 0 {
		t.Fatalf("%d groups, %d cut, want 2 and 0: %+v", len(groups), cut, groups)
	}
	g := groups[0]
	if g.Count != 1000 || g.Type != "payment:charge" || g.Cause != CauseHandler || g.Codes[CodeLost] != 1000 || g.Severity != SeverityHigh {
		t.Errorf("group = %+v", g)
	}
	if !g.FirstAt.Equal(noon.Add(-499*time.Second)) || !g.LastAt.Equal(noon.Add(500*time.Second)) {
		t.Errorf("from %s to %s, want from %s to %s", g.FirstAt, g.LastAt, noon.Add(-499*time.Second), noon.Add(500*time.Second))
	}
	if g.Example != (inspect.Ref{Queue: "default", ID: "t-0"}) {
		t.Errorf("example = %v, want a task of the group", g.Example)
	}
	if l := groups[1]; l.Count != 10 || l.Cause != CauseLease || !l.FirstAt.IsZero() || l.Codes[CodeAppliedArchived] != 10 {
		t.Errorf("second group = %+v", l)
	}
}

func TestSignaturesKeepTypesAndCausesApart(t *testing.T) {
	var table signatureTable
	one := failure("a", "boom", noon)
	table.add(one)
	other := failure("b", "boom", noon)
	other.Task.Type = "mail:send"
	table.add(other)
	byOperator := failure("c", "boom", noon)
	byOperator.Cause = CauseByOperator
	table.add(byOperator)
	if groups, _ := table.sorted(); len(groups) != 3 {
		t.Errorf("%d groups, want one for each type and cause: %+v", len(groups), groups)
	}
}

func TestSignaturesRememberTheHighestSeverity(t *testing.T) {
	var table signatureTable
	for _, s := range []Severity{SeverityInfo, SeverityCritical, SeverityWarning} {
		f := failure("a", "boom", noon)
		f.Severity = s
		table.add(f)
	}
	if groups, _ := table.sorted(); groups[0].Severity != SeverityCritical {
		t.Errorf("severity = %s, want critical", groups[0].Severity)
	}
}

func TestOnlyFailuresHaveASignature(t *testing.T) {
	var table signatureTable
	silent := failure("a", "", noon)
	table.add(silent)
	of := failure("b", "boom", noon)
	of.Code = CodeKeyCollision
	table.add(of)
	table.add(Finding{Code: CodeUnclassified, Task: inspect.Task{Type: "x"}})
	if groups, cut := table.sorted(); len(groups) != 0 || cut != 0 {
		t.Errorf("groups = %+v, %d cut, want none", groups, cut)
	}
}

// Error texts come from anywhere: they may all differ.
func TestSignaturesAreBoundedAndSayWhatTheyLeftOut(t *testing.T) {
	var table signatureTable
	word := func(n int) string { // without digits, so that each is a kind of its own
		return "reason " + strings.Map(func(r rune) rune { return r - '0' + 'k' }, fmt.Sprintf("%06d", n))
	}
	for i := range maxSignatures + 50 {
		table.add(failure("a", word(i), noon))
	}
	table.add(failure("a", word(0), noon))
	groups, cut := table.sorted()
	if len(groups) != maxSignatures || cut != 50 {
		t.Errorf("%d groups and %d cut, want %d and 50", len(groups), cut, maxSignatures)
	}
	if groups[0].Count != 2 {
		t.Errorf("a known group is not counted on once the table is full: %+v", groups[0])
	}
}
