package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/inspect/payload"
	"github.com/idemctl/idemctl/reconcile"
)

// order is what a well-behaved producer marshals: members in an order of its own.
type order struct {
	OrderID string `json:"order_id"`
	Cents   int64  `json:"cents"`
	Email   string `json:"email"`
	Day     string `json:"day"`
}

func plainOrder(i int) []byte {
	p, err := json.Marshal(order{fmt.Sprintf("ord_%d", i), int64(i * 100), fmt.Sprintf("user%d@example.com", i%7), "2026-07-01"})
	if err != nil {
		panic(err)
	}
	return p
}

// produce makes a scheduled unique task of each payload, named prefix0, prefix1 and
// so on.
func (w *world) produce(queue, kind, prefix string, payloads ...[]byte) {
	w.t.Helper()
	var specs []inspecttest.Spec
	for i, p := range payloads {
		specs = append(specs, inspecttest.Spec{
			Outcome: inspecttest.Scheduled, Queue: queue, Type: kind, ID: fmt.Sprint(prefix, i), Payload: p,
			Options: unique(24*time.Hour, asynq.MaxRetry(3), asynq.Timeout(time.Minute)),
		})
	}
	w.redis.Make(specs...)
}

// payloadsOf are the findings of the payload family.
func (fs found) payloadsOf() found {
	return slices.DeleteFunc(slices.Clone(fs), func(f reconcile.Finding) bool { return f.Code.Family() != "payload" })
}

func many(n int, text func(i int) string) [][]byte {
	var all [][]byte
	for i := range n {
		all = append(all, []byte(text(i)))
	}
	return all
}

// faulty has, for each form rule that is an error, a payload that breaks it and no
// other, and its innocent neighbour.
var faulty = []struct {
	rule           payload.Rule
	guilty         string
	innocent       string
	path           string
	at             int
	meaningIsShaky bool
}{
	{rule: payload.BOM, guilty: "\ufeff{\"id\":\"a\"}", innocent: "{\"id\":\"\ufeffa\"}", path: "$"},
	{rule: payload.InvalidUTF8, guilty: "{\"id\":\"\xe9\"}", innocent: `{"id":"é"}`, path: "$", at: 7, meaningIsShaky: true},
	{rule: payload.LoneSurrogate, guilty: `{"id":"\ud83d"}`, innocent: `{"id":"😀"}`, path: "$.id", at: 7, meaningIsShaky: true},
	{rule: payload.DuplicateKey, guilty: `{"id":"a","id":"b"}`, innocent: `{"id":"a","ID":"b"}`, path: "$", at: 10, meaningIsShaky: true},
	{rule: payload.Whitespace, guilty: `{"id": "a"}`, innocent: `{"id":"a b"}`, path: "$", at: 6},
	{rule: payload.TrailingNewline, guilty: "{\"id\":\"a\"}\n", innocent: `{"id":"a\n"}`, path: "$", at: 10},
	{rule: payload.NumberFormat, guilty: `{"id":1.0}`, innocent: `{"id":1}`, path: "$.id", at: 6},
	{rule: payload.NegativeZero, guilty: `{"id":-0}`, innocent: `{"id":-1}`, path: "$.id", at: 6},
	{rule: payload.NumberPrecisionLoss, guilty: `{"id":0.10000000000000001}`, innocent: `{"id":0.1}`, path: "$.id", at: 6, meaningIsShaky: true},
	{rule: payload.NumberOutOfRange, guilty: `{"id":1e400}`, innocent: `{"id":1e+30}`, path: "$.id", at: 6, meaningIsShaky: true},
}

