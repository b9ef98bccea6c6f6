package tui

import (
	"github.com/idemctl/idemctl/inspect"
)

// gathering is a list of tasks that is being read. Where it keeps rows it is
// bounded; else it holds IDs, and rows only around what is shown.
type gathering struct {
	listing Listing
	spine   spine
	rows    map[inspect.Ref]*Row
	keeps   bool // every row
	read    int
	done    bool // there is no more
	full    bool // there is more than is kept
	// failures counts what the filter could not be evaluated for; nil: there is none.
	failures func() int
}

const (
	// maxRows is how many rows a filtered or sorted list keeps.
	maxRows = 20_000
	// cachedRows is about how many are kept of a list that holds IDs.
	cachedRows = 2000
)

func gather(b Backend, q Query) *gathering {
	return &gathering{listing: b.List(q), rows: map[inspect.Ref]*Row{}, keeps: q.Where != nil || q.Whole, failures: q.Failures}
}

// leftOut is for how many tasks that were read the filter could not be evaluated.
func (g *gathering) leftOut() int {
	if g.failures == nil {
		return 0
	}
	return g.failures()
}

// take adds a page.
func (g *gathering) take(p Page) {
	g.read += p.Read
	for i, ref := range p.Refs {
		if g.keeps && g.spine.len() >= maxRows {
			g.full, g.done = true, true
			break
		}
		g.spine.add(ref)
		if i < len(p.Rows) {
			row := p.Rows[i]
			g.rows[ref] = &row
		}
	}
	g.done = g.done || p.Done
	if g.done {
		g.listing.Close()
	}
}

// note stores rows that were read again. Rows that were read in part, since a ledger
// is lost, replace none that are whole.
func (g *gathering) note(rows rowsAnswer, part bool) {
	for i := range rows.rows {
		row := rows.rows[i]
		if part && g.rows[row.Ref] != nil {
			continue
		}
		if old := g.rows[row.Ref]; old != nil && row.Gone() {
			gone := *old // what it was is still of use
			gone.State = inspect.StateUnknown
			row = gone
		}
		g.rows[row.Ref] = &row
	}
	if part {
		return
	}
	for _, ref := range rows.refs {
		if g.rows[ref] == nil {
			g.rows[ref] = &Row{Ref: ref} // nobody knows of it
		}
	}
}

// trim lets go of rows that are far from what is shown.
func (g *gathering) trim(near func(int) inspect.Ref, from, to int) {
	if g.keeps || len(g.rows) <= cachedRows {
		return
	}
	kept := make(map[inspect.Ref]*Row, cachedRows)
	for i := max(0, from-cachedRows/4); i < min(g.spine.len(), to+cachedRows/4); i++ {
		ref := near(i)
		if r := g.rows[ref]; r != nil {
			kept[ref] = r
		}
	}
	g.rows = kept
}
