package tui

// What requests are for.
const (
	slotCounts  slot = "counts"
	slotAudit   slot = "audit"
	slotRows    slot = "rows"
	slotList    slot = "list"
	slotAnew    slot = "anew" // a list that replaces the one shown
	slotDossier slot = "dossier"
	slotText    slot = "text"
	slotLocks   slot = "locks"
	slotPlan    slot = "plan"
	slotApply   slot = "apply"
	slotRuns    slot = "runs"
	slotItems   slot = "items"
	slotContext slot = "context"
	slotPing    slot = "ping"
)
