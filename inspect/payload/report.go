package payload

import (
	"slices"
	"strings"
)

// MaxFindings is how many findings of one rule a report keeps. All are counted.
const MaxFindings = 256

// Finding is one rule at one place of a payload. It holds no payload value, so
// that it may be printed where payloads are redacted; names are part of Path.
type Finding struct {
	Rule Rule
	// Path names the value, as $.a.b[0]['odd name']: names that are not ASCII
	// identifiers are quoted as they are, with \' and \\ for quote and backslash;
	// half a surrogate pair shows as U+FFFD. Paths beyond 4 KiB lose their middle.
	Path string
	// Start and End are the bytes of the payload that the rule speaks of. They are
	// equal where something is missing.
	Start, End int
	Message    string
}

// Severity is that of the rule.
func (f Finding) Severity() Severity { return f.Rule.Severity() }

// Fix says what to change at the producer.
func (f Finding) Fix() string { return f.Rule.Fix() }

// Report is what Check says of one payload.
type Report struct {
	// Canonical holds if the payload is its own canonical form.
	Canonical bool
	// Bytes is the canonical form: the payload itself (not a copy) if Canonical, nil
	// if there is none, not nil but empty for zero bytes.
	Bytes    []byte
	Encoding Encoding
	// Findings are in the order of the payload, one for each rule and path, at most
	// MaxFindings for each rule.
	Findings []Finding

	counts [ruleCount]int
}

// Defined says whether the payload has a canonical form.
func (r Report) Defined() bool { return r.Bytes != nil }

// Count is how often a rule fired, also beyond MaxFindings.
func (r Report) Count(rule Rule) int {
	if rule >= ruleCount {
		return 0
	}
	return r.counts[rule]
}

// Omitted is how many findings were counted but not kept.
func (r Report) Omitted() int {
	n := -len(r.Findings)
	for _, count := range r.counts {
		n += count
	}
	return n
}

// Rules lists the rules that fired, sorted by name; empty, not nil, if none did.
func (r Report) Rules() []Rule {
	rules := []Rule{}
	for rule, count := range r.counts {
		if count > 0 {
			rules = append(rules, Rule(rule))
		}
	}
	slices.SortFunc(rules, compareRules)
	return rules
}

// Worst is the highest severity that was found; SeverityUnknown if nothing was.
func (r Report) Worst() Severity {
	worst := SeverityUnknown
	for rule, count := range r.counts {
		if count > 0 {
			worst = max(worst, Rule(rule).Severity())
		}
	}
	return worst
}

func compareRules(a, b Rule) int {
	switch {
	case a.String() < b.String():
		return -1
	case a.String() > b.String():
		return 1
	default:
		return 0
	}
}

// collector keeps the findings of one payload.
type collector struct {
	findings []Finding
	// faultsOnly says that the first finding of each rule of severity Error is
	// wanted, and no other.
	faultsOnly bool
	counts     [ruleCount]int
	kept       [ruleCount]uint16
	offered    [ruleCount]uint16 // findings for which a path was written
	latest     [ruleCount]uint16 // index of the rule's latest finding, plus one
}

// full says that further findings of the rule are only counted. Writing paths for
// millions of findings that turn out to be known costs too much as well.
func (c *collector) full(rule Rule) bool {
	if c.faultsOnly && (c.kept[rule] > 0 || rule.Severity() < Error) {
		return true
	}
	return c.kept[rule] == MaxFindings || c.offered[rule] == 4*MaxFindings
}

// add keeps a finding unless the rule has just spoken of that path: a name and its
// value share one. Paths that were cut may differ in what is missing.
func (c *collector) add(f Finding, cut bool) {
	c.offered[f.Rule]++
	if last := c.latest[f.Rule]; last > 0 && !cut && c.findings[last-1].Path == f.Path {
		return
	}
	c.counts[f.Rule]++
	c.kept[f.Rule]++
	c.findings = append(c.findings, f)
	c.latest[f.Rule] = uint16(len(c.findings))
}

// finish puts the findings in the order of the payload. Only members with one name
// share a path without being neighbours; then the first finding stays.
func (c *collector) finish() {
	byStart := func(a, b Finding) int { return a.Start - b.Start }
	if !slices.IsSortedFunc(c.findings, byStart) {
		slices.SortStableFunc(c.findings, byStart)
	}
	if c.counts[DuplicateKey]+c.counts[LoneSurrogate]+c.counts[InvalidUTF8] == 0 {
		return
	}
	type key struct {
		rule Rule
		path string
	}
	seen := map[key]bool{}
	c.findings = slices.DeleteFunc(c.findings, func(f Finding) bool {
		k := key{f.Rule, f.Path}
		again := seen[k] && !strings.Contains(f.Path, ellipsis)
		seen[k] = true
		if again {
			c.counts[f.Rule]--
		}
		return again
	})
}
