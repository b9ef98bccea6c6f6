package reconcile_test

import (
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

func TestKeyKeepsEveryDigitAndSaysWhyThereIsNone(t *testing.T) {
	task := inspect.Task{
		Ref: inspect.Ref{Queue: "billing", ID: "t-1"}, Type: "payment:charge",
		Headers: map[string]string{"tenant": "acme"}, Group: "g1",
	}
	tests := []struct {
		expr, payload string
		key, problem  string // problem: a part of it
	}{
		{expr: "", key: "t-1"},
		{expr: " id ", key: "t-1"},
		{expr: "payload.event_id", payload: `{"event_id":"evt_42"}`, key: "evt_42"},
		{expr: "payload.n", payload: `{"n":9007199254740993}`, key: "9007199254740993"},
		{expr: "payload.n", payload: `{"n":123456789012345678901234567890}`, key: "123456789012345678901234567890"},
		{expr: "payload.n", payload: `{"n":1.50}`, key: "1.50"},
		{expr: "payload.n", payload: `{"n":-0}`, key: "-0"},
		{expr: "payload.n", payload: `{"n":1e3}`, key: "1e3"},
		{expr: `"order-" + payload.n`, payload: `{"n":9007199254740993}`, key: "order-9007199254740993"},
		{expr: `payload.n + "/" + payload.m`, payload: `{"n":18446744073709551616,"m":2.50}`, key: "18446744073709551616/2.50"},
		{expr: `payload.n + 1`, payload: `{"n":9223372036854775807}`, key: "9223372036854775808"},
		{expr: `queue + ":" + type + ":" + group`, key: "billing:payment:charge:g1"},
		{expr: `headers.tenant + "-" + id`, key: "acme-t-1"},
		{expr: `headers["none"] ?? ""`, problem: "empty"},
		{expr: "payload", payload: "evt_42", key: "evt_42"},
		{expr: "payload", payload: "007", key: "007"},
		{expr: "payload[0].id", payload: `[{"id":7}]`, key: "7"},
		{expr: "payload.event_id", payload: `{}`, problem: "missing or null"},
		{expr: "payload.event_id", payload: `{"event_id":null}`, problem: "missing or null"},
		{expr: "payload.event_id", payload: `{"event_id":""}`, problem: "empty"},
		{expr: "payload.event_id", payload: `{"event_id":true}`, problem: "boolean"},
		{expr: "payload.event_id", payload: `{"event_id":[1]}`, problem: "array"},
		{expr: "payload.event_id", payload: `{"event_id":{"a":1}}`, problem: "object"},
		{expr: "payload.event_id", payload: "{\"event_id\":\"a\\u0000b\"}", problem: "NUL"},
		{expr: "payload.event_id", payload: "{\"event_id\":\"\xff\"}", problem: "not UTF-8"},
		{expr: "payload.event_id", payload: ``, problem: "empty"},
		{expr: "payload.event_id", payload: `not json`, problem: "payload.event_id"},
		{expr: "payload.a.b", payload: `{}`, problem: "payload.a.b"},
		{expr: "payload.n / 2", payload: `{"n":3}`, problem: "floating-point"},
		{expr: `"x" + payload.none`, payload: `{}`, problem: "missing or null"},
	}
	for _, tt := range tests {
		t.Run(tt.expr+" "+tt.payload, func(t *testing.T) {
			k, err := reconcile.CompileKey(tt.expr)
			if err != nil {
				t.Fatal(err)
			}
			task := task
			task.Payload = []byte(tt.payload)
			key, problem := k.Of(task)
			if key != tt.key {
				t.Errorf("key = %q, want %q (problem %q)", key, tt.key, problem)
			}
			if (tt.problem == "") != (problem == "") || !strings.Contains(problem, tt.problem) {
				t.Errorf("problem = %q, want one that says %q", problem, tt.problem)
			}
		})
	}
}

func TestCompileKeyNamesTheFaultInOneLine(t *testing.T) {
	for _, text := range []string{"payload.", "nosuch", "id +", `"open`} {
		_, err := reconcile.CompileKey(text)
		if err == nil {
			t.Errorf("CompileKey(%q) gave no error", text)
			continue
		}
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "key expression") {
			t.Errorf("CompileKey(%q) = %q, want one line that names the key expression", text, err)
		}
	}
}
