package render

import (
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// SchemaVerify names the contract of `idemctl journal verify`, as published in
// docs/schema/verify.v1.json.
const SchemaVerify = "idemctl.verify/v1"

// verifyJSON is a verification without its items.
type verifyJSON struct {
	journalHeadJSON
	// Problem says why not every item was looked at; null when all were.
	Problem *string `json:"problem"`
	Run     runJSON `json:"run"`
	Items   int     `json:"items_total"`
	// NotBegun counts planned items that the run never began; null: the journal does
	// not say how many were planned.
	NotBegun *int           `json:"not_begun"`
	Counts   map[string]int `json:"counts"` // of items by proof; none is zero
	Omitted  int            `json:"omitted"`
}

// verifiedJSON is one item, and what can be said of it.
type verifiedJSON struct {
	Item      string  `json:"item"`
	Proof     string  `json:"proof"`
	Words     string  `json:"words"`
	Change    *string `json:"change"`
	Queue     *string `json:"queue"`
	TaskID    *string `json:"task_id"`
	TaskIDHex *string `json:"task_id_hex"`
	Target    *string `json:"target"`
	Type      *string `json:"type"`
	Key       *string `json:"key"`        // what its effect was looked up by
	State     *string `json:"state"`      // now; null: it is gone, or nobody looked
	Status    *string `json:"status"`     // of its key; null: nobody looked
	Reason    *string `json:"reason"`     // why the status is unknown
	AppliedAt *string `json:"applied_at"` // null: no row, or none that says
	LastError *string `json:"last_error"` // of a task that failed again
	Note      *string `json:"note"`
	Outcome   string  `json:"outcome"` // in the journal: done, refused, failed or unknown
	Found     *string `json:"found"`
	Error     *string `json:"error"`
}

func shapeVerified(v *reconcile.Verified) verifiedJSON {
	j := verifiedJSON{
		Item: v.Item, Proof: v.Proof.String(), Words: v.Proof.Words(), Change: text(v.Change), Queue: text(v.Ref.Queue),
		TaskID: text(v.Ref.ID), TaskIDHex: hexOf(v.Ref.ID), Target: text(v.Target), Type: text(v.Type), Key: text(v.ShownKey()),
		AppliedAt: instant(v.AppliedAt), Note: text(v.Note), Outcome: v.Outcome.String(), Found: text(v.Found), Error: text(v.Error),
	}
	if v.Looked() {
		j.Status, j.Reason = text(v.Status.String()), text(v.Reason)
		if v.Task.State != inspect.StateUnknown {
			j.State = text(v.Task.State.String())
		}
	}
	if v.Proof == reconcile.ProofFailed {
		j.LastError = text(v.Task.LastErr)
	}
	return j
}

func shapeVerification(source *JournalSource, run *journal.Summary, sum *reconcile.Verification, problem error) verifyJSON {
	j := verifyJSON{journalHeadJSON: source.head(SchemaVerify), Run: shapeRun(run), Items: sum.Items, Counts: map[string]int{}}
	for proof, n := range sum.ByProof {
		j.Counts[proof.String()] = n
	}
	if sum.Planned > 0 || sum.NotBegun > 0 {
		j.NotBegun = &sum.NotBegun
	}
	if problem != nil {
		j.Problem, j.Complete = text(problemWords(problem)), false
	}
	return j
}
