package reconcile

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// work is the i-th unique task of a type: three tasks in a row are one work.
func work(i, size int) inspect.Task {
	return inspect.Task{
		Ref: inspect.Ref{Queue: "q", ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i)}, Type: "t", State: inspect.StatePending, UniqueKey: "lock",
		Payload: fmt.Appendf(nil, `{"user":"u%d","pad":%q,"at":"2026-07-01T03:12:09.%09dZ"}`, i/3, strings.Repeat("x", size), i+1),
	}
}

func seen(tasks ...inspect.Task) *run {
	r := &run{payloads: newPayloadTable()}
	items := make([]item, len(tasks))
	for i, t := range tasks {
		items[i].task = t
	}
	r.seePayloads(items)
	return r
}

func idsOf(s *sample) []string {
	ids := make([]string, len(s.kept))
	for i, one := range s.kept {
		ids[i] = one.id
	}
	return ids
}

func TestSampleHoldsTheSameTasksInWhateverOrderTheyCome(t *testing.T) {
	var tasks []inspect.Task
	for i := range 3 * sampleTasks {
		tasks = append(tasks, work(i, 10))
	}
	var first []string
	for range 3 {
		rand.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		r := seen(tasks...)
		c := r.payloads.cases[typeQueue{"t", "q"}]
		c.sample.cut(r.payloads.most)
		ids := idsOf(&c.sample)
		if len(ids) != sampleTasks || c.sample.left != len(tasks)-sampleTasks || c.tasks != len(tasks) {
			t.Fatalf("%d of %d tasks are kept and %d left, want %d kept", len(ids), c.tasks, c.sample.left, sampleTasks)
		}
		if first == nil {
			first = ids
		}
		if !slices.Equal(first, ids) {
			t.Fatal("another order gives another sample")
		}
	}
}

// Works are in the sample with all their tasks; only the last one may be cut.
func TestSampleHoldsWorksWhole(t *testing.T) {
	var tasks []inspect.Task
	for i := range 4 * sampleTasks {
		tasks = append(tasks, work(i, 10))
	}
	r := seen(tasks...)
	c := r.payloads.cases[typeQueue{"t", "q"}]
	c.sample.cut(r.payloads.most)
	of := map[uint64]int{}
	for _, one := range c.sample.kept {
		of[one.work]++
	}
	broken := 0
	for _, n := range of {
		if n != 3 {
			broken++
		}
	}
	if broken > 1 {
		t.Errorf("%d of %d works are there in part", broken, len(of))
	}
}

// What is held stays within its bounds whatever a queue holds.
func TestSamplesAreBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		types, each, size int
	}{
		"many tasks of one type":      {1, 30_000, 10},
		"long payloads":               {1, 400, 60_000},
		"payloads beyond any sample":  {1, 40, samplePayload},
		"many types":                  {600, 40, 3000},
		"more types than are counted": {maxTypes + 50, 1, 4000},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{payloads: newPayloadTable()}
			most := 0
			for i := range tt.each {
				var items []item
				for k := range tt.types {
					task := work(i, tt.size)
					task.Type = fmt.Sprint("t", k)
					items = append(items, item{task: task})
				}
				for _, it := range items {
					r.seePayloads([]item{it})
					most = max(most, r.payloads.bytes)
				}
			}
			held := 0
			for _, c := range r.payloads.cases {
				if c.sample.bytes > 2*sampleBytes || len(c.sample.kept) > 2*sampleTasks {
					t.Fatalf("%d tasks of %d bytes in one sample", len(c.sample.kept), c.sample.bytes)
				}
				size := 0
				for i := range c.sample.kept {
					size += c.sample.kept[i].size()
				}
				if size != c.sample.bytes {
					t.Fatalf("%d bytes are held, and %d are counted", size, c.sample.bytes)
				}
				held += size
				if len(c.sample.kept)+c.sample.left != c.tasks {
					t.Fatalf("%d kept and %d left of %d", len(c.sample.kept), c.sample.left, c.tasks)
				}
			}
			if held != r.payloads.bytes || most > samplesBytes || len(r.payloads.cases) > maxTypes {
				t.Errorf("%d bytes held, %d counted, %d at most, %d types", held, r.payloads.bytes, most, len(r.payloads.cases))
			}
		})
	}
}

