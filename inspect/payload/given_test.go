package payload

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// givenCase is a payload with its known right answer.
type givenCase struct {
	ID        string         `json:"id"`
	Payload   []byte         `json:"payload_b64"`
	Canonical bool           `json:"canonical"`
	Form      []byte         `json:"canonical_b64"`
	Findings  []givenFinding `json:"findings"`
	Encoding  string         `json:"encoding"`
}

type givenFinding struct {
	Rule Rule   `json:"rule"`
	Path string `json:"path"`
}

// givenCorpus is a set of payloads of one type with what must, may and must not
// be said of them.
type givenCorpus struct {
	entries []Entry

	Type           string                `json:"type"`
	Volatile       []string              `json:"volatile"`
	AtLeastSuspect []string              `json:"at_least_suspect"`
	MayFlag        []string              `json:"may_flag"`
	MustNotFlag    []string              `json:"must_not_flag"`
	Rules          map[Rule][]string     `json:"rules"`
	MustNotRules   []Rule                `json:"must_not_rules"`
	Clusters       []givenClusters       `json:"clusters"`
	Collisions     [][]string            `json:"collisions"`
	JSONPayloads   int                   `json:"json_payloads"`
	Stats          map[string]givenStats `json:"stats"`
	Chance         *givenChance          `json:"chance"`
}

type givenClusters struct {
	Removed []string   `json:"removed"`
	Groups  [][]string `json:"groups"`
}

type givenStats struct {
	Present  int            `json:"present"`
	Values   int            `json:"values"`
	Distinct int            `json:"distinct"`
	Types    map[string]int `json:"types"`
}

type givenChance struct {
	EqualPairs int     `json:"equal_pairs"`
	Lambda     float64 `json:"lambda"`
	P          float64 `json:"p"`
}

func checkGiven(t *testing.T, c givenCase) {
	t.Helper()
	r := Check(c.Payload)
	if r.Canonical != c.Canonical {
		t.Errorf("canonical = %v, want %v", r.Canonical, c.Canonical)
	}
	if !bytes.Equal(r.Bytes, c.Form) || (r.Bytes == nil) != (c.Form == nil) {
		t.Errorf("canonical form = %q, want %q", r.Bytes, c.Form)
	}
	if c.Encoding != "" && r.Encoding.String() != c.Encoding {
		t.Errorf("encoding = %v, want %v", r.Encoding, c.Encoding)
	}
	var got, want []string
	for _, f := range r.Findings {
		got = append(got, f.Rule.String()+" "+f.Path)
	}
	for _, f := range c.Findings {
		want = append(want, f.Rule.String()+" "+f.Path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("findings of %q:\n got %s\nwant %s", c.Payload, strings.Join(got, "; "), strings.Join(want, "; "))
	}
}

func TestCheckAgreesWithGivenCases(t *testing.T) {
	for _, c := range givenCases(t) {
		t.Run(c.ID, func(t *testing.T) { checkGiven(t, c) })
	}
}

func TestCorpusAgreesWithGivenCorpora(t *testing.T) {
	for name, corpus := range givenCorpora(t) {
		t.Run(name, func(t *testing.T) { checkCorpus(t, corpus) })
	}
}

func checkCorpus(t *testing.T, want givenCorpus) {
	t.Helper()
	var c Corpus
	for _, e := range want.entries {
		c.Add(e)
	}
	reports := c.Result()
	if len(reports) != 1 {
		t.Fatalf("%d groups, want 1", len(reports))
	}
	got := reports[0]
	flagged := slices.Concat(got.Volatile, got.Suspect)
	for _, path := range want.Volatile {
		if !slices.Contains(got.Volatile, path) {
			t.Errorf("%s is not volatile", path)
		}
	}
	for _, path := range want.AtLeastSuspect {
		if !slices.Contains(flagged, path) {
			t.Errorf("%s is not even suspect", path)
		}
	}
	for _, path := range flagged {
		if slices.Contains(want.MustNotFlag, path) ||
			!slices.Contains(slices.Concat(want.Volatile, want.AtLeastSuspect, want.MayFlag), path) {
			t.Errorf("%s is flagged", path)
		}
	}
	paths := got.Paths()
	for rule, where := range want.Rules {
		slices.Sort(where)
		if !slices.Equal(paths[rule], where) {
			t.Errorf("%v at %v, want %v", rule, paths[rule], where)
		}
	}
	for _, rule := range want.MustNotRules {
		if len(paths[rule]) > 0 {
			t.Errorf("%v at %v, want none", rule, paths[rule])
		}
	}
	var clusters [][]string
	for _, c := range want.Clusters {
		if slices.Equal(c.Removed, got.Volatile) {
			clusters = c.Groups
		}
	}
	compareLists(t, "clusters", got.Clusters, clusters)
	compareLists(t, "collisions", got.Collisions, want.Collisions)
	if got.JSON != want.JSONPayloads {
		t.Errorf("%d JSON payloads, want %d", got.JSON, want.JSONPayloads)
	}
	if len(got.Stats) != len(want.Stats) {
		t.Errorf("statistics for %d paths, want %d", len(got.Stats), len(want.Stats))
	}
	for _, s := range got.Stats {
		w := want.Stats[s.Path]
		if s.Present != w.Present || s.Values != w.Values || s.Distinct != w.Distinct || !maps.Equal(s.Types, w.Types) {
			t.Errorf("%s: %+v, want %+v", s.Path, s, w)
		}
	}
	if want.Chance != nil {
		checkChance(t, &c, want)
	}
}

func checkChance(t *testing.T, c *Corpus, want givenCorpus) {
	t.Helper()
	for _, g := range c.groups {
		a := &analysis{group: g, corpus: c, following: map[[2]int32]bool{}, report: &GroupReport{Enough: true}}
		a.transpose()
		a.findFieldsThatVary()
		pairs := a.groupBy(a.remainders(a.volatile)).equalPairs()
		if int(pairs) != want.Chance.EqualPairs {
			t.Errorf("%v equal pairs, want %d", pairs, want.Chance.EqualPairs)
		}
		if p := a.chance(a.volatile, pairs); math.Abs(p-want.Chance.P) > 0.005 {
			t.Errorf("chance %.4f, want %.4f", p, want.Chance.P)
		}
	}
}

func compareLists(t *testing.T, what string, got, want [][]string) {
	t.Helper()
	text := func(lists [][]string) string {
		var lines []string
		for _, list := range lists {
			list = slices.Sorted(slices.Values(list))
			lines = append(lines, strings.Join(list, " "))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	if text(got) != text(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, text(got), text(want))
	}
}
