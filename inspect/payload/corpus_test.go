package payload

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// analysed adds payloads of one type and returns what is said of them.
func analysed(t testing.TB, payloads ...string) GroupReport {
	t.Helper()
	var c Corpus
	for i, p := range payloads {
		c.Add(Entry{ID: fmt.Sprint(i), Queue: "q", Type: "t", Payload: []byte(p)})
	}
	reports := c.Result()
	if len(reports) != 1 {
		t.Fatalf("%d groups", len(reports))
	}
	return reports[0]
}

// padded appends payloads that are different works until statistics are drawn.
func padded(payloads ...string) []string {
	for i := len(payloads); i < MinCorpus+5; i++ {
		payloads = append(payloads, fmt.Sprintf(`{"pad":%d}`, i))
	}
	return payloads
}

func TestCorpusFacts(t *testing.T) {
	tests := []struct {
		name     string
		payloads []string
		want     map[Rule][]string
	}{
		{"nothing", []string{`{"a":1}`, `{"a":2}`, `{"a":1}`}, nil},
		{"two spellings of one work", []string{`{"a":1}`, `{"a": 1}`}, map[Rule][]string{CanonicalCollision: {"$"}}},
		{"two orders", []string{`{"a":1,"b":2}`, `{"b":3,"a":4}`}, map[Rule][]string{KeyOrderVaries: {"$"}}},
		{"two orders below", []string{`{"x":[{"a":1,"b":2}]}`, `{"x":[{"b":3,"a":4}]}`}, map[Rule][]string{KeyOrderVaries: {"$.x[*]"}}},
		{"two orders in one payload", []string{`[{"a":1,"b":2},{"b":3,"a":4}]`}, map[Rule][]string{KeyOrderVaries: {"$[*]"}}},
		{"one order with gaps", []string{`{"c":1,"a":2}`, `{"a":1,"b":2}`, `{"c":1,"b":2}`}, nil},
		{"null and missing", []string{`{"a":null,"b":1}`, `{"b":2}`}, map[Rule][]string{NullAbsentMix: {"$.a"}}},
		{"null and missing in elements", []string{`[{"a":null,"b":1},{"b":2}]`}, map[Rule][]string{NullAbsentMix: {"$[*].a"}}},
		{"null and a value", []string{`{"a":null}`, `{"a":2}`}, nil},
		{"missing and a value", []string{`{"b":1}`, `{"a":2}`}, nil},
		{"null in an object that is missing", []string{`{"a":{"b":null},"c":1}`, `{"c":2}`}, nil},
		{"null in an element of an empty array", []string{`{"a":[{"b":null}]}`, `{"a":[]}`}, nil},
		{"two types", []string{`{"a":1}`, `{"a":"1"}`}, map[Rule][]string{TypeMix: {"$.a"}}},
		{"a value and a container", []string{`{"a":[]}`, `{"a":{}}`}, map[Rule][]string{TypeMix: {"$.a"}}},
		{"two types in one array", []string{`{"a":[1,"x",null]}`}, map[Rule][]string{TypeMix: {"$.a[*]"}}},
		{"null is no type", []string{`{"a":1}`, `{"a":null}`}, nil},
		{"two types at the top", []string{`[]`, `{}`}, map[Rule][]string{TypeMix: {"$"}}},
		{"two encodings", []string{`{"a":1}`, "\x81\xa1a\x02"}, map[Rule][]string{EncodingMix: {"$"}}},
		{"json without form is json", []string{`{"a":1}`, `{"a":1,"a":2}`}, nil},
		{"no payload is no encoding", []string{``, `{"a":1}`}, nil},
		{"composed and decomposed", []string{"{\"n\":\"Zo\u00eb\"}", "{\"n\":\"Zoe\u0308\"}"}, map[Rule][]string{UnicodeVariant: {"$.n"}}},
		{"composed and decomposed in an array", []string{"{\"n\":[1,\"Zo\u00eb\"]}", "{\"n\":[1,\"Zoe\u0308\"]}"}, map[Rule][]string{UnicodeVariant: {"$.n[*]"}, TypeMix: {"$.n[*]"}}},
		{"two decomposed works", []string{"{\"n\":\"Zoe\u0308\"}", "{\"n\":\"Chloe\u0308\"}"}, nil},
		{"composed and decomposed of different works", []string{"{\"i\":1,\"n\":\"Zo\u00eb\"}", "{\"i\":2,\"n\":\"Zoe\u0308\"}"}, nil},
		{"one decomposed text twice", []string{"{\"n\":\"Zoe\u0308\"}", "{\"n\":\"Zoe\u0308\"}"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := analysed(t, test.payloads...).Paths()
			if len(got) == 0 && len(test.want) == 0 {
				return
			}
			if !maps.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("rules %v, want %v", got, test.want)
			}
		})
	}
}

