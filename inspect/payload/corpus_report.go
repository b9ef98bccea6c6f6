package payload

import (
	"slices"
)

// GroupReport is what a corpus says of one queue and type.
type GroupReport struct {
	Queue, Type string
	Payloads    int // all that were added
	JSON        int // that are one JSON text
	Defined     int // that have a canonical form
	Analysed    int // that were kept; statistics speak of these
	// Enough says whether there were MinCorpus payloads for statistics.
	Enough bool
	// Volatile and Suspect are the paths of volatile-field and suspect-field, sorted.
	Volatile, Suspect []string
	// Findings are sorted by rule and path.
	Findings []CorpusFinding
	// Clusters are the payloads that become equal once all volatile paths are deleted
	// together, although their canonical forms differ. Collisions are those whose
	// canonical forms are equal and whose bytes differ. Both hold IDs, in the order of
	// Add, and are ordered by their first.
	Clusters, Collisions [][]string
	// Kappa is the share of payloads in Clusters.
	Kappa float64
	// Stats has one entry for each path that holds a scalar, sorted by path.
	Stats []PathStats
}

// CorpusFinding is one corpus rule at one path.
type CorpusFinding struct {
	Rule Rule
	Path string // with [*] for every element of an array
	// Count is how many payloads the finding is about: that have the volatile or
	// suspect field, that collide, that are not JSON, that are null there.
	Count   int
	Message string
	// Kappa is, for volatile-field and suspect-field, the share of payloads that
	// become equal to another one without the path and the others that were deleted
	// with it; Chance the probability of that many equal payloads if only chance made
	// them equal, 1 where it was not asked. Both are 0 for other rules.
	Kappa, Chance float64
	// Examples are two payloads that show the difference; Diff says where. The second
	// is empty where one payload shows it.
	Examples [2]Example
}

// Severity is that of the rule.
func (f CorpusFinding) Severity() Severity { return f.Rule.Severity() }

// Fix says what to change at the producer.
func (f CorpusFinding) Fix() string { return f.Rule.Fix() }

// Example is one payload of a corpus.
type Example struct {
	ID      string
	Payload []byte
}

// maxExample bounds what is kept of a payload only to show it.
const maxExample = 4096

func (e *Example) keepFirst(from Entry) {
	if e.ID == "" && e.Payload == nil {
		e.ID = from.ID
		e.Payload = slices.Clone(from.Payload[:min(len(from.Payload), maxExample)])
	}
}

// PathStats counts the scalars at one path.
type PathStats struct {
	Path     string
	Present  int            // payloads that have one
	Values   int            // scalars
	Distinct int            // different values
	Types    map[string]int // by JSON type: null, boolean, number, string
	Hint     string         // name, strong, weak or none
}

// Paths lists, for each rule that fired, its paths.
func (r GroupReport) Paths() map[Rule][]string {
	paths := map[Rule][]string{}
	for _, f := range r.Findings {
		paths[f.Rule] = append(paths[f.Rule], f.Path)
	}
	return paths
}

func (n *node) stats(path string) PathStats {
	s := PathStats{
		Path: path, Present: n.present, Values: n.values, Distinct: len(n.distinct),
		Types: map[string]int{}, Hint: hintNames[n.hint()],
	}
	for kind := kindNull; kind < kindObject; kind++ {
		if n.kinds[kind] > 0 {
			s.Types[kindNames[kind]] = n.kinds[kind]
		}
	}
	return s
}
