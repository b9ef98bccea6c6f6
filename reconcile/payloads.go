package reconcile

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// Findings on payloads speak of unique tasks alone. Their lock is made of the very
// bytes of the payload (asynq internal/base/base.go: UniqueKey), so that another
// spelling of the same work passes it. The spelling of a task without a lock lets
// nothing pass; its key is read from the payload's values, and identity/key-missing
// says where that fails.
//
// Payloads are looked at where tasks are judged. What is kept of them is bounded:
// counts and a few examples for each fault, type and queue, and a sample for what
// only many payloads show together.

// payloadTable is what the payloads of an audit's unique tasks have shown. It is
// safe for concurrent use.
type payloadTable struct {
	mu    sync.Mutex
	cases map[typeQueue]*payloadCase
	most  sampleBound // of one sample, smaller once all together had met theirs
	bytes int         // held by all samples
	noted int         // examples of faults, of all types
}

// payloadCase is what is known of one type in one queue.
type payloadCase struct {
	tasks  int // unique ones
	faults map[payload.Rule]*faultCase
	sample sample
}

// faultCase is one form rule that payloads of a type break.
type faultCase struct {
	tasks    int
	examples []fault // those with the first places
}

// fault is where a task's payload breaks a rule.
type fault struct {
	place uint64
	id    string
	path  string
	start int // byte of the payload
}

const (
	// faultExamples is how many tasks a finding on a fault names. Twice as many are
	// kept, since some may be done before it is told.
	faultExamples = 3
	// maxNoted bounds the examples of all types together: beyond it each fault keeps
	// one. Neither a longer ID nor a longer path than these is kept.
	maxNoted     = 20_000
	notedID      = 512
	maxNotedPath = 256
)

func newPayloadTable() *payloadTable {
	return &payloadTable{cases: map[typeQueue]*payloadCase{}, most: sampleBound{sampleTasks, sampleBytes}}
}

// mindsPayloads says whether the run looks at payloads: only in an audit of which no state
// and no ID is left out, since a part of the tasks of a type says little.
func (r *run) mindsPayloads() bool { return r.aim == aimAudit && r.whole() }

// seePayloads looks at the payloads of a batch.
func (r *run) seePayloads(items []item) {
	if r.payloads == nil {
		return
	}
	for i := range items {
		t := &items[i].task
		if t.UniqueKey == "" || t.Defect != inspect.DefectNone || t.Prev != inspect.StateUnknown {
			continue
		}
		r.payloads.add(t, faultsOf(t.Payload), placeInSample(t))
	}
}

// faultsOf are the faults of form. A payload that is a bare number is an ID more
// often than a quantity, and however an ID is spelled, it is another one.
func faultsOf(p []byte) []payload.Finding {
	faults := payload.Faults(p)
	if document(p) {
		return faults
	}
	return slices.DeleteFunc(faults, func(f payload.Finding) bool {
		return f.Rule == payload.NumberFormat || f.Rule == payload.NumberOutOfRange
	})
}

// document says whether the payload begins as a JSON object or array does.
func document(p []byte) bool {
	p = bytes.TrimLeft(p, " \t\r\n\ufeff")
	return len(p) > 0 && (p[0] == '{' || p[0] == '[')
}

func (pt *payloadTable) add(t *inspect.Task, faults []payload.Finding, place sampled) {
	pt.mu.Lock()
	defer pt.mu.Unlock()
	key := typeQueue{t.Type, t.Queue}
	c := pt.cases[key]
	if c == nil {
		if len(pt.cases) >= maxTypes {
			return
		}
		c = &payloadCase{faults: map[payload.Rule]*faultCase{}}
		pt.cases[typeQueue{strings.Clone(t.Type), strings.Clone(t.Queue)}] = c
	}
	c.tasks++
	most := 2 * faultExamples
	if pt.noted >= maxNoted {
		most = 1
	}
	for _, f := range faults {
		pt.noted += c.fault(f, place, most)
	}
	pt.bytes += c.sample.offer(place, pt.most)
	for pt.bytes > samplesBytes {
		pt.shrink()
	}
}

// shrink halves what every sample may hold.
func (pt *payloadTable) shrink() {
	pt.most.tasks, pt.most.bytes = pt.most.tasks/2, pt.most.bytes/2
	for _, c := range pt.cases {
		pt.bytes += c.sample.cut(pt.most)
	}
}

// fault counts a fault of the task at the place, and keeps it if it is among the
// first examples. It returns how many more are kept.
func (c *payloadCase) fault(f payload.Finding, place sampled, most int) int {
	fc := c.faults[f.Rule]
	if fc == nil {
		fc = &faultCase{}
		c.faults[f.Rule] = fc
	}
	fc.tasks++
	before := len(fc.examples)
	if len(place.id) > notedID || before >= most && place.own >= fc.examples[before-1].place {
		return 0
	}
	at, _ := slices.BinarySearchFunc(fc.examples, place.own, func(e fault, own uint64) int {
		return cmp.Compare(e.place, own)
	})
	fc.examples = slices.Insert(fc.examples, at, fault{place.own, strings.Clone(place.id), cutPath(f.Path), f.Start})
	fc.examples = fc.examples[:min(len(fc.examples), max(before, most))]
	return len(fc.examples) - before
}

// cutPath is a path as findings keep it.
func cutPath(path string) string {
	if len(path) <= maxNotedPath {
		return path
	}
	return clip(path, maxNotedPath) + "…"
}