func TestCorpusVariants(t *testing.T) {
	tests := []struct {
		name     string
		payloads []string
		want     map[Rule][]string
	}{
		{"a set in two orders", []string{`{"id":1,"ids":[1,2,3]}`, `{"id":1,"ids":[3,1,2]}`}, map[Rule][]string{ArrayOrderVaries: {"$.ids"}}},
		{"a set of objects", []string{`{"l":[{"a":1},{"a":2,"b":[1]}]}`, `{"l":[{"a":2,"b":[1]},{"a":1}]}`}, map[Rule][]string{ArrayOrderVaries: {"$.l"}}},
		{"a set below", []string{`{"l":[{"t":["x","y"]},{"t":[]}]}`, `{"l":[{"t":["y","x"]},{"t":[]}]}`}, map[Rule][]string{ArrayOrderVaries: {"$.l[*].t"}}},
		{"there and back under two ids", []string{`{"id":1,"stops":["A","B"]}`, `{"id":2,"stops":["B","A"]}`}, nil},
		{"two arrays that differ together", []string{`{"a":[1,2],"b":[1,2]}`, `{"a":[2,1],"b":[2,1]}`}, nil},
		{"other members move between elements", []string{`[{"a":1,"b":1},{"a":2,"b":2}]`, `[{"a":1,"b":2},{"a":2,"b":1}]`}, nil},
		{"equal elements in other numbers", []string{`{"a":[1,1,2]}`, `{"a":[1,2,2]}`}, nil},
		{"a sum in two orders", []string{`{"id":1,"total":5.1}`, `{"id":1,"total":5.099999999999999}`}, map[Rule][]string{FloatJitter: {"$.total"}}},
		{"sums of one list", []string{`{"t":[5.1,1]}`, `{"t":[5.099999999999999,1]}`}, map[Rule][]string{FloatJitter: {"$.t[*]"}}},
		{"two prices", []string{`{"id":1,"total":5.1}`, `{"id":1,"total":5.11}`}, nil},
		{"neighbouring identifiers", []string{`{"id":9000000000000001,"total":0.5}`, `{"id":9000000000000002,"total":0.5}`}, nil},
		{"clock readings", []string{`{"id":1,"ts":1714567890.25}`, `{"id":1,"ts":1714567890.5}`}, nil},
		{"sums of two works", []string{`{"id":1,"total":5.1}`, `{"id":2,"total":5.099999999999999}`}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := analysed(t, padded(test.payloads...)...).Paths()
			delete(got, TypeMix)
			if len(got) == 0 && len(test.want) == 0 {
				return
			}
			if !maps.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("rules %v, want %v", got, test.want)
			}
		})
	}
}

func TestSmallCorpusDrawsNoStatistics(t *testing.T) {
	var payloads []string
	for i := range MinCorpus - 1 {
		payloads = append(payloads, fmt.Sprintf(`{"id":%d,"trace_id":"%032x"}`, i%3, i))
	}
	if r := analysed(t, payloads...); r.Enough || len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
	payloads = append(payloads, `{"id":1,"trace_id":"x"}`)
	if r := analysed(t, payloads...); !r.Enough || !slices.Equal(r.Volatile, []string{"$.trace_id"}) {
		t.Errorf("volatile %v", r.Volatile)
	}
}

