package render

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/timeline"
)

// ttlFaces are the ways in which an answer is looked at.
var ttlFaces = []struct {
	name   string
	format Format
	width  int
	tty    bool
	color  bool
}{
	{"terminal-80.txt", FormatTable, 80, true, false},
	{"terminal-160.txt", FormatTable, 160, true, false},
	{"terminal-80-color.txt", FormatTable, 80, true, true},
	{"pipe.tsv", FormatTable, 0, false, false},
	{"terminal.json", FormatJSON, 80, true, false},
}

func parseParams(t testing.TB, text string) retry.Params {
	t.Helper()
	p, err := retry.ParseParams([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answerOf computes an answer as the command does.
func answerOf(t testing.TB, p retry.Params) *TTL {
	t.Helper()
	a := &TTL{Params: p, FailProb: 1, Unbounded: p.Unbounded(), Asked: p.UniqueTTL != nil}
	l, err := p.Lifetime()
	if err != nil {
		t.Fatal(err)
	}
	a.Lifetime, a.Warnings = &l, l.Warnings
	if a.Attempts, err = p.Attempts(); err != nil {
		t.Fatal(err)
	}
	if a.Advice, err = p.Advise(); err != nil {
		t.Fatal(err)
	}
	if !a.Asked && a.Advice.Go != "" && len(a.Unbounded) == 0 {
		p.UniqueTTL = &a.Advice.Recommended
	}
	if p.UniqueTTL != nil {
		lock, err := p.Lock(1)
		if err != nil {
			t.Fatal(err)
		}
		a.Lock = &lock
	}
	if l.SD > 0 {
		at := []retry.Seconds{l.Min, l.Mean - l.SD, l.P50, l.Mean + l.SD, l.P99}
		slices.Sort(at)
		risks, err := p.Risk(1, at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range at {
			a.Risk = append(a.Risk, TTLRisk{at[i], risks[i]})
		}
	}
	return a
}

// sampleAnswers are answers of every kind.
func sampleAnswers(t testing.TB) map[string]*TTL {
	t.Helper()
	list := map[string]*TTL{}
	for name, text := range map[string]string{
		"default":   `{"exec":{"typical":2}}`,
		"short":     `{"max_retry":8,"delay":"exponential(base=30s, factor=2, cap=1h, jitter=20%)","timeout_s":60,"exec":{"typical":2},"queue_wait":{"min":1,"max":600},"crashes":2,"process_in_s":90,"unique_ttl_s":3600,"period_s":600}`,
		"constant":  `{"max_retry":0,"timeout_s":30}`,
		"unbounded": `{"max_retry":3,"requeues":null,"is_failure":"may_be_false","exec":{"typical":1}}`,
		"endless":   `{"max_retry":400,"timeout_s":5}`,
		"fast":      `{"max_retry":2,"delay":"fixed(100ms)","forward_interval_s":0.1,"timeout_s":1,"exec":{"max":0.05}}`,
	} {
		list[name] = answerOf(t, parseParams(t, text))
	}
	list["short"].Type, list["short"].Explain = "payment:charge", true
	list["short"].Inputs = []TTLInput{{"max_retry", "8", "--max-retry"}, {"delay", "default", "config.yaml:12:7"}}
	list["short"].Observed = sampleObserved()
	doubted := parseParams(t, `{"unique_ttl_s":1200}`)
	list["doubted"] = &TTL{
		Type: "payment:charge", Params: doubted, FailProb: 1, Asked: true, Observed: sampleObserved(),
		Inputs: []TTLInput{{"max_retry", "25", "5 tasks in default"}, {"delay", "default", "asynq: server.go: DefaultRetryDelayFunc"}},
		Doubts: []string{"1 of 4 delays seen of payment:charge in default contradict the policy default, which nobody declared: declare the true one"},
	}
	many := retry.DefaultParams()
	many.MaxRetry = 20_000
	list["too many"] = &TTL{Params: many, Unbounded: many.Unbounded()}
	return list
}

// sampleObserved is a Redis with everything in it.
func sampleObserved() *TTLObserved {
	c := observed.NewCollector(func(observed.Kind) retry.Params { return retry.DefaultParams() })
	c.Servers([]inspect.Server{{
		Status: "active", Queues: map[string]int{"default": 1},
		Workers: []inspect.Worker{{Ref: inspect.Ref{Queue: "default", ID: "a"}, Type: "payment:charge", StartedAt: sampleNow.Add(-12 * time.Second)}},
	}}, sampleNow, func(observed.Kind) bool { return true })
	c.Schedules([]inspect.Schedule{{
		Spec: "@every 1h", Type: "report:daily", Next: sampleNow.Add(time.Minute),
		Options: []string{`Queue("default")`, "Unique(7200000000000)", "Unique(2h0m0s)", "MaxRetry(3)", "Timeout(1m0s)"},
	}}, func(observed.Kind) bool { return true })
	for i, delay := range []time.Duration{31 * time.Second, 50 * time.Second, 75 * time.Second, 4000 * time.Second} {
		c.Task(inspect.Task{
			Ref: inspect.Ref{Queue: "default", ID: string(rune('p' + i))}, Type: "payment:charge", State: inspect.StateRetry,
			Retried: 1 + i%3, MaxRetry: 25, Timeout: 30 * time.Minute, UniqueKey: "k",
			LastFailedAt: sampleNow.Add(-5 * time.Second), NextProcessAt: sampleNow.Add(delay - 5*time.Second),
		}, &inspect.Lock{Key: "k", Held: i > 0, Owner: string(rune('p' + i)), TTL: time.Hour}, sampleNow)
	}
	c.Task(inspect.Task{
		Ref: inspect.Ref{Queue: "default", ID: "w"}, Type: "payment:charge", State: inspect.StatePending,
		MaxRetry: 25, Timeout: 30 * time.Minute, UniqueKey: "w", PendingSince: sampleNow.Add(-90 * time.Second),
	}, &inspect.Lock{Key: "w", Held: true, Owner: "w", TTL: 2*time.Hour - 90*time.Second}, sampleNow)
	o := &TTLObserved{At: sampleNow, Complete: true, Tasks: 5, Servers: 1}
	for _, f := range c.Facts() {
		k := TTLKind{Facts: f, Declared: retry.DefaultParams(), Verdict: TTLUnlocked}
		if f.Type == "payment:charge" {
			ttl, need := retry.Seconds(7200), retry.Seconds(1819745)
			k.InUse, k.InUseFrom, k.Needed, k.Go = &ttl, "1 lock seen", &need, "asynq.Unique(22 * 24 * time.Hour)"
			k.Verdict, k.By, k.Why = TTLTooShort, need-ttl, "a task that fails on outlives its lock"
		}
		o.Kinds = append(o.Kinds, k)
	}
	return o
}

func written(t testing.TB, o Options, a *TTL) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTTL(&b, o, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnswersKeepTheirFaces(t *testing.T) {
	for name, a := range sampleAnswers(t) {
		for _, face := range ttlFaces {
			if name != "short" && name != "default" && face.name != "terminal-80.txt" {
				continue
			}
			t.Run(name+"/"+face.name, func(t *testing.T) {
				o := sampleOptions(face.format, face.width, face.tty)
				o.Color = face.color
				golden(t, "ttl-"+strings.ReplaceAll(name, " ", "-")+"-"+face.name, written(t, o, a))
			})
		}
	}
}

func TestFirstLineIsTheGoCodeAlone(t *testing.T) {
	a := sampleAnswers(t)["default"]
	for _, o := range []Options{sampleOptions(FormatTable, 80, true), sampleOptions(FormatTable, 0, false), sampleOptions(FormatWide, 0, false)} {
		first, _, _ := strings.Cut(written(t, o, a), "\n")
		if first != "asynq.Unique(22 * 24 * time.Hour)" {
			t.Errorf("first line is %q", first)
		}
	}
}

// A recommendation without a bound behind it would be taken for safe.
func TestUnboundedLifeIsGivenNoTTL(t *testing.T) {
	for _, name := range []string{"unbounded", "too many"} {
		a := sampleAnswers(t)[name]
		for _, o := range []Options{sampleOptions(FormatTable, 80, true), sampleOptions(FormatTable, 0, false), sampleOptions(FormatJSON, 0, false)} {
			if out := written(t, o, a); strings.Contains(out, "asynq.Unique(") {
				t.Errorf("%s: a TTL is recommended:\n%s", name, out)
			}
		}
		s := shapeTTL(a)
		if s.Bounded || s.RecommendedUniqueTTL != nil || s.SafeUniqueTTL != nil || len(s.UnboundedBecause) == 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

var clockToken = regexp.MustCompile(`-?\d+(\.\d+)?(y|d|h|m|s)( \d+(d|h|m|s))*`)

// numbersIn collects all numbers of a JSON document.
func numbersIn(v any, all *[]float64) {
	switch v := v.(type) {
	case float64:
		*all = append(*all, v)
	case []any:
		for _, e := range v {
			numbersIn(e, all)
		}
	case map[string]any:
		for _, e := range v {
			numbersIn(e, all)
		}
	}
}

// TestPageShowsNoTimeThatTheDocumentLacks reads every time on the page, but for
// the round times of an axis and the texts of warnings and inputs, and wants it
// to be a time of the document, rounded one way or the other.
func TestPageShowsNoTimeThatTheDocumentLacks(t *testing.T) {
	for name, a := range sampleAnswers(t) {
		a.Warnings, a.Inputs, a.Explain = nil, nil, false
		var document any
		if err := json.Unmarshal([]byte(written(t, sampleOptions(FormatJSON, 0, false), a)), &document); err != nil {
			t.Fatal(err)
		}
		var numbers []float64
		numbersIn(document, &numbers)
		known := map[string]bool{}
		for _, n := range numbers {
			for _, r := range []timeline.Rounding{timeline.RoundNearest, timeline.RoundDown, timeline.RoundUp} {
				known[timeline.Clock(retry.Seconds(n), r)] = true
				known[exact(retry.Time(n), r)] = true
			}
		}
		for _, e := range observedTexts(document) {
			known[e] = true
		}
		page := written(t, sampleOptions(FormatTable, 160, true), a)
		checked := 0
		for line := range strings.Lines(page) {
			if onlyTicks(line) {
				continue
			}
			for _, token := range clockToken.FindAllString(line, -1) {
				checked++
				if !known[token] {
					t.Errorf("%s: the document does not have %q of %q", name, token, line)
				}
			}
		}
		if checked == 0 && name != "too many" {
			t.Errorf("%s: no time on the page", name)
		}
	}
}

// observedTexts are the texts of a document that hold times as written elsewhere.
func observedTexts(document any) []string {
	var out []string
	blob, _ := json.Marshal(document)
	for _, m := range regexp.MustCompile(`"(?:value|declared|spec|go|why)":"([^"]*)"`).FindAllStringSubmatch(string(blob), -1) {
		out = append(out, clockToken.FindAllString(m[1], -1)...)
	}
	return out
}

// onlyTicks says whether a line is the labels of an axis.
func onlyTicks(line string) bool {
	fields := strings.Fields(line)
	return len(fields) > 0 && fields[0] == "0"
}

func TestPageFitsTheTerminal(t *testing.T) {
	for name, a := range sampleAnswers(t) {
		for _, cells := range []int{40, 57, 80, 119, 160} {
			t.Run(name, func(t *testing.T) { fits(t, cells, written(t, sampleOptions(FormatTable, cells, true), a)) })
		}
	}
}

func TestHostileNamesOfTypesReachNoTerminal(t *testing.T) {
	for _, text := range tricks {
		a := sampleAnswers(t)["short"]
		a.Type, a.Inputs[0].Source, a.Inputs[0].Value = text, text, text
		k := &a.Observed.Kinds[0]
		k.Type, k.Queue, k.Why, k.InUseFrom = text, text, text, text
		if len(k.Entries) > 0 {
			k.Entries[0].Spec = text
		}
		if len(k.Locks.First) > 0 {
			k.Locks.First[0].Ref.ID = text
		}
		for _, f := range TTLFormats() {
			for _, tty := range []bool{true, false} {
				unseen(t, written(t, sampleOptions(f, 80, tty), a))
				unseen(t, writtenAll(t, sampleOptions(f, 80, tty), a.Observed))
			}
		}
		fits(t, 80, written(t, sampleOptions(FormatTable, 80, true), a))
		fits(t, 80, writtenAll(t, sampleOptions(FormatTable, 80, true), a.Observed))
	}
}

func publishedTTL(t *testing.T, file, fragment string) *jsonschema.Schema {
	t.Helper()
	return publishedPayload(t, file, fragment)
}

func TestAnswersAreAsPublished(t *testing.T) {
	s := publishedTTL(t, "ttl.v1.json", "")
	for _, a := range sampleAnswers(t) {
		for _, o := range []Options{sampleOptions(FormatJSON, 80, true), sampleOptions(FormatJSON, 0, false), sampleOptions(FormatNDJSON, 0, false)} {
			validate(t, s, written(t, o, a))
		}
	}
}

func TestBatchLinesAreAsPublished(t *testing.T) {
	s := publishedTTL(t, "ttl.v1.json", "#/$defs/answer")
	for _, text := range []string{
		`{"id":"1","family":"lifetime","params":{"max_retry":3}}`,
		`{"id":"2","family":"lock_ttl","unique_ttl_s":0.5}`,
		`{"id":"3","family":"unbounded","params":{"requeues":null}}`,
	} {
		q, err := retry.ParseRequest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a := TTLAnswer{ID: q.ID, Family: q.Family}
		a.Result, a.Err = retry.Evaluate(q)
		var b bytes.Buffer
		if err := WriteTTLAnswer(&b, a); err != nil {
			t.Fatal(err)
		}
		validate(t, s, b.String())
	}
}

func TestPictureIsOneAndEscapesNames(t *testing.T) {
	for name, a := range sampleAnswers(t) {
		if a.Lifetime == nil {
			continue
		}
		a.Type = `<script>&"x`
		for kind, begins := range map[Picture]string{PictureSVG: "<svg", PicturePNG: "\x89PNG"} {
			var b bytes.Buffer
			if err := PlotTTL(&b, kind, a); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.Contains(b.String()[:200], begins) || strings.Contains(b.String(), "<script>") {
				t.Errorf("%s: no picture of that kind, or a name with power: %.200q", name, b.String())
			}
		}
	}
	if _, err := ParsePicture(".gif"); err == nil {
		t.Error("a gif would be an svg")
	}
}