func TestAuditSaysOfEveryFaultyFormWhereItIs(t *testing.T) {
	w := newWorld(t)
	for _, f := range faulty {
		name := f.rule.String()
		w.produce("guilty", "guilty:"+name, name, []byte(f.guilty))
		w.produce("innocent", "innocent:"+name, name, []byte(f.innocent))
	}
	fs := w.find(reconcile.Options{}).payloadsOf()
	if len(fs) != len(faulty) {
		t.Errorf("%d findings, want one for each of %d rules", len(fs), len(faulty))
	}
	for _, want := range faulty {
		code, name := reconcile.PayloadCode(want.rule), want.rule.String()
		got := fs.of(code)
		if len(got) != 1 {
			t.Errorf("%d findings of %s, want 1", len(got), code)
			continue
		}
		f := got[0]
		if f.Severity != reconcile.SeverityHigh || f.Task.Queue != "guilty" || f.Task.Type != "guilty:"+name || f.Task.ID != "" || f.TaskCount != 1 {
			t.Errorf("%s: severity %s, on %v of type %s, %d tasks", code, f.Severity, f.Task.Ref, f.Task.Type, f.TaskCount)
		}
		if want := []inspect.Ref{taskRef("guilty", name+"0")}; !slices.Equal(f.Tasks, want) {
			t.Errorf("%s names %v, want %v", code, f.Tasks, want)
		}
		if at := fmt.Sprintf("%s, byte %d of task %q", want.path, want.at, name+"0"); f.Detail != at {
			t.Errorf("%s: detail %q, want %q", code, f.Detail, at)
		}
		if m := f.Marked; len(m) != 1 || m[0].ID != name+"0" || string(m[0].Payload) != want.guilty || m[0].Start != want.at || m[0].End <= m[0].Start {
			t.Errorf("%s marks %+v, want byte %d of its task", code, m, want.at)
		}
		if action := "idemctl payload check --queue=guilty --id=" + name + "0"; f.Action() != action {
			t.Errorf("%s: action %q, want %q", code, f.Action(), action)
		}
		if shaky := strings.Contains(f.Consequence(), "readers disagree"); shaky != want.meaningIsShaky {
			t.Errorf("%s: consequence %q", code, f.Consequence())
		}
	}
}

// What one well-behaved producer writes is no finding, however many tasks there
// are: its member order is its own, and its order numbers differ in every payload.
func TestAuditSaysNothingOfAPlainStructsPayloads(t *testing.T) {
	w := newWorld(t)
	w.produce("default", "order:sync", "o", many(60, func(i int) string { return string(plainOrder(i)) })...)
	for _, f := range w.find(reconcile.Options{}).payloadsOf() {
		t.Errorf("%s: %s", f.Code, f.Message())
	}
}

// Without a lock there is nothing that other bytes could pass.
func TestAuditSaysNothingOfPayloadsThatNoLockIsMadeOf(t *testing.T) {
	w := newWorld(t)
	var specs []inspecttest.Spec
	for i := range 40 {
		specs = append(specs, inspecttest.Spec{
			Outcome: inspecttest.Scheduled, Payload: fmt.Appendf(nil, `{"user": %d, "sent_at":"2026-07-01T03:12:09.%03dZ"}`, i%9, i),
		})
	}
	w.redis.Make(specs...)
	for _, f := range w.find(reconcile.Options{}).payloadsOf() {
		t.Errorf("%s: %s", f.Code, f.Message())
	}
}

func TestAuditCollapsesFaultsOfOneTypeAndQueue(t *testing.T) {
	w := newWorld(t)
	spaced := func(i int) string { return fmt.Sprintf(`{"id": %d}`, i) }
	w.produce("a", "x:one", "a-one-", many(12, spaced)...)
	w.produce("a", "x:two", "a-two-", many(2, spaced)...)
	w.produce("b", "x:one", "b-one-", many(5, spaced)...)
	fs := w.find(reconcile.Options{}).of(reconcile.PayloadCode(payload.Whitespace))
	counts := map[string]int{}
	for _, f := range fs {
		counts[f.Task.Queue+" "+f.Task.Type] = f.TaskCount
		if len(f.Tasks) == 0 || len(f.Tasks) > 3 {
			t.Errorf("%s in %s names %d tasks, want a few", f.Task.Type, f.Task.Queue, len(f.Tasks))
		}
	}
	if want := map[string]int{"a x:one": 12, "a x:two": 2, "b x:one": 5}; fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("tasks %v, want %v", counts, want)
	}
}