func TestCorpusKeepsGroupsApart(t *testing.T) {
	var c Corpus
	for i := range 60 {
		p := fmt.Sprintf(`{"id":%d,"nonce":"%d"}`, i%5, i)
		c.Add(Entry{ID: fmt.Sprint(i), Queue: []string{"b", "a"}[i%2], Type: "t", Payload: []byte(p)})
	}
	c.Add(Entry{ID: "x", Queue: "a", Type: "s", Payload: []byte(`{"id": 1}`)})
	reports := c.Result()
	var names []string
	for _, r := range reports {
		names = append(names, fmt.Sprintf("%s/%s:%d", r.Queue, r.Type, r.Payloads))
	}
	if want := []string{"a/s:1", "a/t:30", "b/t:30"}; !slices.Equal(names, want) {
		t.Errorf("groups %v", names)
	}
	for _, r := range reports[1:] {
		if !slices.Equal(r.Volatile, []string{"$.nonce"}) || len(r.Clusters) != 5 {
			t.Errorf("%s: volatile %v, %d clusters", r.Queue, r.Volatile, len(r.Clusters))
		}
	}
}

func TestSpellingsAloneMakeNoFieldVolatile(t *testing.T) {
	// Each measurement is its own work. A tenth of them was sent twice, spelled
	// differently; deleting the time merges those, but they were equal before.
	var payloads []string
	for i := range 200 {
		p := fmt.Sprintf(`{"event_time":%d,"reading":"%d"}`, 1714550438610+i*977, i*31%997)
		payloads = append(payloads, p)
		if i%10 == 0 {
			payloads = append(payloads, strings.ReplaceAll(p, ":", ": "))
		}
	}
	r := analysed(t, payloads...)
	if len(r.Volatile)+len(r.Suspect) > 0 {
		t.Errorf("volatile %v, suspect %v", r.Volatile, r.Suspect)
	}
	if len(r.Collisions) != 20 {
		t.Errorf("%d collisions", len(r.Collisions))
	}
}

