package tui

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

func TestSpineKeepsEveryIDAsItWas(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ids := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9a-fA-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)), 1, 50).Draw(r, "ids")
		var s spine
		var want []inspect.Ref
		for i, id := range ids {
			ref := inspect.Ref{Queue: []string{"a", "b", ""}[i%3], ID: id}
			want = append(want, ref)
			s.add(ref)
		}
		for i, ref := range want {
			if got := s.at(i); got != ref {
				r.Fatalf("%q became %q", ref, got)
			}
			near := rapid.IntRange(-5, 60).Draw(r, "near")
			if at := s.find(ref, near); at < 0 || s.at(at) != ref {
				r.Fatalf("%q is found at %d", ref, at)
			}
		}
		if s.find(inspect.Ref{Queue: "a", ID: strings.Join(ids, "") + "x"}, 0) >= 0 || s.find(inspect.Ref{Queue: "c", ID: ids[0]}, 0) >= 0 {
			r.Fatal("what is not there is found")
		}
	})
}

func TestAMillionTasksStayBelow100MiB(t *testing.T) {
	before := heap()
	g := &gathering{listing: &fakeListing{fake: newFake()}, rows: map[inspect.Ref]*Row{}}
	const million = 1_000_000
	for n := 0; n < million; {
		p := Page{Read: 1000}
		for range 1000 {
			p.Refs = append(p.Refs, inspect.Ref{Queue: "default", ID: uuid.NewString()})
			n++
		}
		g.take(p)
	}
	used := heap() - before
	t.Logf("%d tasks take %.1f MiB", g.spine.len(), float64(used)/(1<<20))
	if used > 60<<20 { // what else is in memory has the rest
		t.Errorf("a million tasks take %d MiB", used>>20)
	}
	first, last := g.spine.at(0), g.spine.at(million-1)
	took := time.Hour
	for tries := 0; took > time.Second && tries < 10; tries++ { // a machine that stands still does not do so each time
		begun := time.Now()
		if g.spine.find(last, 0) != million-1 || g.spine.find(first, million) != 0 {
			t.Error("the ends are not found")
		}
		took = time.Since(begun)
	}
	if took > time.Second {
		t.Errorf("a task was looked for %v, and not less before", took)
	}
	runtime.KeepAlive(g)
}

// heap is what is in use. What pools hold is gone after the second collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestKeptListSaysThatItIsFull(t *testing.T) {
	g := &gathering{listing: &fakeListing{fake: newFake()}, rows: map[inspect.Ref]*Row{}, keeps: true}
	for n := 0; !g.done; n++ {
		ref := inspect.Ref{Queue: "q", ID: fmt.Sprint(n)}
		g.take(Page{Refs: []inspect.Ref{ref}, Rows: []Row{{Ref: ref}}, Read: 1})
	}
	if !g.full || g.spine.len() != maxRows || len(g.rows) != maxRows {
		t.Errorf("full %v, %d IDs, %d rows", g.full, g.spine.len(), len(g.rows))
	}
}

func TestRowsFarFromTheWindowAreLetGo(t *testing.T) {
	g := &gathering{listing: &fakeListing{fake: newFake()}, rows: map[inspect.Ref]*Row{}}
	for n := range 10_000 {
		ref := inspect.Ref{Queue: "q", ID: fmt.Sprint(n)}
		g.spine.add(ref)
		g.rows[ref] = &Row{Ref: ref}
	}
	g.trim(g.spine.at, 5000, 5040)
	if len(g.rows) > cachedRows || g.rows[g.spine.at(5020)] == nil || g.rows[g.spine.at(0)] != nil {
		t.Errorf("%d rows are kept", len(g.rows))
	}
}

func TestListNeverLosesItsCursor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var l list
		r.Repeat(map[string]func(*rapid.T){
			"resize": func(r *rapid.T) {
				l.resize(rapid.IntRange(-1, 1000).Draw(r, "items"), rapid.IntRange(-5, 80).Draw(r, "height"))
			},
			"move": func(r *rapid.T) { l.move(rapid.IntRange(-2000, 2000).Draw(r, "by")) },
			"to":   func(r *rapid.T) { l.to(rapid.Int().Draw(r, "to")) },
			"keep": func(r *rapid.T) { l.keep(rapid.IntRange(0, 2000).Draw(r, "at")) },
			"": func(r *rapid.T) {
				from, to := l.window()
				if l.n > 0 && (l.cursor < from || l.cursor >= to || from < 0 || to > l.n) {
					r.Fatalf("%+v shows %d to %d", l, from, to)
				}
			},
		})
	})
}

