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

// Codes lists every code this package can report, sorted by name.
func Codes() []Code {
	codes := make([]Code, 0, len(severities))
	for c := range severities {
		codes = append(codes, c)
	}
	for c := range payloadRules {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}

// Severity is the code's severity as documented, where nothing else is known:
// in-doubt is high here, and a warning on a task that still waits; twins are
// high, and info where the rule says that repeating is harmless by nature;
// clock-skew is a warning, and high from the recoverer's allowance of 30 s on.
func (c Code) Severity() Severity {
	if r, ok := payloadRules[c]; ok {
		return payloadSeverities[r.Severity()]
	}
	return severities[c]
}

// Known says whether the code is one of ours.
func (c Code) Known() bool { return c.Severity() != SeverityNone }

// Family is the part before the slash.
func (c Code) Family() string {
	family, _, _ := strings.Cut(string(c), "/")
	return family
}
