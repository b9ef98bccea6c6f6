package reconcile

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// The corpus rules speak of a sample of the unique tasks of each type and queue,
// which bounds what they cost. Works are drawn, not tasks: places are ordered by
// payload.Likeness, so that the tasks of one work are all in the sample or all
// outside. Nothing in it is random, and where no bound on all samples together was
// met, the same tasks give the same sample in whatever order they come.
const (
	// sampleTasks and sampleBytes bound the sample of one type and queue.
	sampleTasks = 1000
	sampleBytes = 512 << 10
	// samplesBytes bounds all samples of an audit together.
	samplesBytes = 8 << 20
	// samplePayload is the longest payload that is sampled.
	samplePayload = 64 << 10
	// sampleCost is what a sampled task weighs beside its ID and its payload.
	sampleCost = 128
)

// sampled is one task of a sample.
type sampled struct {
	work, own uint64 // its place: by the work's likeness, then by its own ID
	id        string
	payload   []byte
	live      bool
}

func (s *sampled) size() int { return sampleCost + len(s.id) + len(s.payload) }

func (s *sampled) compare(o *sampled) int {
	return cmp.Or(cmp.Compare(s.work, o.work), cmp.Compare(s.own, o.own), cmp.Compare(s.id, o.id))
}

// placeInSample is where a task stands in the order of samples. It shares the
// task's payload and ID.
func placeInSample(t *inspect.Task) sampled {
	return sampled{
		work: payload.Likeness(t.Payload), own: shuffle(t.ID),
		id: t.ID, payload: t.Payload, live: t.State.Live(),
	}
}

// shuffle is a number for an ID whose order has nothing to do with that of the IDs,
// and is the same in every process: FNV-1a, with its upper bits mixed in.
func shuffle(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// sample keeps the first tasks in the order of places. The zero value is empty.
type sample struct {
	kept  []sampled
	bytes int
	// last is the place behind which nothing is kept any more; nil as long as there
	// was room for all.
	last *sampled
	left int // tasks that were offered and are not kept
}

// documents says whether JSON objects or arrays are a fair part of the sampled
// payloads: a quarter.
func (s *sample) documents() bool {
	n := 0
	for i := range s.kept {
		if document(s.kept[i].payload) {
			n++
		}
	}
	return 4*n >= len(s.kept)
}

// whole says whether every task that was offered is in the sample.
func (s *sample) whole() bool { return s.left == 0 }

// offer adds a copy of the task if its place is in the sample, and returns by how
// many bytes the sample has grown, or shrunk. It is let grow to twice its bounds
// before it is cut, so that it is sorted seldom.
func (s *sample) offer(one sampled, most sampleBound) int {
	if len(one.payload) > samplePayload || s.last != nil && one.compare(s.last) > 0 {
		s.left++
		return 0
	}
	one.id, one.payload = strings.Clone(one.id), bytes.Clone(one.payload)
	s.kept = append(s.kept, one)
	s.bytes += one.size()
	if len(s.kept) < 2*most.tasks && s.bytes < 2*most.bytes {
		return one.size()
	}
	return one.size() + s.cut(most)
}

// sampleBound is how much a sample may hold.
type sampleBound struct{ tasks, bytes int }

// cut sorts the sample and drops what is beyond the bound. It returns by how many
// bytes the sample has grown: never by more than nothing.
func (s *sample) cut(most sampleBound) int {
	slices.SortFunc(s.kept, func(a, b sampled) int { return a.compare(&b) })
	n, size := 0, 0
	for n < len(s.kept) && n < most.tasks && size+s.kept[n].size() <= most.bytes {
		size += s.kept[n].size()
		n++
	}
	if n < len(s.kept) {
		s.left += len(s.kept) - n
		beyond := sampled{work: s.kept[n].work, own: s.kept[n].own, id: s.kept[n].id}
		s.last = &beyond
		clear(s.kept[n:])
		s.kept = s.kept[:n]
	}
	grown := size - s.bytes
	s.bytes = size
	return grown
}