func TestTableFitsWhateverItIsGiven(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tab := table{columns: (&tasks{}).columns()}
		cells := rapid.IntRange(30, 200).Draw(r, "cells")
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(r, "rows") {
			row := make([]string, len(tab.columns))
			for i := range row {
				row[i] = safe(rapid.String().Draw(r, "cell"))
			}
			rows = append(rows, row)
		}
		shown, widths := tab.fit(rows, cells, rapid.Bool().Draw(r, "wide"))
		if !slices.Contains(shown, columnTask) || !slices.Contains(shown, columnEffect) {
			r.Fatalf("columns %v lack the task or its effect", shown)
		}
		first := -1
		for _, row := range rows {
			n := visible.Width(tab.line(row, shown, widths, nil))
			if first < 0 {
				first = n
			}
			if n != first {
				r.Fatalf("lines of %d and %d cells", first, n)
			}
		}
	})
}

func TestFilterTakesWordsAndExpressions(t *testing.T) {
	j := fakeTask(1, "payments", inspect.StateArchived) // payment:refund, retried 1, applied
	for text, want := range map[string]bool{
		"":                          true,
		"refund":                    true,
		"REFUND 501":                true,
		"refund 777":                false,
		"archived handler-error":    true,
		"evt_1 payments":            true,
		`status == "applied"`:       true,
		`status == "not-applied"`:   false,
		"retried > 3":               false,
		"retried >= 1 && max_retry": false, // no expression: an error
		"unique":                    false, // an expression, by itself
		`type startsWith "payment"`: true,
		"not unique":                true,
		"id contains":               false,
		"id contains 5":             false,
		"bank: gateway answered":    true,
		"created by":                false,
	} {
		f, err := parseFilter(text)
		if err != nil {
			if want {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		test, _ := f.judged()
		if got := test == nil || test(&j); got != want {
			t.Errorf("%q passes %v, want %v", text, got, want)
		}
	}
}

func TestExpressionWithAMistakeIsNotTakenForWords(t *testing.T) {
	for _, text := range []string{"retried >", "status = applied", `"open`, "(a", "type startsWith payment", "not there"} {
		if f, err := parseFilter(text); err == nil {
			t.Errorf("%q is taken for %+v", text, f)
		}
	}
}

func TestTimesInWordsReadAsPeopleCount(t *testing.T) {
	soon, before, other := noon.Add(5*time.Hour), noon.Add(-3*time.Minute), noon.Add(time.Hour)
	stamp := func(t time.Time) string { return t.Format(time.RFC3339) }
	for words, want := range map[string]string{
		"it becomes pending at " + stamp(soon):          "it becomes pending in 5h",
		"it can be judged after " + stamp(soon):         "it can be judged in 5h",
		"it is refused until " + stamp(soon) + ", then": "it is refused for another 5h, then",
		"its lease ended " + stamp(before):              "its lease ended 3m ago",
		"it was done at " + stamp(before):               "it was done 3m ago",
		"an error text says " + stamp(other):            "an error text says " + stamp(other),
	} {
		if got := humane(words, noon, soon, before, time.Time{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSparkShowsEveryCountHoweverSmall(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 1_000_000), 1, 90).Draw(r, "counts")
		cells := rapid.IntRange(len(counts), 120).Draw(r, "cells")
		drawn := []rune(spark(counts, cells))
		if len(drawn) != len(counts) {
			r.Fatalf("%d bars for %d counts", len(drawn), len(counts))
		}
		for i, n := range counts {
			if (n > 0) != (drawn[i] != ' ') {
				r.Fatalf("%d is drawn as %q", n, drawn[i])
			}
		}
	})
	if got := spark([]int{1, 2, 3, 4}, 2); len([]rune(got)) != 2 {
		t.Errorf("four counts in two cells are %q", got)
	}
}

func TestTimeAxisKeepsOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var marks []mark
		for _, s := range rapid.SliceOfN(rapid.IntRange(-40_000_000, 40_000_000), 1, 8).Draw(r, "seconds") {
			marks = append(marks, mark{at: noon.Add(time.Duration(s) * time.Second)})
		}
		a := newTimeAxis(marks, noon, rapid.IntRange(-5, 200).Draw(r, "columns"))
		slices.SortFunc(marks, func(x, y mark) int { return x.at.Compare(y.at) })
		last := -1
		for _, m := range marks {
			c := a.column(m.at)
			if c < last || c < 0 || c >= a.columns {
				r.Fatalf("%v is in column %d of %d, after %d", m.at, c, a.columns, last)
			}
			last = c
		}
		ruler, labels := a.ruler()
		if len([]rune(ruler)) != a.columns || len([]rune(labels)) != a.columns {
			r.Fatalf("%q and %q for %d columns", ruler, labels, a.columns)
		}
	})
}