// corpora has, for each corpus rule, payloads that show it, and a neighbour that is
// nearly the same and shows nothing.
var corpora = []struct {
	rule             payload.Rule
	guilty, innocent func(i int) string
	n                int
	path             string
}{
	{
		rule: payload.VolatileField, n: 30, path: "$.sent_at",
		guilty:   func(i int) string { return fmt.Sprintf(`{"user":%d,"sent_at":"2026-07-01T03:12:09.%03dZ"}`, i%10, i+1) },
		innocent: func(i int) string { return fmt.Sprintf(`{"user":%d,"run_at":"2026-07-01T03:12:09.%03dZ"}`, i, i+1) },
	},
	{
		rule: payload.SuspectField, n: 120, path: "$.ref",
		guilty: func(i int) string {
			work := i / 3
			return fmt.Sprintf(`{"from":%q,"to":%q,"ref":%q}`, letters(work%20), letters(work*7%19), letters(i*977+5))
		},
		innocent: func(i int) string { return fmt.Sprintf(`{"colour":%q,"ref":%q}`, letters(i%3), letters(i*977+5)) },
	},
	{
		rule: payload.CanonicalCollision, n: 2,
		guilty:   func(i int) string { return []string{`{"a":1,"b":2}`, `{"b":2,"a":1}`}[i] },
		innocent: func(i int) string { return []string{`{"a":1,"b":2}`, `{"a":1,"b":3}`}[i] },
	},
	{
		rule: payload.KeyOrderVaries, n: 2,
		guilty:   func(i int) string { return []string{`{"a":1,"b":2}`, `{"b":3,"a":1}`}[i] },
		innocent: func(i int) string { return []string{`{"b":1,"a":2}`, `{"b":3,"a":1}`}[i] },
	},
	{
		rule: payload.ArrayOrderVaries, n: 20, path: "$.seats",
		guilty: func(i int) string {
			return []string{fmt.Sprintf(`{"hall":%d,"seats":["a","b"]}`, i/2), fmt.Sprintf(`{"hall":%d,"seats":["b","a"]}`, i/2)}[i%2]
		},
		innocent: func(i int) string { return fmt.Sprintf(`{"hall":%d,"seats":["b","a"]}`, i) },
	},
	{
		rule: payload.NullAbsentMix, n: 2, path: "$.note",
		guilty:   func(i int) string { return []string{`{"id":1,"note":null}`, `{"id":2}`}[i] },
		innocent: func(i int) string { return []string{`{"id":1,"note":null}`, `{"id":2,"note":"x"}`}[i] },
	},
	{
		rule: payload.TypeMix, n: 2, path: "$.id",
		guilty:   func(i int) string { return []string{`{"id":1}`, `{"id":"2"}`}[i] },
		innocent: func(i int) string { return []string{`{"id":"1"}`, `{"id":"2"}`}[i] },
	},
	{
		rule: payload.FloatJitter, n: 20, path: "$.sum",
		guilty: func(i int) string {
			return fmt.Sprintf(`{"id":%d,"sum":%s}`, i/2, []string{"0.3", "0.30000000000000004"}[i%2])
		},
		innocent: func(i int) string { return fmt.Sprintf(`{"id":%d,"sum":%s}`, i/2, []string{"0.3", "0.31"}[i%2]) },
	},
	{
		rule: payload.UnicodeVariant, n: 2, path: "$.name",
		guilty:   func(i int) string { return []string{"{\"name\":\"Ren\u00e9\"}", "{\"name\":\"Rene\u0301\"}"}[i] },
		innocent: func(i int) string { return []string{"{\"name\":\"Ren\u00e9\"}", `{"name":"Rene"}`}[i] },
	},
	{
		rule: payload.EncodingMix, n: 2,
		guilty:   func(i int) string { return []string{`{"id":1}`, "\x81\xa2id\x01"}[i] },
		innocent: func(i int) string { return []string{"\x81\xa2id\x02", "\x81\xa2id\x01"}[i] },
	},
}

// letters spells a number without digits.
func letters(i int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'g' }, fmt.Sprintf("%06d", i*7919%1_000_000))
}

