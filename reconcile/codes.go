package reconcile

// The findings on effects: one task's state against its key's status.
const (
	CodeAppliedActive   Code = "effect/applied-active"
	CodeAppliedOrphaned Code = "effect/applied-orphaned"
	CodeAppliedWaiting  Code = "effect/applied-waiting"
	CodeAppliedRetry    Code = "effect/applied-retry"
	CodeAppliedArchived Code = "effect/applied-archived"
	CodeOrphaned        Code = "effect/orphaned"
	CodeLost            Code = "effect/lost"
	CodeUnsettled       Code = "effect/unsettled"
	CodeUnmarked        Code = "effect/unmarked"
	CodeInDoubt         Code = "effect/in-doubt"
	CodePartial         Code = "effect/partial"
	CodeRerunnable      Code = "effect/rerunnable"
	CodeUnknown         Code = "effect/unknown"
	CodeParked          Code = "effect/parked"
	CodeStaleClaim      Code = "effect/stale-claim"
	CodeDuplicated      Code = "effect/duplicated"
	CodeMismatch        Code = "effect/mismatch"
)

// The findings on keys and task IDs.
const (
	CodeKeyMissing    Code = "identity/key-missing"
	CodeKeyCollision  Code = "identity/key-collision"
	CodeIDBlocked     Code = "identity/id-blocked"
	CodeIDShared      Code = "identity/id-shared"
	CodeStaleMark     Code = "identity/stale-mark"
	CodeGroupedTaskID Code = "identity/grouped-task-id"
)

// The findings on uniqueness locks.
const (
	CodeLockBlocks       Code = "lock/blocks"
	CodeLockExpiresEarly Code = "lock/expires-early"
	CodeLockLost         Code = "lock/lost"
	CodeLockTaken        Code = "lock/taken"
	CodeLockTwin         Code = "lock/twin"
	CodeLockOrphaned     Code = "lock/orphaned"
	CodeLockPhantom      Code = "lock/phantom"
	CodeLockDrift        Code = "lock/drift"
	CodeLockTicking      Code = "lock/ticking-while-paused"
	CodeLockCrossQueue   Code = "lock/cross-queue"
)

// The findings on retries.
const (
	CodeRetryDuplicate   Code = "retry/duplicate-effect"
	CodeRetryUncounted   Code = "retry/uncounted"
	CodeRetryPolicyDrift Code = "retry/policy-drift"
	CodeDeadlinePassed   Code = "retry/deadline-passed"
)

// The findings on what a queue's own lists hide.
const (
	CodeGhost             Code = "integrity/ghost"
	CodeResultOnly        Code = "integrity/result-only"
	CodeDangling          Code = "integrity/dangling"
	CodeUndecodable       Code = "integrity/undecodable"
	CodeNoLease           Code = "integrity/no-lease"
	CodeStaleLease        Code = "integrity/stale-lease"
	CodeGroupUnregistered Code = "integrity/group-unregistered"
	CodeResidue           Code = "integrity/residue"
	CodeStateMismatch     Code = "integrity/state-mismatch"
	CodeArchiveFull       Code = "integrity/archive-full"
	CodeArchiveExpiring   Code = "integrity/archive-expiring"
	CodeQueueUnserved     Code = "integrity/queue-unserved"
	CodeClockSkew         Code = "integrity/clock-skew"
)

// The findings on a task type's two brackets.
const (
	CodeUnprotected        Code = "coverage/unprotected"
	CodeUnclassified       Code = "coverage/unclassified"
	CodeNoUniqueIndex      Code = "coverage/no-unique-index"
	CodeEntryOnly          Code = "coverage/entry-only"
	CodeSchedulerDuplicate Code = "coverage/scheduler-duplicate"
	CodeExitOnly           Code = "coverage/exit-only"
)

var severities = map[Code]Severity{
	CodeAppliedActive:   SeverityInfo,
	CodeAppliedOrphaned: SeverityHigh,
	CodeAppliedWaiting:  SeverityWarning,
	CodeAppliedRetry:    SeverityWarning,
	CodeAppliedArchived: SeverityHigh,
	CodeOrphaned:        SeverityWarning,
	CodeLost:            SeverityHigh,
	CodeUnsettled:       SeverityInfo,
	CodeUnmarked:        SeverityCritical,
	CodeInDoubt:         SeverityHigh,
	CodePartial:         SeverityCritical,
	CodeRerunnable:      SeverityInfo,
	CodeUnknown:         SeverityWarning,
	CodeParked:          SeverityInfo,
	CodeStaleClaim:      SeverityHigh,
	CodeDuplicated:      SeverityCritical,
	CodeMismatch:        SeverityCritical,

	CodeKeyMissing:    SeverityHigh,
	CodeKeyCollision:  SeverityHigh,
	CodeIDBlocked:     SeverityWarning,
	CodeIDShared:      SeverityHigh,
	CodeStaleMark:     SeverityHigh,
	CodeGroupedTaskID: SeverityWarning,

	CodeLockBlocks:       SeverityWarning,
	CodeLockExpiresEarly: SeverityWarning,
	CodeLockLost:         SeverityHigh,
	CodeLockTaken:        SeverityHigh,
	CodeLockTwin:         SeverityHigh,
	CodeLockOrphaned:     SeverityWarning,
	CodeLockPhantom:      SeverityWarning,
	CodeLockDrift:        SeverityWarning,
	CodeLockTicking:      SeverityWarning,
	CodeLockCrossQueue:   SeverityInfo,

	CodeRetryDuplicate:   SeverityHigh,
	CodeRetryUncounted:   SeverityWarning,
	CodeRetryPolicyDrift: SeverityWarning,
	CodeDeadlinePassed:   SeverityWarning,

	CodeGhost:             SeverityHigh,
	CodeResultOnly:        SeverityWarning,
	CodeDangling:          SeverityHigh,
	CodeUndecodable:       SeverityHigh,
	CodeNoLease:           SeverityHigh,
	CodeStaleLease:        SeverityWarning,
	CodeGroupUnregistered: SeverityHigh,
	CodeResidue:           SeverityInfo,
	CodeStateMismatch:     SeverityHigh,
	CodeArchiveFull:       SeverityWarning,
	CodeArchiveExpiring:   SeverityWarning,
	CodeQueueUnserved:     SeverityWarning,
	CodeClockSkew:         SeverityWarning,

	CodeUnprotected:        SeverityCritical,
	CodeUnclassified:       SeverityWarning,
	CodeNoUniqueIndex:      SeverityCritical,
	CodeEntryOnly:          SeverityHigh,
	CodeSchedulerDuplicate: SeverityHigh,
	CodeExitOnly:           SeverityInfo,
}
