package retry

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// vectorFile is a file of given right answers, by family.
type vectorFile map[string][]vector

// vector is one question with its answer. What is not part of the question is
// named here; everything else goes to ParseRequest as it stands.
type vector struct {
	ID        string
	Request   []byte
	Expect    map[string]any
	Truncated map[string]float64
	Parts     map[string]float64
	Tolerance map[string]float64
}

// answers are the members of a vector that a request must not have.
var answers = []string{"expect", "expect_truncated", "parts", "tol", "mc_sim", "mc_ideal", "sampled"}

func readVectors(t testing.TB, path string) vectorFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var families map[string]json.RawMessage
	if err := json.Unmarshal(data, &families); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out := vectorFile{}
	for family, raw := range families {
		if family == "about" {
			continue
		}
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatalf("%s: %s: %v", path, family, err)
		}
		for _, fields := range list {
			out[family] = append(out[family], newVector(t, family, fields))
		}
	}
	return out
}

func newVector(t testing.TB, family string, fields map[string]json.RawMessage) vector {
	t.Helper()
	var v vector
	for name, dst := range map[string]any{
		"id": &v.ID, "expect": &v.Expect, "expect_truncated": &v.Truncated, "parts": &v.Parts, "tol": &v.Tolerance,
	} {
		if raw, ok := fields[name]; ok {
			if err := json.Unmarshal(raw, dst); err != nil {
				t.Fatalf("%s %s: %s: %v", family, v.ID, name, err)
			}
		}
	}
	for _, name := range answers {
		delete(fields, name)
	}
	fields["family"] = json.RawMessage(`"` + family + `"`)
	request, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	v.Request = request
	return v
}

// defaultTolerance is for values that a vector gives no tolerance for.
const defaultTolerance = 0.5

func (v vector) tolerance(name string) float64 {
	if tol, ok := v.Tolerance[name]; ok {
		return tol
	}
	if name == "sd" {
		return max(defaultTolerance, v.Tolerance["mean"])
	}
	return defaultTolerance
}

// TestVectors answers every given question through ParseRequest and Evaluate,
// and every other file of that shape that IDEMCTL_TTL_VECTORS names.
func TestVectors(t *testing.T) {
	paths := []string{"testdata/lifetime-vectors.json"}
	if more := os.Getenv("IDEMCTL_TTL_VECTORS"); more != "" {
		paths = append(paths, more)
	}
	for _, path := range paths {
		families := readVectors(t, path)
		if len(families) == 0 {
			t.Fatalf("%s holds no vectors", path)
		}
		for family, list := range families {
			for _, v := range list {
				t.Run(family+"/"+v.ID, func(t *testing.T) { v.check(t) })
			}
		}
	}
}

func (v vector) check(t *testing.T) {
	r, err := ParseRequest(v.Request)
	if err != nil {
		t.Fatalf("request refused: %v\n%s", err, v.Request)
	}
	answer, err := Evaluate(r)
	if want, ok := v.Expect["error"].(string); ok {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("error %v, want one that says %q", err, want)
		}
		return
	}
	if err != nil {
		t.Fatalf("no answer: %v\n%s", err, v.Request)
	}
	got := asMap(t, answer)
	for name, want := range v.Expect {
		if name == "why" {
			if why, _ := got[name].(string); (why == "") != (got["bounded"] == true) {
				t.Errorf("bounded %v with why %q", got["bounded"], why)
			}
			continue
		}
		v.compare(t, name, got[name], want)
	}
	for name, want := range v.Truncated {
		v.compare(t, "truncated_"+name, got["truncated_"+name], want)
	}
	if v.Parts != nil {
		v.checkParts(t, r.Params)
	}
}

func (v vector) compare(t *testing.T, name string, got, want any) {
	t.Helper()
	number, ok := want.(float64)
	if !ok {
		if got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		return
	}
	have, ok := got.(float64)
	tol := v.tolerance(strings.TrimPrefix(name, "truncated_"))
	if !ok || math.Abs(have-number) > tol {
		t.Errorf("%s is %v, want %v ± %v", name, got, number, tol)
	}
}

func (v vector) checkParts(t *testing.T, p Params) {
	t.Helper()
	l, err := p.Lifetime()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]float64{
		"delay_min": float64(l.DelayMin), "delay_mean": float64(l.DelayMean), "delay_max": float64(l.DelayMax),
		"forward_hops": float64(l.ForwardHops), "runs": float64(l.Runs), "effective_timeout_s": float64(l.EffectiveTimeout),
	} {
		if want, ok := v.Parts[name]; ok {
			v.compare(t, name, got, want)
		}
	}
}

func asMap(t *testing.T, answer any) map[string]any {
	t.Helper()
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