func TestAuditSaysWhatManyPayloadsShowTogether(t *testing.T) {
	w := newWorld(t)
	for _, c := range corpora {
		name := c.rule.String()
		w.produce("guilty", "guilty:"+name, name, many(c.n, c.guilty)...)
		w.produce("innocent", "innocent:"+name, name, many(c.n, c.innocent)...)
	}
	fs := w.find(reconcile.Options{}).payloadsOf()
	for _, f := range fs {
		if f.Task.Queue == "innocent" {
			t.Errorf("of the innocent: %s: %s", f.Code, f.Message())
		}
	}
	for _, c := range corpora {
		code, name := reconcile.PayloadCode(c.rule), c.rule.String()
		got := slices.DeleteFunc(fs.of(code), func(f reconcile.Finding) bool { return f.Task.Type != "guilty:"+name })
		if len(got) != 1 {
			t.Errorf("%d findings of %s, want 1", len(got), code)
			continue
		}
		f := got[0]
		if f.Severity != code.Severity() || f.Task.ID != "" || len(f.Tasks) != 2 || f.TaskCount == 0 {
			t.Errorf("%s: severity %s, %d tasks, names %v", code, f.Severity, f.TaskCount, f.Tasks)
		}
		if !strings.Contains(f.Detail, c.path) || strings.Contains(f.Detail, "sample") {
			t.Errorf("%s: detail %q, want one that names %q, and no sample", code, f.Detail, c.path)
		}
		if m := f.Marked; c.rule != payload.EncodingMix && (len(m) != 2 || m[0].ID == m[1].ID || bytes.Equal(cut(m[0]), cut(m[1]))) {
			t.Errorf("%s marks %+v, want the bytes in which two tasks differ", code, m)
		}
		if action := "idemctl payload corpus --queue=guilty --type=guilty:" + name; f.Action() != action {
			t.Errorf("%s: action %q, want %q", code, f.Action(), action)
		}
	}
}

// cut are the bytes that are marked; nil where there are none.
func cut(m reconcile.Marked) []byte {
	if m.Start < 0 {
		return nil
	}
	return m.Payload[m.Start:m.End]
}