func TestFindingsShowTwoPayloads(t *testing.T) {
	var payloads []string
	for i := range 40 {
		payloads = append(payloads, fmt.Sprintf(`{"id":%d,"sent_at":"2024-05-01T12:00:00.%03dZ"}`, i%8, i+1))
	}
	payloads = append(payloads, `{"sent_at":"2024-05-01T12:00:00.001Z","id":0}`, "\x80")
	r := analysed(t, payloads...)
	want := []Rule{CanonicalCollision, EncodingMix, KeyOrderVaries, VolatileField}
	var got []Rule
	for _, f := range r.Findings {
		got = append(got, f.Rule)
		a, b := f.Examples[0], f.Examples[1]
		if a.ID == "" || b.ID == "" || f.Count == 0 || f.Message == "" {
			t.Errorf("%+v", f)
			continue
		}
		for _, e := range f.Examples {
			if i := slices.Index(payloads, string(e.Payload)); fmt.Sprint(i) != e.ID {
				t.Errorf("%v: example %s is %q", f.Rule, e.ID, e.Payload)
			}
		}
		d := Diff(a.Payload, b.Payload)
		switch f.Rule {
		case CanonicalCollision:
			if d.Work != SameWork || d.SharesLock {
				t.Errorf("collision: %+v", d)
			}
		case VolatileField:
			if len(d.Values) != 1 || d.Values[0].Path != "$.sent_at" {
				t.Errorf("volatile: %+v", d)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rules %v, want %v", got, want)
	}
}

func TestResultMayBeAskedTwice(t *testing.T) {
	var c Corpus
	for i := range 30 {
		c.Add(Entry{ID: fmt.Sprint(i), Payload: fmt.Appendf(nil, `{"id":%d,"n":[%d,%d],"nonce":"%d"}`, i%3, i%2, 1-i%2, i)})
	}
	first := c.Result()
	if second := c.Result(); !reflect.DeepEqual(first, second) {
		t.Errorf("%+v\n%+v", first, second)
	}
	c.Add(Entry{ID: "30", Payload: []byte(`{"id":0,"n":[1,0],"nonce":"30","new":1}`)})
	if third := c.Result()[0]; third.Payloads != 31 || len(third.Stats) != 4 {
		t.Errorf("%+v", third)
	}
	if !slices.Equal(first[0].Paths()[ArrayOrderVaries], []string{"$.n"}) {
		t.Errorf("rules %v", first[0].Paths())
	}
}

func TestCorpusBoundsItsPaths(t *testing.T) {
	var c Corpus
	for i := range 3000 {
		c.Add(Entry{ID: fmt.Sprint(i), Payload: fmt.Appendf(nil, `{"users":{"u%d":%d,"v%d":1},"id":%d}`, i, i%2, i, i/2)})
	}
	c.Add(Entry{ID: "same", Payload: []byte(`{"users": {"u2999":1,"v2999":1},"id":1499}`)})
	g := c.groups[groupKey{}]
	if len(g.tree.nodes) > maxPaths {
		t.Errorf("%d paths", len(g.tree.nodes))
	}
	r := c.Result()[0]
	if want := [][]string{{"2999", "same"}}; !reflect.DeepEqual(r.Collisions, want) {
		t.Errorf("collisions %v", r.Collisions)
	}
}

func TestCorpusStopsKeepingAtItsLimit(t *testing.T) {
	var c Corpus
	big := strings.Repeat("x", 1<<20)
	for i := range 200 {
		c.Add(Entry{ID: fmt.Sprint(i), Payload: fmt.Appendf(nil, `{"id":%d,"blob":"%s"}`, i, big)})
	}
	r := c.Result()[0]
	if r.Payloads != 200 || r.Defined != 200 || r.Analysed >= 200 || r.Analysed < 100 {
		t.Errorf("%d payloads, %d defined, %d analysed", r.Payloads, r.Defined, r.Analysed)
	}
	if c.held > MaxCorpusBytes+2<<20 {
		t.Errorf("%d bytes held", c.held)
	}
}

func TestCorpusWalksDeepNesting(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 5000) + "%d" + strings.Repeat(`]}`, 5000)
	var payloads []string
	for i := range MinCorpus {
		payloads = append(payloads, fmt.Sprintf(deep, i))
	}
	if r := analysed(t, payloads...); r.Analysed != MinCorpus || len(r.Findings) > 0 {
		t.Errorf("%d analysed, findings %+v", r.Analysed, r.Findings)
	}
}

func TestPoissonTail(t *testing.T) {
	direct := func(k int, lambda float64) float64 {
		below, term := 0.0, math.Exp(-lambda)
		for i := range k {
			below += term
			term *= lambda / float64(i+1)
		}
		return 1 - below
	}
	for _, lambda := range []float64{0.01, 0.5, 1, 7, 30, 200} {
		for _, k := range []int{0, 1, 2, 5, 10, 31, 190, 230} {
			got := poissonTail(float64(k), lambda)
			if want := direct(k, lambda); math.Abs(got-want) > 1e-9 {
				t.Errorf("P(X ≥ %d; %v) = %v, want %v", k, lambda, got, want)
			}
		}
	}
	// The normal approximation must take over without a step.
	for _, shift := range []float64{-600, -300, 0, 300, 600, 1000} {
		exact, near := poissonTail(99_000+shift, 99_000), poissonTail((101_000+shift*1.01), 101_000)
		if math.Abs(exact-near) > 0.005 {
			t.Errorf("shift %v: %v and %v", shift, exact, near)
		}
	}
	if p := poissonTail(20, 0.001); p > 1e-60 || p <= 0 {
		t.Errorf("far tail %v", p)
	}
	if p := poissonTail(1, 0); p != 0 {
		t.Errorf("no pairs expected, one seen: %v", p)
	}
	if p := poissonTail(5e9, 5e9); math.Abs(p-0.5) > 0.01 {
		t.Errorf("large mean: %v", p)
	}
}

// without deletes members at a generalised path and returns what is left.
func without(v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			switch {
			case path[0] != name:
				out[name] = e
			case len(path) > 1:
				out[name] = without(e, path[1:])
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			if path[0] == "*" {
				e = without(e, path[1:])
			}
			out = append(out, e)
		}
		return out
	default:
		return v
	}
}