// A sample owns what it holds: what a listing read is not kept alive or changed.
func TestSampleCopiesWhatItKeeps(t *testing.T) {
	task := work(1, 10)
	want := string(task.Payload)
	r := seen(task)
	clear(task.Payload)
	if got := string(r.payloads.cases[typeQueue{"t", "q"}].sample.kept[0].payload); got != want {
		t.Errorf("the sample holds %q, want %q", got, want)
	}
}

// A task that comes again because it moved is one task.
func TestPayloadsCountATaskOnce(t *testing.T) {
	task := work(1, 10)
	again := task
	again.Prev = inspect.StatePending
	broken := work(2, 10)
	broken.Defect = inspect.DefectUndecodable
	unlocked := work(3, 10)
	unlocked.UniqueKey = ""
	if c := seen(task, again, broken, unlocked).payloads.cases[typeQueue{"t", "q"}]; c.tasks != 1 {
		t.Errorf("%d tasks, want 1", c.tasks)
	}
}

// Judging goroutines meet in the table.
func TestPayloadsAreCountedFromManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{payloads: newPayloadTable()}
		for g := range 4 {
			go func() {
				for i := range 500 {
					task := work(g*500+i, 10)
					task.Payload = append(task.Payload, '\n')
					r.seePayloads([]item{{task: task}})
				}
			}()
		}
		synctest.Wait()
		c := r.payloads.cases[typeQueue{"t", "q"}]
		if f := c.faults[payload.TrailingNewline]; c.tasks != 2000 || f.tasks != 2000 || len(f.examples) != 2*faultExamples {
			t.Errorf("%d tasks, %d faults, %d examples", c.tasks, f.tasks, len(f.examples))
		}
	})
}

// Ten thousand types with every fault and the longest names keep a little each.
func TestExamplesOfFaultsAreBounded(t *testing.T) {
	r := &run{payloads: newPayloadTable()}
	long := strings.Repeat("n", 600)
	for i := range 30_000 {
		task := work(i, 1)
		task.Type = fmt.Sprint("t", i%4000)
		task.Payload = []byte(`{"` + long + `": -0}`)
		if i%2 == 1 {
			task.ID += long
		}
		r.seePayloads([]item{{task: task}})
	}
	held, faults := 0, 0
	for _, c := range r.payloads.cases {
		for _, f := range c.faults {
			faults++
			held += len(f.examples)
			for _, e := range f.examples {
				if len(e.id) > notedID || len(e.path) > maxNotedPath+len("…") {
					t.Fatalf("an ID of %d bytes and a path of %d are kept", len(e.id), len(e.path))
				}
			}
		}
	}
	if held != r.payloads.noted || held > maxNoted+faults {
		t.Errorf("%d examples are held and %d counted, for %d faults", held, r.payloads.noted, faults)
	}
}

// What an audit pays for the payload of one unique task of 300 bytes.
func BenchmarkSeePayloads(b *testing.B) {
	const n = 100_000
	items := make([]item, n)
	for i := range items {
		items[i].task = work(i, 10)
		items[i].task.Payload = fmt.Appendf(nil,
			`{"event_id":"evt_%d","amount":%d,"currency":"EUR","customer":{"id":%d,"email":"user%d@example.com"},"lines":[{"sku":"SKU-%d","quantity":%d},{"sku":"SKU-%d","quantity":2}],"note":"a plain text of some length that any of the orders may hold"}`,
			i, i%1000, i%5000, i%5000, i%997, i%5, i%991)
	}
	b.ReportAllocs()
	for b.Loop() {
		r := &run{payloads: newPayloadTable()}
		r.seePayloads(items)
		for key, c := range r.payloads.cases {
			c.sample.cut(r.payloads.most)
			c.sample.analyse(key)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
}
