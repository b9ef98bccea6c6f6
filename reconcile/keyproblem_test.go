package reconcile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Why there is no key is said of the payload, not of Go's types.
func TestKeyProblemsAreSaidInWords(t *testing.T) {
	for _, tt := range []struct{ expr, payload, want string }{
		{`payload.order_id`, `order 7`, "payload.order_id: the payload is not JSON and has no member order_id"},
		{`payload["a b"]`, `order 7`, `payload["a b"]: the payload is not JSON and has no member a b`},
		{`"x-" + payload?.a.b`, `{"a":`, `"x-" + payload?.a.b: the payload is not JSON and has no member a`},
		{`payload.card.number`, `{"card":"4111"}`, "payload.card.number: payload.card is a string and has no member number"},
		{`payload.card?.number`, `{"card":4111}`, "payload.card?.number: payload.card is a number and has no member number"},
		{`payload.card.number`, `{}`, "payload.card.number: payload.card is missing or null and has no member number"},
		{`payload.id`, `[1]`, "payload.id: the payload is an array and has no member id"},
		{`payload.id`, `"text"`, "payload.id: the payload is a string and has no member id"},
		{`payload.id`, `null`, "payload.id: the payload is missing or null and has no member id"},
		{`payload[0]`, `{"0":1}`, "payload[0]: the payload is an object and has no element 0"},
		{`payload.items[2].id`, `{"items":[1]}`, "payload.items[2].id: payload.items is an array and has no element 2"},
		{`payload["an id"][1].x`, `{"an id":[0,true]}`, `payload["an id"][1].x: payload["an id"][1] is a boolean and has no member x`},
		{`payload["x" + payload.k].z`, `{"k":"secret"}`, `payload["x" + payload.k].z: what it looks into has no member z`},
		{`map(payload.items, .id)[0]`, `{"items":[7]}`, "map(payload.items, .id)[0]: what it looks into has no member id"},
		{`int(payload.n)`, `{"n":"secret"}`, "int(payload.n): int(…) does not take what it is given"},
		{`date(payload)`, `secret`, "date(payload): date(…) does not take what it is given; the payload is not JSON"},
		{`payload.n * 2`, `{"n":"secret"}`, "payload.n * 2: the operator * does not take what it is given"},
		{`payload.a + payload.b`, `{"a":{}}`, "payload.a + payload.b: + cannot add what is an object and what is missing or null"},
		{`payload[0]`, `order 7`, "payload[0] is a byte of a text"},
	} {
		k, err := reconcile.CompileKey(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if key, problem := k.Of(inspect.Task{Payload: []byte(tt.payload)}); key != "" || problem != tt.want {
			t.Errorf("%s of %s: key %q, problem\n%s, want\n%s", tt.expr, tt.payload, key, problem, tt.want)
		}
	}
}

// Whatever an expression does with a payload: no message tells what is in it, and none
// speaks of Go.
func TestKeyProblemsTellNothingOfThePayload(t *testing.T) {
	foreign := regexp.MustCompile(`cannot fetch|invalid|interface|reflect|<nil>|uint8|map\[|\(\d+:\d+\)`)
	for _, expression := range []string{
		`payload.a`, `payload[0].a`, `payload.a[0].b`, `payload?.a?.b.c`, `get(payload, "a").b`, `int(payload.a)`, `float(payload)`, `date(payload.a)`,
		`duration(payload.a)`, `fromJSON(payload.a).b`, `fromBase64(payload.a)`, `payload.a - 1`, `-payload.a`, `not payload.a`, `payload.a[1:2].b`,
		`payload[payload.a]`, `payload[payload.a].b`, `payload.b[payload.a].c`, `[1][payload.a]`, `split(payload.a, "-")[3]`, `payload.a | map(#.b) | first()`,
		`payload.a matches payload.b`, `"x" matches payload.a`, `payload.a in payload.a`, `payload.a(1)`, `$env["payload"].a.b`, `{"k": 1}[payload.a].z`,
		`repeat(payload.a, -1)`, `filter(payload.a, # > 1)[0]`, `payload.a ? 1 : 2`, `sum(payload.a)`, `sortBy(payload.a, .b)[0]`, `payload.a..3`,
	} {
		k, err := reconcile.CompileKey(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		for _, payload := range []string{`secret text`, `"secret"`, `{"a":"secret","b":"[secret"}`, `{"a":["secret"],"b":["secret"]}`, `{"a":{"secret":"secret"},"b":{}}`, `{"a":"[secret"}`, `[{"a":"secret"}]`, `{"a":7777777}`, `null`} {
			_, problem := k.Of(inspect.Task{Payload: []byte(payload)})
			said := strings.ReplaceAll(problem, expression, "")
			if strings.Contains(said, "secret") || strings.Contains(said, "7777777") || foreign.MatchString(said) {
				t.Errorf("%s of %s: %s", expression, payload, problem)
			}
		}
	}
}
