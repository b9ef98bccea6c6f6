package payload

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// Limits of a corpus. What lies beyond them is counted but not analysed.
const (
	// MaxCorpusBytes bounds what a corpus retains, by its own estimate.
	MaxCorpusBytes = 144 << 20
	// MinCorpus is how many payloads with a canonical form a group needs before
	// statistics are drawn from it. Facts that two payloads prove need no minimum.
	MinCorpus = 20
	// maxPaths bounds the paths of one group; members of a map keyed by user are
	// paths too.
	maxPaths = 4096
)

// Entry is one task's payload.
type Entry struct {
	ID      string // names the payload in results
	Queue   string
	Type    string
	Payload []byte // copied where it is kept
}

// Corpus collects payloads and says, for each queue and type, which members vary
// although the work is the same. Payloads that are not JSON are counted (for
// encoding-mix) and otherwise left alone: which of their bytes vary is not analysed,
// so Decode those that can be. The zero value is an empty corpus. It is not safe for
// concurrent use.
type Corpus struct {
	// Sampled says that the payloads are a sample drawn by Likeness. What may only
	// be said against chance is then not said: such a sample holds works whole, so
	// that its payloads repeat more often than chance has it.
	Sampled bool

	groups map[groupKey]*group
	held   int // estimate of retained bytes
	seed   maphash.Seed
	parser *parser
	walker walker
	orders orderScan
}

type groupKey struct{ queue, taskType string }

// group is what is retained of one queue and type.
type group struct {
	groupKey
	payloads, json, other, defined int
	tree                           tree
	records                        []record
	cells                          []cell
	chunk                          []byte
	firstJSON, firstOther          Example
}

// record is one payload with a canonical form. Sums of random hashes stand for
// canonical forms: two forms share one with a probability of 2^-64.
type record struct {
	id       string
	payload  []byte
	bytes    uint64 // hash of the payload
	form     uint64 // hash of the canonical form
	from, to uint32 // its cells
	spread   bool   // holds an array of two elements or more
	abnormal bool   // holds text that is not in normalisation form C
}

// cell is the share of one path in the hash of a record's canonical form.
// Subtracting it deletes what stands at the path.
type cell struct {
	node int32
	sum  uint64
}

// Add reads one payload. It keeps a copy while MaxCorpusBytes allows.
func (c *Corpus) Add(e Entry) {
	if c.groups == nil {
		c.groups = map[groupKey]*group{}
		c.seed = maphash.MakeSeed()
		c.parser = new(parser)
		c.walker = walker{seed: c.seed}
	}
	key := groupKey{e.Queue, e.Type}
	g := c.groups[key]
	if g == nil {
		g = &group{groupKey: key}
		g.tree.plant()
		c.groups[key] = g
		c.held += groupCost
	}
	g.payloads++
	if len(e.Payload) > 0 {
		if c.parser.parse(e.Payload, nil) != nil {
			g.other++
			g.firstOther.keepFirst(e)
			return
		}
		g.json++
		g.firstJSON.keepFirst(e)
		if c.parser.undefined != RuleUnknown {
			return
		}
	}
	g.defined++
	if c.held > MaxCorpusBytes || len(g.cells) > maxSize/2 {
		return
	}
	c.held += c.keep(g, e)
}

const (
	groupCost  = 1 << 10
	recordCost = 96
	cellCost   = 16
	valueCost  = 20  // one entry of a set of hashes
	nodeCost   = 400 // one path with its counts
)

// keep retains the payload that was just parsed, and returns about what it costs.
func (c *Corpus) keep(g *group, e Entry) int {
	before := len(g.tree.nodes)
	r := record{
		id: e.ID, bytes: maphash.Bytes(c.seed, e.Payload), payload: g.copy(e.Payload),
		from: uint32(len(g.cells)),
	}
	values := 0
	if len(e.Payload) > 0 {
		values = c.learn(g, &r)
	}
	r.to = uint32(len(g.cells))
	g.records = append(g.records, r)
	return recordCost + len(e.ID) + len(e.Payload) + cellCost*int(r.to-r.from) +
		valueCost*values + nodeCost*(len(g.tree.nodes)-before)
}

// copy puts payloads into large blocks: a hundred thousand small ones would cost
// the collector more than they hold.
func (g *group) copy(payload []byte) []byte {
	const block = 1 << 18
	if len(payload) == 0 {
		return nil
	}
	if cap(g.chunk)-len(g.chunk) < len(payload) {
		g.chunk = make([]byte, 0, max(len(payload), min(block, 64*len(payload))))
	}
	start := len(g.chunk)
	g.chunk = append(g.chunk, payload...)
	return g.chunk[start:len(g.chunk):len(g.chunk)]
}

// Result analyses what was added so far, sorted by queue and type. Further
// payloads may be added after it.
func (c *Corpus) Result() []GroupReport {
	reports := make([]GroupReport, 0, len(c.groups))
	for _, g := range c.groups {
		reports = append(reports, c.analyse(g))
	}
	slices.SortFunc(reports, func(a, b GroupReport) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Type, b.Type))
	})
	return reports
}
