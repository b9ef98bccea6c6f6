package render

import (
	"io"

	"github.com/idemctl/idemctl/inspect/retry"
)

// TTL is one answer to how long a lock must live, with all that it rests on.
type TTL struct {
	Type   string // "": of no type in particular
	Inputs []TTLInput
	Params retry.Params
	// FailProb is the chance that one attempt fails, which the risks are for.
	FailProb float64

	Unbounded []retry.Reason
	// Doubts are why nobody can say how long such a task lives: what was observed
	// contradicts Params. Then nothing that follows from them is here.
	Doubts []string
	// Lifetime and Attempts are those of a task that fails every attempt, as long
	// as none of Unbounded comes true; nil where there is in effect no bound.
	Lifetime *retry.Lifetime
	Attempts []retry.Attempt
	Advice   retry.Advice
	// Lock is judged: the one that was asked about, else the recommended one; nil
	// where there is none to judge.
	Lock  *retry.Lock
	Asked bool
	// Risk is the chance that a task still lives, where it falls. For a FailProb of
	// 1 its points are evenly spaced, else they are on the timeline's axis. Empty
	// where all lives are equally long.
	Risk []TTLRisk

	Warnings []retry.Warning
	// Explain adds the formula with the numbers in it.
	Explain bool
	// Observed is what Redis shows; nil where it was not asked.
	Observed *TTLObserved
}

// TTLInput is a parameter with the place its value comes from.
type TTLInput struct{ Name, Value, Source string }

// TTLRisk is the chance that a task is still alive at a time after its enqueue.
type TTLRisk struct {
	At    retry.Seconds
	Alive float64
}

// TTLFormats are the formats of ttl-calc.
func TTLFormats() []Format { return []Format{FormatTable, FormatWide, FormatJSON, FormatNDJSON} }

// WriteTTL writes an answer. People get a page, a pipe the Go code in the first
// line and plain columns below it.
func WriteTTL(w io.Writer, o Options, t *TTL) error {
	o = o.filled()
	shape := shapeTTL(t)
	switch {
	case o.Format == FormatJSON:
		return writeDocument(w, o.TTY, shape)
	case o.Format == FormatNDJSON:
		return writeLine(w, shape)
	case !o.TTY && o.Format != FormatWide:
		return plainTTL(w, o, shape)
	}
	p := &ttlPage{page: newPage(w, o), ttlJSON: shape, axis: t.timeline(), wide: o.Format == FormatWide}
	if p.wide && !o.TTY {
		p.width = widePipe
	}
	p.write()
	return p.flush()
}

// widePipe is the width of a page that is asked for with -o wide in a pipe.
const widePipe = 160
