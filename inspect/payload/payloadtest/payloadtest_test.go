package payloadtest

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect/payload"
)

// recorder takes the place of a test that is expected to fail.
type recorder struct {
	testing.TB
	errors, logs []string
	fatal        string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}
func (r *recorder) Log(args ...any) { r.logs = append(r.logs, fmt.Sprint(args...)) }
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs a check on its own goroutine, which Fatalf may end.
func record(t *testing.T, check func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(r)
	}()
	<-done
	return r
}

// scrambled marshals its members in map order, as an encoder that does not sort.
type scrambled map[string]int

func (s scrambled) MarshalJSON() ([]byte, error) {
	var parts []string
	for name, n := range s {
		parts = append(parts, fmt.Sprintf("%q:%d", name, n))
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

// sortedSet sorts itself.
type sortedSet []int

func (s sortedSet) MarshalJSON() ([]byte, error) {
	return json.Marshal(slices.Sorted(slices.Values([]int(s))))
}

type invoice struct {
	ID     int               `json:"id"`
	Lines  []line            `json:"lines"`
	Labels map[string]string `json:"labels"`
	Parent *invoice          `json:"parent,omitempty"`
	Extra  any               `json:"extra,omitempty"`
	secret []string
}

type line struct {
	SKU  string   `json:"sku"`
	Tags []string `json:"tags"`
}

func sample() invoice {
	return invoice{
		ID: 7, Lines: []line{{"a", []string{"x", "y"}}, {"b", nil}}, Labels: map[string]string{"k": "v", "l": "w"},
		Parent: &invoice{ID: 6, Labels: map[string]string{}}, Extra: []any{1.0, "z"}, secret: []string{"s", "t"},
	}
}

func TestCheckPassesAStableStruct(t *testing.T) {
	r := record(t, func(tb testing.TB) { Check(tb, sample()) })
	if len(r.errors) > 0 || r.fatal != "" {
		t.Errorf("errors %q, %s", r.errors, r.fatal)
	}
}

func TestCheckLogsArraysWhoseOrderMatters(t *testing.T) {
	r := record(t, func(tb testing.TB) { Check(tb, sample()) })
	for _, path := range []string{"$.lines", "$.lines[0].tags", "$.extra"} {
		if !slices.Contains(r.logs, "the order of "+path+" is part of the lock") {
			t.Errorf("%s is not among %q", path, r.logs)
		}
	}
}

func TestCheckLeavesTheValueAlone(t *testing.T) {
	v := sample()
	record(t, func(tb testing.TB) { Check(tb, &v) })
	if want := sample(); fmt.Sprint(v.Lines, v.Labels, v.Extra, v.secret) != fmt.Sprint(want.Lines, want.Labels, want.Extra, want.secret) {
		t.Errorf("changed to %+v", v)
	}
}

func TestCheckFailsWhatMapsScramble(t *testing.T) {
	r := record(t, func(tb testing.TB) {
		Check(tb, map[string]any{"m": scrambled{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}}, Allow(payload.KeyOrder))
	})
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "another lock: $.m is spelled differently (key-order)") {
		t.Errorf("errors %q", r.errors)
	}
}

func TestCheckFailsUnsortedSets(t *testing.T) {
	type task struct {
		IDs  []int     `json:"ids"`
		Tags sortedSet `json:"tags"`
	}
	v := task{IDs: []int{1, 2, 3}, Tags: sortedSet{3, 1, 2}}
	r := record(t, func(tb testing.TB) { Check(tb, v, Unordered("$.ids", "$.tags")) })
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "the order of $.ids changes the lock") {
		t.Errorf("errors %q", r.errors)
	}
}

func TestCheckFailsClocksAndTraces(t *testing.T) {
	type task struct {
		ID       int       `json:"id"`
		QueuedAt time.Time `json:"queued_at"`
		TraceID  string    `json:"trace_id"`
		URL      string    `json:"url"`
		Price    float64   `json:"price"`
	}
	v := task{1, time.Date(2024, 5, 1, 12, 34, 56, 789, time.UTC), "4bf9", "/?a=1&b=2", 1.5}
	r := record(t, func(tb testing.TB) { Check(tb, v) })
	text := strings.Join(r.errors, "\n")
	for _, want := range []string{"timestamp-subsecond at $.queued_at", "volatile-name at $.queued_at", "volatile-name at $.trace_id"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s among %q", want, r.errors)
		}
	}
	if len(r.errors) != 3 || len(r.logs) != 2 {
		t.Errorf("errors %q, logs %q", r.errors, r.logs)
	}
	strict := record(t, func(tb testing.TB) {
		Check(tb, v, Strict(), Allow(payload.VolatileName, payload.TimestampSubsecond, payload.FloatNumber))
	})
	if len(strict.errors) != 1 || !strings.Contains(strict.errors[0], "html-escape at $.url") {
		t.Errorf("errors %q", strict.errors)
	}
}

func TestCheckTakesBytesAsPayload(t *testing.T) {
	r := record(t, func(tb testing.TB) { Check(tb, []byte(`{"a": 1}`)) })
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "whitespace at $ (byte 5)") {
		t.Errorf("errors %q", r.errors)
	}
}

func TestCheckNeedsAValueThatMarshals(t *testing.T) {
	r := record(t, func(tb testing.TB) { Check(tb, func() {}) })
	if !strings.Contains(r.fatal, "marshal func()") {
		t.Errorf("fatal %q", r.fatal)
	}
	own := record(t, func(tb testing.TB) {
		Check(tb, 1, Marshal(func(any) ([]byte, error) { return []byte("{}\n"), nil }))
	})
	if len(own.errors) != 1 || !strings.Contains(own.errors[0], "trailing-newline") {
		t.Errorf("errors %q", own.errors)
	}
}

func TestCheckCopiesOddValues(t *testing.T) {
	type node struct {
		Next *node          `json:"next"`
		Any  any            `json:"any"`
		Map  map[string]any `json:"map"`
		Raw  json.RawMessage
		Time time.Time
		Grid [2][]int
		None []int
	}
	v := node{Next: &node{}, Any: map[string]any{"a": []int{1}}, Raw: json.RawMessage(`{}`), Time: time.Unix(0, 0).UTC(), Grid: [2][]int{{1, 2}, nil}}
	for _, value := range []any{v, &v, nil, 1, "x", []any{nil, v}, map[string]*node{"a": nil}} {
		r := record(t, func(tb testing.TB) { Check(tb, value) })
		if len(r.errors) > 0 || r.fatal != "" {
			t.Errorf("%T: errors %q, %s", value, r.errors, r.fatal)
		}
	}
}

func TestSameWorkFindsClocksAndRandomIDs(t *testing.T) {
	n := 0
	build := func() any {
		n++
		return map[string]any{"id": 1, "run": fmt.Sprint("run-", n)}
	}
	r := record(t, func(tb testing.TB) { SameWork(tb, build) })
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "two locks: $.run has another value") {
		t.Errorf("errors %q", r.errors)
	}
	r = record(t, func(tb testing.TB) { SameWork(tb, func() any { return sample() }) })
	if len(r.errors) > 0 {
		t.Errorf("errors %q", r.errors)
	}
}

func TestSameWorkTellsNilFromEmpty(t *testing.T) {
	values := []any{[]byte(nil), []byte{}}
	n := -1
	r := record(t, func(tb testing.TB) { SameWork(tb, func() any { n++; return values[n] }) })
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "empty-payload") {
		t.Errorf("errors %q", r.errors)
	}
}
