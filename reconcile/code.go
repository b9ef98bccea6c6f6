package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// Severity orders findings. The zero value is SeverityNone: no finding.
type Severity uint8

const (
	SeverityNone Severity = iota
	SeverityInfo
	SeverityWarning
	SeverityHigh
	SeverityCritical
)

var severityNames = [...]string{"none", "info", "warning", "high", "critical"}

// Severities lists the severities of findings, highest first.
func Severities() []Severity {
	return []Severity{SeverityCritical, SeverityHigh, SeverityWarning, SeverityInfo}
}

func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[SeverityNone]
}

// ParseSeverity reads a severity's name; "none" is SeverityNone.
func ParseSeverity(name string) (Severity, error) {
	for i, n := range severityNames {
		if strings.EqualFold(n, name) {
			return Severity(i), nil
		}
	}
	return SeverityNone, fmt.Errorf("unknown severity %q (one of %s)", name, strings.Join(severityNames[:], ", "))
}

// Code names a kind of finding. Codes are public API: scripts depend on them.
type Code string

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
	CodeKeyMissing   Code = "identity/key-missing"
	CodeKeyCollision Code = "identity/key-collision"
	CodeIDShared     Code = "identity/id-shared"
	CodeStaleMark    Code = "identity/stale-mark"
)

// The findings on a task type's two brackets.
const (
	CodeUnprotected   Code = "coverage/unprotected"
	CodeUnclassified  Code = "coverage/unclassified"
	CodeNoUniqueIndex Code = "coverage/no-unique-index"
	CodeEntryOnly     Code = "coverage/entry-only"
	CodeExitOnly      Code = "coverage/exit-only"
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

	CodeKeyMissing:   SeverityHigh,
	CodeKeyCollision: SeverityHigh,
	CodeIDShared:     SeverityHigh,
	CodeStaleMark:    SeverityHigh,

	CodeUnprotected:   SeverityCritical,
	CodeUnclassified:  SeverityWarning,
	CodeNoUniqueIndex: SeverityCritical,
	CodeEntryOnly:     SeverityHigh,
	CodeExitOnly:      SeverityInfo,
}

// Codes lists every code this package can report, sorted by name.
func Codes() []Code {
	codes := make([]Code, 0, len(severities))
	for c := range severities {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}

// Severity is the code's severity as documented. in-doubt is high here; on a
// task that still waits its finding carries a warning.
func (c Code) Severity() Severity { return severities[c] }

// Known says whether the code is one of ours.
func (c Code) Known() bool { _, ok := severities[c]; return ok }

// Family is the part before the slash.
func (c Code) Family() string {
	family, _, _ := strings.Cut(string(c), "/")
	return family
}