// The price is what a clock in the payload costs right now: the locks that guard one
// work, and the twins that they let past. A twin that is gone costs nothing more.
func TestAuditSaysWhatAClockInThePayloadCosts(t *testing.T) {
	w := newWorld(t)
	clock := func(i int) string { return fmt.Sprintf(`{"user":%d,"sent_at":"2026-07-01T03:12:09.%03dZ"}`, i/3, i+1) }
	w.produce("default", "mail:send", "m", many(30, clock)...) // ten works of three tasks each
	for _, id := range []string{"m0", "m1", "m3"} {
		if err := w.redis.Inspector().DeleteTask("default", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.redis.Client().Del(t.Context(), inspect.UniqueKey("default", "mail:send", []byte(clock(4)))).Err(); err != nil {
		t.Fatal(err)
	}
	got := w.find(reconcile.Options{}).of(reconcile.PayloadCode(payload.VolatileField))
	if len(got) != 1 {
		t.Fatalf("%d findings, want 1", len(got))
	}
	// Of work 0 one task is left; of work 1 two are, one of them without its lock.
	for _, want := range []string{"17 live twins were let past a lock", "24 live locks guard 8 works now"} {
		if !strings.Contains(got[0].Detail, want) {
			t.Errorf("detail %q, want %q in it", got[0].Detail, want)
		}
	}
	if strings.Contains(got[0].Message(), "03:12") {
		t.Errorf("the message shows what payloads hold: %q", got[0].Message())
	}
}

// Of more tasks than are kept, whole works are: what their payloads show is still
// seen, and the finding says that it speaks of a sample.
func TestAuditSamplesWorksNotTasks(t *testing.T) {
	w := newWorld(t)
	const n = 9000
	w.redis.Fill("big", inspect.StateScheduled, n, func(i int, m *inspecttest.Message) {
		m.Type = "mail:send"
		m.Payload = fmt.Appendf(nil, `{"user":%d,"sent_at":"2026-07-01T03:%02d:09.%03dZ"}`, i/3, i/999%60, i%999+1)
		m.UniqueKey = inspect.UniqueKey("big", m.Type, m.Payload)
	})
	first := w.find(reconcile.Options{}).of(reconcile.PayloadCode(payload.VolatileField))
	again := w.find(reconcile.Options{Concurrency: 1, PageSize: 77}).of(reconcile.PayloadCode(payload.VolatileField))
	if len(first) != 1 || len(again) != 1 {
		t.Fatalf("%d and %d findings, want 1 each", len(first), len(again))
	}
	if want := "seen in a sample of 1000 of 9000 unique tasks"; !strings.Contains(first[0].Detail, want) {
		t.Errorf("detail %q, want %q in it", first[0].Detail, want)
	}
	if first[0].Detail != again[0].Detail {
		t.Errorf("two audits of the same tasks say\n%s\n%s", first[0].Detail, again[0].Detail)
	}
}

func TestNarrowedAuditsSayOfPayloadsWhatTheySaw(t *testing.T) {
	w := newWorld(t)
	w.produce("a", "x:one", "a-one-", []byte(`{"id": 1}`))
	w.produce("b", "x:one", "b-one-", []byte(`{"id": 1}`))
	w.produce("b", "x:two", "b-two-", []byte(`{"id": 1}`))
	where, err := reconcile.CompileFilter(`type == "x:two"`)
	if err != nil {
		t.Fatal(err)
	}
	ignoring := []reconcile.Rule{
		{Type: "x:one", Class: reconcile.ClassOverwrite, Ignore: []reconcile.Code{reconcile.PayloadCode(payload.Whitespace)}},
		{Class: reconcile.ClassOverwrite},
	}
	for name, tt := range map[string]struct {
		o    reconcile.Options
		want []string
	}{
		"whole":          {reconcile.Options{}, []string{"a x:one", "b x:one", "b x:two"}},
		"of a queue":     {reconcile.Options{Scope: reconcile.Scope{Queues: []string{"b"}}}, []string{"b x:one", "b x:two"}},
		"of a type":      {reconcile.Options{Scope: reconcile.Scope{Types: []string{"*:one"}}}, []string{"a x:one", "b x:one"}},
		"of a state":     {reconcile.Options{Scope: reconcile.Scope{States: []inspect.State{inspect.StateScheduled}}}, nil},
		"of an ID":       {reconcile.Options{Scope: reconcile.Scope{IDs: []string{"a-one-0"}}}, nil},
		"filtered":       {reconcile.Options{Where: where}, []string{"b x:two"}},
		"of one ignored": {reconcile.Options{Rules: ignoring}, []string{"b x:two"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range w.find(tt.o).payloadsOf() {
				got = append(got, f.Task.Queue+" "+f.Task.Type)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("findings on %v, want %v", got, tt.want)
			}
		})
	}
}

// A producer may send whatever it likes: ten thousand payloads of ten thousand
// shapes, with every fault there is, give a handful of findings.
func TestAuditOfHostilePayloadsSaysLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 10_000
	w.redis.Fill("wild", inspect.StateScheduled, n, func(i int, m *inspecttest.Message) {
		m.Type = "wild:x"
		name := strings.Repeat("deep", i%17)
		m.Payload = fmt.Appendf(nil, `{"%s%d": [1.0, {"b%d":null,"a":-0, "a":"\ud800"}], "z%d":%d}`, name, i, i*31%n, i%50, i)
		if i%3 == 0 {
			m.Payload = fmt.Appendf(nil, `{"y%d":%d,"x%d":"é","b":%d,"a":1}`, i, i, i*7%n, i%9)
		}
		if i%7 == 0 {
			slices.Reverse(m.Payload)
		}
		m.UniqueKey = inspect.UniqueKey("wild", m.Type, m.Payload)
	})
	w.redis.Fill("types", inspect.StateScheduled, 3000, func(i int, m *inspecttest.Message) {
		m.Type = fmt.Sprintf("t\x00%d\x1b[31m", i)
		m.Payload = []byte("\ufeff{\"a\": 1}")
		m.UniqueKey = inspect.UniqueKey("types", m.Type, m.Payload)
	})
	fs := w.find(reconcile.Options{}).payloadsOf()
	seen := map[string]int{}
	for _, f := range fs {
		seen[f.Task.Queue+" "+f.Task.Type+" "+string(f.Code)]++
		if len(f.Detail) > 20_000 {
			t.Errorf("%s: %d bytes of detail", f.Code, len(f.Detail))
		}
		if a := f.Action(); f.Task.Queue == "types" && a != "" && !strings.HasPrefix(a, "idemctl payload check --queue=types --id=") {
			t.Errorf("an action that no shell can pass on: %q", a)
		}
	}
	for what, count := range seen {
		if count != 1 {
			t.Errorf("%d findings of %q", count, what)
		}
	}
	if wild := len(fs) - 2*3000; wild < 5 || wild > 20 {
		t.Errorf("%d findings on the wild type, want one a rule", wild)
	}
}
