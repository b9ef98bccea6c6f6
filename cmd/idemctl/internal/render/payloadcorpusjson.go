package render

import (
	"github.com/idemctl/idemctl/inspect/payload"
)

// SchemaCorpus names the contract of `idemctl payload corpus` with -o json and
// -o ndjson, as published in docs/schema/payloadcorpus.v1.json.
const SchemaCorpus = "idemctl.corpus/v1"

// corpusJSON is one queue and type.
type corpusJSON struct {
	Schema string `json:"schema"`
	// Complete is false when not all payloads were read; Problem then says why.
	Complete   bool                     `json:"complete"`
	Problem    *string                  `json:"problem"`
	Queue      *string                  `json:"queue"`
	Type       *string                  `json:"type"` // null: not known
	Payloads   int                      `json:"payloads"`
	JSON       int                      `json:"json"`     // that are one JSON text
	Defined    int                      `json:"defined"`  // that have a canonical form
	Analysed   int                      `json:"analysed"` // that the statistics speak of
	Enough     bool                     `json:"enough"`   // whether statistics were drawn
	Volatile   []string                 `json:"volatile"`
	Suspect    []string                 `json:"suspect"`
	Rules      map[string][]string      `json:"rules"`
	Clusters   [][]string               `json:"clusters"`
	Collisions [][]string               `json:"collisions"`
	Stats      map[string]pathStatsJSON `json:"stats"`
	Kappa      float64                  `json:"kappa"`
	Evidence   []evidenceJSON           `json:"evidence"`
}

type pathStatsJSON struct {
	Present  int            `json:"present"`
	Values   int            `json:"values"`
	Distinct int            `json:"distinct"`
	Types    map[string]int `json:"types"`
	Hint     string         `json:"hint"`
}

// evidenceJSON is one finding with what it rests on.
type evidenceJSON struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Count    int    `json:"count"` // payloads it is about
	Message  string `json:"message"`
	Fix      string `json:"fix"`
	// Kappa and Chance are null for rules that ask for neither.
	Kappa  *float64 `json:"kappa"`
	Chance *float64 `json:"chance"`
	// Examples are the payloads that show the difference: none, one or two.
	Examples []string `json:"examples"`
	// Differ are the paths at which the two examples differ.
	Differ []string `json:"differ"`
}

func shapeCorpus(r *payload.GroupReport, e PayloadEnd) corpusJSON {
	s := corpusJSON{
		Schema: SchemaCorpus, Complete: e.Complete, Problem: text(e.Problem),
		Queue: text(r.Queue), Type: text(r.Type),
		Payloads: r.Payloads, JSON: r.JSON, Defined: r.Defined, Analysed: r.Analysed, Enough: r.Enough,
		Volatile: listOf(r.Volatile), Suspect: listOf(r.Suspect), Rules: map[string][]string{},
		Clusters: listOf(r.Clusters), Collisions: listOf(r.Collisions),
		Stats: map[string]pathStatsJSON{}, Kappa: r.Kappa, Evidence: []evidenceJSON{},
	}
	for rule, paths := range r.Paths() {
		s.Rules[rule.String()] = paths
	}
	for _, p := range r.Stats {
		s.Stats[p.Path] = pathStatsJSON{Present: p.Present, Values: p.Values, Distinct: p.Distinct, Types: p.Types, Hint: p.Hint}
	}
	for i := range r.Findings {
		s.Evidence = append(s.Evidence, shapeEvidence(&r.Findings[i]))
	}
	return s
}

func shapeEvidence(f *payload.CorpusFinding) evidenceJSON {
	s := evidenceJSON{
		Rule: f.Rule.String(), Severity: f.Severity().String(), Path: f.Path, Count: f.Count,
		Message: f.Message, Fix: f.Fix(), Examples: []string{}, Differ: []string{},
	}
	if f.Rule == payload.VolatileField || f.Rule == payload.SuspectField {
		s.Kappa, s.Chance = &f.Kappa, &f.Chance
	}
	for _, x := range f.Examples {
		if x.ID != "" || x.Payload != nil {
			s.Examples = append(s.Examples, x.ID)
		}
	}
	if len(s.Examples) == 2 {
		for _, at := range differing(f, payload.Diff(f.Examples[0].Payload, f.Examples[1].Payload)) {
			s.Differ = append(s.Differ, at.path)
		}
	}
	return s
}

// listOf is [] in JSON, and never null.
func listOf[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// place is where two examples of a corpus differ.
type place struct {
	path string
	a, b payload.Range
}

// mostPlaces is how many paths are named at which examples differ.
const mostPlaces = 20

// differing are the paths at which the examples of a finding differ: in value, or
// for rules that speak of spelling only in that.
func differing(f *payload.CorpusFinding, d payload.Difference) []place {
	var places []place
	for _, c := range d.Values {
		places = append(places, place{c.Path, c.A, c.B})
	}
	for _, s := range d.Spellings {
		if len(d.Values) == 0 || f.Rule == payload.KeyOrderVaries {
			places = append(places, place{s.Path, s.A, s.B})
		}
	}
	return places[:min(len(places), mostPlaces)]
}