// TestRemaindersAreFormsWithoutTheMembers compares sums of hashes with what they
// stand for: canonical bytes after deleting members from the decoded payload.
func TestRemaindersAreFormsWithoutTheMembers(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	paths := map[string][]string{"$.a": {"a"}, "$.l[*].x": {"l", "*", "x"}, "$.l[*].y": {"l", "*", "y"}, "$.o.p": {"o", "p"}}
	var c Corpus
	var payloads []string
	for i := range 600 {
		v := map[string]any{"a": random.Intn(2), "o": map[string]any{"p": random.Intn(2)}}
		lines := []any{}
		for range random.Intn(3) {
			line := map[string]any{}
			for _, name := range []string{"x", "y"} {
				if random.Intn(3) > 0 {
					line[name] = random.Intn(2)
				}
			}
			lines = append(lines, line)
		}
		v["l"] = lines
		p, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, string(p))
		c.Add(Entry{ID: fmt.Sprint(i), Payload: p})
	}
	g := c.groups[groupKey{}]
	a := &analysis{group: g, corpus: &c, following: map[[2]int32]bool{}, report: &GroupReport{}}
	a.transpose()
	for i := range g.tree.nodes {
		steps, ok := paths[g.tree.path(int32(i))]
		if !ok {
			continue
		}
		byHash, byForm := map[uint64]string{}, map[string]uint64{}
		for r, rest := range a.remainders([]int32{int32(i)}) {
			var v any
			if err := json.Unmarshal([]byte(payloads[r]), &v); err != nil {
				t.Fatal(err)
			}
			p, err := json.Marshal(without(v, steps))
			if err != nil {
				t.Fatal(err)
			}
			if known, ok := byHash[rest]; ok && known != string(p) {
				t.Fatalf("%s and %s share a hash without %v", known, p, steps)
			}
			if known, ok := byForm[string(p)]; ok && known != rest {
				t.Fatalf("%s has two hashes without %v", p, steps)
			}
			byHash[rest], byForm[string(p)] = string(p), rest
		}
		delete(paths, g.tree.path(int32(i)))
	}
	if len(paths) > 0 {
		t.Errorf("paths that were not seen: %v", paths)
	}
}

// fields makes payloads from functions of the payload's number and of its work.
func fields(n int, write func(i, work int) string) []string {
	random := rand.New(rand.NewSource(11))
	var payloads []string
	for i := range n {
		payloads = append(payloads, write(i, random.Intn(n/3)))
	}
	return payloads
}

func uuidOf(i int) string {
	return fmt.Sprintf("%08x-1c2d-4a3b-8e4f-0123456789ab", uint32(i)*2654435761)
}

