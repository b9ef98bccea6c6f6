package reconcile

// Status is what the sources of a rule say of one key: the effect status.
type Status uint8

const (
	// StatusUnknown: no rule matches, the key cannot be built, its ledger could
	// not be read, or an absence proves nothing here. Never read as not applied.
	StatusUnknown Status = iota
	// StatusApplied: every mark and effect source has a row that passes its when.
	StatusApplied
	// StatusNotApplied: no mark or effect source has a row.
	StatusNotApplied
	// StatusInProgress: a row exists, and none passes its when.
	StatusInProgress
	// StatusPartial: at least one mark or effect source passes and at least one
	// does not.
	StatusPartial
	// StatusNatural: the rule's class is idempotent by nature and names no source.
	StatusNatural
)

var statusNames = [...]string{"unknown", "applied", "not-applied", "in-progress", "partial", "natural"}

// Statuses lists every status, unknown last, in the order reports use.
func Statuses() []Status {
	return []Status{
		StatusApplied, StatusNotApplied, StatusInProgress,
		StatusPartial, StatusNatural, StatusUnknown,
	}
}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return statusNames[StatusUnknown]
}

// Absent says whether the status rests on a row that was not there. Only a
// second look at the ledger makes such a status sound.
func (s Status) Absent() bool {
	return s == StatusNotApplied || s == StatusInProgress || s == StatusPartial
}

// Reason says why a status is unknown or an effect unsettled. The zero value
// is no reason.
type Reason string

const (
	ReasonNone Reason = ""

	// Reasons of StatusUnknown.
	ReasonNoRule       Reason = "no-rule"        // no rule matches the task's type and queue
	ReasonKeyMissing   Reason = "key-missing"    // the key expression yields nothing a source can hold
	ReasonLedger       Reason = "ledger-unread"  // the ledger could not be read, or not any more
	ReasonReplica      Reason = "replica-lag"    // a replica cannot prove an absence
	ReasonRetention    Reason = "past-retention" // the rows may have been pruned since
	ReasonNotAtomic    Reason = "not-atomic"     // mark and effect are not one transaction
	ReasonEmptySource  Reason = "empty-source"   // the table has no row at all
	ReasonNoSource     Reason = "no-source"      // the rule names no source, and its class needs one
	ReasonUndecodable  Reason = "undecodable"    // the stored message cannot be read
	ReasonStateUnknown Reason = "state-unknown"  // no structure or hash names the task's state

	// Reasons of effect/unsettled.
	ReasonSettling Reason = "settling"         // too soon after the last sign of life
	ReasonTwin     Reason = "twin"             // another task of the same key is live or unsettled
	ReasonWriter   Reason = "open-transaction" // an older transaction still writes to a source
	ReasonChanging Reason = "changing"         // task and row would not hold still
)