func TestPairLinesLosesNoLine(t *testing.T) {
	line := rapid.SliceOfN(rapid.SampledFrom([]string{"{", "}", "a", "b", "c", "d"}), 0, 30)
	rapid.Check(t, func(r *rapid.T) {
		a, b := line.Draw(r, "a"), line.Draw(r, "b")
		nextA, nextB := 0, 0
		for _, p := range pairLines(a, b) {
			if p.a >= 0 {
				if p.a != nextA {
					r.Fatalf("line %d comes after %d", p.a, nextA)
				}
				nextA++
			}
			if p.b >= 0 {
				if p.b != nextB {
					r.Fatalf("line %d comes after %d", p.b, nextB)
				}
				nextB++
			}
		}
		if nextA != len(a) || nextB != len(b) {
			r.Fatalf("%d of %d and %d of %d lines", nextA, len(a), nextB, len(b))
		}
	})
}

func TestOrderPutsEqualOnesAsTheyWereRead(t *testing.T) {
	g := &gathering{listing: &fakeListing{fake: newFake()}, rows: map[inspect.Ref]*Row{}, keeps: true}
	for n := range 9 {
		j := fakeTask(n, "q", inspect.StateArchived)
		g.take(Page{Refs: []inspect.Ref{j.Task.Ref}, Rows: []Row{RowOf(&j)}, Read: 1})
	}
	o := order{by: columnType}
	o.arrange(g)
	var got []string
	for i := range 9 {
		got = append(got, g.rows[g.spine.at(o.at(i))].Type+" "+g.spine.at(o.at(i)).ID)
		if o.place(o.at(i)) != i {
			t.Errorf("place %d is not where it is", i)
		}
	}
	if !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
}

func TestBookKeepsCountsBeyondWhatItKeeps(t *testing.T) {
	b := NewBook(noon, nil)
	for n := range maxGroups + 50 {
		j := fakeTask(0, "q", inspect.StateArchived)
		j.Task.Type = fmt.Sprint(n)
		b.Finding(reconcile.Finding{Code: reconcile.CodeLost, Severity: reconcile.SeverityHigh, Task: j.Task})
	}
	for range maxExamples + 10 {
		j := fakeTask(0, "q", inspect.StateArchived)
		j.Task.Payload = []byte("secret")
		b.Finding(reconcile.Finding{Code: reconcile.CodeLost, Severity: reconcile.SeverityHigh, Task: j.Task})
	}
	a := b.Close(&reconcile.Report{}, 0)
	n := 0
	for _, g := range a.Groups {
		n += g.Count
		if len(g.Examples) > maxExamples {
			t.Errorf("%d examples of one group", len(g.Examples))
		}
		for _, f := range g.Examples {
			if f.Task.Payload != nil {
				t.Error("a payload is kept")
			}
		}
	}
	if want := maxGroups + 50 + maxExamples + 10; n != want || len(a.Groups) > maxGroups+1 {
		t.Errorf("%d findings in %d groups, want %d", n, len(a.Groups), want)
	}
}

func TestBookDrawsWhatIsComing(t *testing.T) {
	b := NewBook(noon, nil)
	at := func(state inspect.State, archived, due time.Duration) {
		j := fakeTask(1, "q", state)
		j.Task.ArchivedAt, j.Task.NextProcessAt = noon.Add(-archived), noon.Add(due)
		b.Judged(&j)
	}
	at(inspect.StateArchived, 30*time.Minute, 0)
	at(inspect.StateArchived, 90*time.Minute, 0)
	at(inspect.StateArchived, 48*time.Hour, 0)
	at(inspect.StateRetry, 0, 90*time.Second)
	at(inspect.StateRetry, 0, -time.Second)
	at(inspect.StateRetry, 0, 5*time.Hour)
	a := b.Close(&reconcile.Report{}, 0)
	if a.Archived[0] != 1 || a.Archived[1] != 1 || a.ArchivedBefore != 1 || a.Due[1] != 1 || a.Overdue != 1 || a.DueAfter != 1 {
		t.Errorf("got %+v", a)
	}
}

func BenchmarkView(b *testing.B) {
	f := newFake()
	for i := range 200 {
		f.add(fakeTask(100+i, "payments", inspect.StateArchived))
	}
	d := drive(b, f)
	d.keys(":archived<enter>")
	d.send(size(200, 60))
	for b.Loop() {
		d.send(runeKey('j'))
		_ = d.View()
	}
}
