package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Verification writes what can be said of the items of a run, the worst first; a
// stream in the order in which it is known.
type Verification struct {
	base
	err error
}

// NewVerification prepares the output in FormatTable, FormatJSON or FormatNDJSON;
// every other format is an error.
func NewVerification(w io.Writer, o Options) (*Verification, error) {
	switch o.filled().Format {
	case FormatTable, FormatJSON, FormatNDJSON:
		return &Verification{base: newBase(w, o.filled())}, nil
	}
	return nil, fmt.Errorf("a verification cannot be written as %s (use table, json or ndjson)", o.Format)
}

// Item takes one item. An error shows when the verification is closed.
func (v *Verification) Item(item reconcile.Verified) {
	if v.err != nil || v.opt.Format == FormatTable && !exceptional(item.Proof) {
		return
	}
	v.n++
	shape := shapeVerified(&item)
	if v.opt.Format == FormatNDJSON {
		if v.n <= v.limit() {
			v.err = writeLine(v.w, shape)
		}
		return
	}
	var blob []byte
	if blob, v.err = marshal(shape); v.err == nil {
		v.err = v.spool.add([]byte{byte(slices.Index(reconcile.Proofs(), item.Proof))}, blob)
	}
}

// exceptional says whether an item is named to a person, and not only counted.
func exceptional(p reconcile.Proof) bool {
	return p.Bad() || p.Open() || p == reconcile.ProofNotChanged || p == reconcile.ProofBack
}

// Discard drops everything without a word.
func (v *Verification) Discard() error { return v.discard() }

// Close writes the rest. A problem says why not every item was looked at.
func (v *Verification) Close(source JournalSource, run *journal.Summary, sum reconcile.Verification, problem error) error {
	if v.err == nil {
		v.err = v.close(&source, run, &sum, problem)
	}
	return errors.Join(v.err, v.discard())
}

func (v *Verification) close(source *JournalSource, run *journal.Summary, sum *reconcile.Verification, problem error) error {
	head := shapeVerification(source, run, sum, problem)
	head.Omitted = v.n - v.limit()
	switch v.opt.Format {
	case FormatNDJSON:
		head.Summary = true
		return writeLine(v.w, head)
	case FormatJSON:
		object, err := marshal(head)
		if err != nil {
			return err
		}
		out := newDocument(v.w, v.opt.TTY)
		out.head(object, "items")
		if err := v.each(out.member); err != nil {
			return err
		}
		return out.end()
	}
	return v.page(source, run, sum, problem)
}

// page is for a person: the run, the counts, and the exceptions by name.
func (v *Verification) page(source *JournalSource, run *journal.Summary, sum *reconcile.Verification, problem error) error {
	p := newPage(v.w, v.opt)
	p.hang(p.verifiedMark(run, sum, problem != nil || len(source.Problems) > 0)+" ", "  ", "Run "+Visible(run.ID)+": "+Visible(verifiedCounts(run, sum))+".", sgrBold)
	p.runFacts(run)
	if sum.Items+sum.NotBegun > 0 {
		p.blank()
		p.proofs(sum)
	}
	if err := v.exceptions(p); err != nil {
		return err
	}
	if problem != nil {
		p.text("Incomplete: "+Visible(problemWords(problem))+".", sgrBold)
	}
	for _, line := range notes(source, 0, "", "") {
		p.text(Visible(line), sgrBold)
	}
	if sum.ByProof[reconcile.ProofOpen] > 0 {
		p.offer("idemctl journal resume")
		p.sameConnection()
	}
	if run.NotBegun > 0 {
		p.blank()
		p.planAgain(run)
	}
	return p.flush()
}

// verifiedMark says what the exit code says: what is wrong, or that somebody has to
// ask again. The rest is the run's own: what it never began decides no exit code, and
// is no reason to call it whole.
func (p *page) verifiedMark(run *journal.Summary, sum *reconcile.Verification, partly bool) string {
	switch {
	case partly:
		return p.with(sgrYellow, "?")
	case sum.Bad() > 0:
		return p.with(sgrRed, "✗")
	case sum.Open() > 0:
		return p.with(sgrYellow, "?")
	case !run.Complete():
		return p.with(sgrYellow, "!")
	}
	return p.with(sgrGreen, "✓")
}

// verifiedCounts says how many items there are, and of how many planned ones nothing
// can be verified.
func verifiedCounts(run *journal.Summary, sum *reconcile.Verification) string {
	words := plural(sum.Items, "item", "items")
	if sum.NotBegun == 0 {
		return words
	}
	if sum.Planned > 0 {
		words += " of " + count(sum.Planned) + " planned"
	}
	words += "; " + count(sum.NotBegun)
	if run.Ended.IsZero() {
		return words + " not begun"
	}
	return words + " never begun (" + cmp.Or(sum.EndedBy, "nobody says why") + ")"
}

// proofs are the counts, the worst first.
func (p *page) proofs(sum *reconcile.Verification) {
	columns := []column{
		{title: "", paint: p.proofSign},
		{title: "PROOF"},
		{title: "ITEMS", right: true},
		{title: "WHICH MEANS", least: 20, paint: p.dim},
	}
	var rows [][]string
	for _, proof := range reconcile.Proofs() {
		if n := sum.ByProof[proof]; n > 0 {
			rows = append(rows, []string{proofMark(proof), proof.String(), count(n), proof.Words()})
		}
	}
	if n := sum.NotBegun; n > 0 {
		rows = append(rows, []string{"=", "not-begun", count(n), "planned, and never tried: as it was"})
	}
	p.grid("", columns, rows)
}

func proofMark(proof reconcile.Proof) string {
	switch {
	case proof.Bad():
		return "!"
	case proof.Open():
		return "?"
	case exceptional(proof):
		return "="
	}
	return "+"
}

func (p *page) proofSign(cell string) string {
	switch cell {
	case "!":
		return p.with(sgrRed, cell)
	case "+":
		return p.with(sgrGreen, cell)
	}
	return p.with(sgrYellow, cell)
}

// exceptions are named, as many as the limit says.
func (v *Verification) exceptions(p *page) error {
	most := v.opt.limited(mostExceptions)
	if most < 0 || most > v.n {
		most = v.n
	}
	if v.n > 0 {
		p.blank()
	}
	n := 0
	err := v.spool.each(func(blob []byte) error {
		if n == most {
			return errEnough
		}
		n++
		var j verifiedJSON
		if err := json.Unmarshal(blob, &j); err != nil {
			return err
		}
		p.exception(&j)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if v.n > most {
		p.text(plural(v.n-most, "more", "more")+" like these; --limit -1 names all", sgrDim)
	}
	return nil
}

func (p *page) exception(j *verifiedJSON) {
	subject := "item " + Visible(j.Item)
	switch {
	case j.TaskID != nil:
		subject = joined(Visible(word(j.Queue))+"/"+Visible(*j.TaskID), Visible(word(j.Type)), word(j.State))
	case j.Target != nil:
		subject = joined(subject, Visible(*j.Target))
	}
	mark := "!"
	for _, proof := range reconcile.Proofs() {
		if proof.String() == j.Proof {
			mark = proofMark(proof)
		}
	}
	p.hang(p.proofSign(mark)+" ", "  ", subject, sgrBold)
	words := j.Proof + ": " + j.Words
	for _, more := range []*string{j.LastError, j.Note, j.Found, j.Error} {
		if more != nil {
			words += "; " + Visible(*more)
		}
	}
	p.hang("  ", "  ", words+".", "")
}