func TestVolatileFields(t *testing.T) {
	tests := []struct {
		name              string
		payloads          []string
		volatile, suspect []string
	}{
		{
			"two clocks that hide each other",
			fields(120, func(i, work int) string {
				return fmt.Sprintf(`{"id":%d,"sent_at":"2024-05-01T12:00:00.%03dZ","ts":%d}`, work, i+1, 1714567890001+i)
			}),
			[]string{"$.sent_at", "$.ts"},
			nil,
		},
		{
			"an identifier without a telling name, and works of three independent fields",
			fields(150, func(i, work int) string {
				return fmt.Sprintf(`{"a":%d,"b":%d,"c":%d,"x":%q}`, work*7919%17, work*104729%19, work%3, uuidOf(i))
			}),
			[]string{"$.x"},
			nil,
		},
		{
			"the same, a counter instead of the identifier",
			fields(150, func(i, work int) string {
				return fmt.Sprintf(`{"a":%d,"b":%d,"c":%d,"x":"n-%d"}`, work*7919%17, work*104729%19, work%3, i)
			}),
			nil,
			[]string{"$.x"},
		},
		{
			"an identifier beside one column proves nothing",
			fields(150, func(i, work int) string { return fmt.Sprintf(`{"customer":%d,"x":%q}`, work, uuidOf(i)) }),
			nil, nil,
		},
		{
			"an identifier beside columns that follow from each other proves nothing",
			fields(150, func(i, work int) string {
				return fmt.Sprintf(`{"customer":%d,"email":"c%d@a.test","country":%d,"x":%q}`, work, work, work%5, uuidOf(i))
			}),
			nil, nil,
		},
		{
			"an identifier beside independent columns that repeat by chance",
			fields(300, func(i, _ int) string {
				return fmt.Sprintf(`{"amount":%d,"currency":%d,"x":%q}`, i*7919%11, i*104729%7, uuidOf(i))
			}),
			nil, nil,
		},
		{
			"a clock beside an identifier",
			fields(150, func(i, work int) string {
				return fmt.Sprintf(`{"job":%d,"started_at":"2024-05-01T12:00:00.%03dZ","run":%q}`, work%4, i+1, uuidOf(i))
			}),
			nil,
			[]string{"$.started_at"},
		},
		{
			"a clock that is the identity",
			fields(150, func(i, _ int) string {
				return fmt.Sprintf(`{"at":"2024-05-01T12:00:00.%03dZ","reading":%d}`, i+1, i*7919%100_003)
			}),
			nil, nil,
		},
		{
			"a trace in half of the payloads",
			fields(150, func(i, work int) string {
				if i%2 == 0 {
					return fmt.Sprintf(`{"id":%d}`, work)
				}
				return fmt.Sprintf(`{"id":%d,"trace_id":"%032x"}`, work, i)
			}),
			[]string{"$.trace_id"},
			nil,
		},
		{
			"a trace in a third of the payloads",
			fields(150, func(i, work int) string {
				if i%3 > 0 {
					return fmt.Sprintf(`{"id":%d}`, work)
				}
				return fmt.Sprintf(`{"id":%d,"trace_id":"%032x"}`, work, i)
			}),
			nil, nil,
		},
		{
			"a nonce that follows from the work",
			fields(150, func(_, work int) string { return fmt.Sprintf(`{"id":%d,"nonce":"%08x"}`, work, work*7919) }),
			nil, nil,
		},
		{
			"dates are identities",
			fields(150, func(i, _ int) string {
				return fmt.Sprintf(`{"day":"%04d-01-01T00:00:00Z","report":"daily"}`, 2000+i)
			}),
			nil, nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := analysed(t, test.payloads...)
			if !slices.Equal(r.Volatile, test.volatile) || !slices.Equal(r.Suspect, test.suspect) {
				t.Errorf("volatile %v, suspect %v, want %v and %v", r.Volatile, r.Suspect, test.volatile, test.suspect)
			}
			if (len(r.Clusters) > 0) != (len(test.volatile) > 0) || (r.Kappa > 0) != (len(test.volatile) > 0) {
				t.Errorf("%d clusters, κ %v", len(r.Clusters), r.Kappa)
			}
			for _, f := range r.Findings {
				if f.Rule == VolatileField && f.Kappa < kappaEnough {
					t.Errorf("%s: κ %v", f.Path, f.Kappa)
				}
			}
		})
	}
}
