package render

import (
	"encoding/json"
	"io"

	"github.com/idemctl/idemctl/inspect/retry"
)

// SchemaTTL names the contract of `idemctl ttl-calc` with -o json and -o ndjson,
// as published in docs/schema/ttl.v1.json. Times are seconds from the enqueue.
const SchemaTTL = "idemctl.ttl/v1"

// ttlJSON is an answer. The page for people is written from it and from nothing
// else, so that it shows no number that is not in the contract.
type ttlJSON struct {
	Schema string         `json:"schema"`
	Type   *string        `json:"type"`
	Inputs []ttlInputJSON `json:"inputs"`

	// Bounded is false where UnboundedBecause or UnknownBecause says why.
	Bounded          bool             `json:"bounded"`
	UnboundedBecause []string         `json:"unbounded_because"`
	UnknownBecause   []string         `json:"unknown_because"` // what was observed contradicts the inputs
	Lifetime         *ttlLifetimeJSON `json:"lifetime"`        // null: in effect no bound, or unknown

	// SafeUniqueTTL is the proven bound, RecommendedUniqueTTL that and Margin,
	// rounded up. They and Go are null where nothing bounds the life, nobody can say
	// what does, or no time.Duration is long enough.
	SafeUniqueTTL        *retry.Time `json:"safe_unique_ttl_s"`
	Margin               *retry.Time `json:"margin_s"`
	RecommendedUniqueTTL *retry.Time `json:"recommended_unique_ttl_s"`
	Go                   *string     `json:"go"`
	// AskedUniqueTTL is the one that was asked about; null: none was.
	AskedUniqueTTL *retry.Time `json:"asked_unique_ttl_s"`

	Parts     []ttlPartJSON    `json:"parts"`
	Attempts  []ttlAttemptJSON `json:"attempts"`
	Lock      *ttlLockJSON     `json:"lock"`
	RiskCurve []ttlRiskJSON    `json:"risk_curve"`
	Warnings  []ttlWarningJSON `json:"warnings"`
	// Explanation is null unless it was asked for.
	Explanation []string         `json:"explanation"`
	Observed    *ttlObservedJSON `json:"observed"`
}

type ttlInputJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

type ttlLifetimeJSON struct {
	Min  retry.Time `json:"min"`
	Max  retry.Time `json:"max"`
	Mean retry.Time `json:"mean"`
	SD   retry.Time `json:"sd"`
	P50  retry.Time `json:"p50"`
	P95  retry.Time `json:"p95"`
	P99  retry.Time `json:"p99"`

	TruncatedMin     retry.Time  `json:"truncated_min"`
	TruncatedMean    retry.Time  `json:"truncated_mean"`
	Method           string      `json:"method"`
	DelayMin         retry.Time  `json:"delay_min_s"`
	DelayMean        retry.Time  `json:"delay_mean_s"`
	DelayMax         retry.Time  `json:"delay_max_s"`
	ForwardHops      int         `json:"forward_hops"`
	Runs             int         `json:"runs"`
	EffectiveTimeout *retry.Time `json:"effective_timeout_s"` // null: the deadline alone ends a run
}

type ttlPartJSON struct {
	Term   string     `json:"term"`
	Min    retry.Time `json:"min_s"`
	Mean   retry.Time `json:"mean_s"`
	Max    retry.Time `json:"max_s"`
	Source string     `json:"source"`
}

type ttlAttemptJSON struct {
	N         int        `json:"n"`
	Earliest  retry.Time `json:"earliest_s"`
	Latest    retry.Time `json:"latest_s"`
	LatestEnd retry.Time `json:"latest_end_s"`
	// DelayMin and DelayMax are of the delay after this attempt; null after the
	// last one.
	DelayMin *retry.Time `json:"delay_min_s"`
	DelayMax *retry.Time `json:"delay_max_s"`
}

type ttlLockJSON struct {
	Asked        bool       `json:"asked"` // false: the recommended one
	TTL          retry.Time `json:"ttl_s"`
	CountedFrom  string     `json:"counted_from"`
	RiskAtExpiry float64    `json:"risk_at_expiry"`
	FailProb     float64    `json:"fail_prob"`
	Covered      int        `json:"covered_attempts"`
	Attempts     int        `json:"attempts"`
	// BlocksMin and BlocksMax are how long equal work is refused after the archive.
	BlocksMin retry.Time `json:"blocks_min_s"`
	BlocksMax retry.Time `json:"blocks_max_s"`
}

type ttlRiskJSON struct {
	At   retry.Time `json:"t_s"`
	Risk float64    `json:"risk"`
}

type ttlWarningJSON struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func shapeTTL(t *TTL) *ttlJSON {
	s := &ttlJSON{
		Schema: SchemaTTL, Type: text(t.Type), Inputs: []ttlInputJSON{},
		Bounded: len(t.Unbounded) == 0 && len(t.Doubts) == 0, UnboundedBecause: []string{}, UnknownBecause: append([]string{}, t.Doubts...),
		Lifetime: shapeLifetime(t.Lifetime), Lock: shapeTTLLock(t),
		Parts: []ttlPartJSON{}, Attempts: []ttlAttemptJSON{}, RiskCurve: []ttlRiskJSON{}, Warnings: []ttlWarningJSON{},
		Observed: shapeObserved(t.Observed),
	}
	if t.Asked {
		s.AskedUniqueTTL = someTime(t.Params.UniqueTTL)
	}
	for _, in := range t.Inputs {
		s.Inputs = append(s.Inputs, ttlInputJSON(in))
	}
	for _, r := range t.Unbounded {
		s.UnboundedBecause = append(s.UnboundedBecause, r.Text)
	}
	if s.Bounded && t.Lifetime != nil {
		s.SafeUniqueTTL = timeOf(t.Advice.Safe)
		s.Margin = timeOf(max(t.Advice.Safe/100, 60)) // retry: Params.Advise
	}
	if s.Bounded && t.Advice.Go != "" {
		s.RecommendedUniqueTTL, s.Go = timeOf(t.Advice.Recommended), text(t.Advice.Go)
	}
	if t.Lifetime != nil {
		s.Parts = shapeParts(t.Lifetime.Parts)
	}
	for i, a := range t.Attempts {
		shape := ttlAttemptJSON{
			N: a.N, Earliest: retry.Time(a.Earliest), Latest: retry.Time(a.Latest), LatestEnd: retry.Time(a.LatestEnd),
		}
		if i < len(t.Attempts)-1 {
			shape.DelayMin, shape.DelayMax = timeOf(a.DelayMin), timeOf(a.DelayMax)
		}
		s.Attempts = append(s.Attempts, shape)
	}
	for _, r := range t.Risk {
		s.RiskCurve = append(s.RiskCurve, ttlRiskJSON{retry.Time(r.At), r.Alive})
	}
	s.Warnings = shapeWarnings(t.Warnings)
	if t.Explain && t.Lifetime != nil {
		s.Explanation = explainTTL(t)
	}
	return s
}

func shapeParts(parts []retry.Part) []ttlPartJSON {
	out := make([]ttlPartJSON, 0, len(parts))
	for _, p := range parts {
		out = append(out, ttlPartJSON{p.Term.String(), retry.Time(p.Min), retry.Time(p.Mean), retry.Time(p.Max), p.Source})
	}
	return out
}

func shapeWarnings(warnings []retry.Warning) []ttlWarningJSON {
	out := make([]ttlWarningJSON, 0, len(warnings))
	for _, w := range warnings {
		out = append(out, ttlWarningJSON{w.Code.String(), w.Text})
	}
	return out
}

func timeOf(s retry.Seconds) *retry.Time {
	t := retry.Time(s)
	return &t
}

func shapeLifetime(l *retry.Lifetime) *ttlLifetimeJSON {
	if l == nil {
		return nil
	}
	s := &ttlLifetimeJSON{
		Min: retry.Time(l.Min), Max: retry.Time(l.Max), Mean: retry.Time(l.Mean), SD: retry.Time(l.SD),
		P50: retry.Time(l.P50), P95: retry.Time(l.P95), P99: retry.Time(l.P99),
		TruncatedMin: retry.Time(l.TruncatedMin), TruncatedMean: retry.Time(l.TruncatedMean), Method: l.Method.String(),
		DelayMin: retry.Time(l.DelayMin), DelayMean: retry.Time(l.DelayMean), DelayMax: retry.Time(l.DelayMax),
		ForwardHops: l.ForwardHops, Runs: l.Runs,
	}
	if l.EffectiveTimeout > 0 {
		s.EffectiveTimeout = timeOf(l.EffectiveTimeout)
	}
	return s
}

func shapeTTLLock(t *TTL) *ttlLockJSON {
	l := t.Lock
	if l == nil {
		return nil
	}
	return &ttlLockJSON{
		Asked: t.Asked, TTL: retry.Time(l.TTL), CountedFrom: l.CountedFrom.String(),
		RiskAtExpiry: l.AliveAtExpiry, FailProb: l.FailProb, Covered: l.Covered, Attempts: l.Attempts,
		BlocksMin: retry.Time(l.BlocksMin), BlocksMax: retry.Time(l.BlocksMax),
	}
}

// TTLAnswer is one line of a batch: an answer, or why there is none.
type TTLAnswer struct {
	ID     string
	Family retry.Family
	Result any // what retry.Evaluate gives
	Err    error
}

type batchAnswerJSON struct {
	ID     string `json:"id"`
	Family string `json:"family"`
	Result any    `json:"result"`
}

type batchErrorJSON struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// WriteTTLAnswer writes one line of a batch.
func WriteTTLAnswer(w io.Writer, a TTLAnswer) error {
	if a.Err != nil {
		return writeLine(w, batchErrorJSON{a.ID, a.Err.Error()})
	}
	return writeLine(w, batchAnswerJSON{a.ID, a.Family.String(), a.Result})
}

// writeDocument writes one JSON document: for a person with a line for each
// member, else on one line.
func writeDocument(w io.Writer, pretty bool, v any) error {
	if !pretty {
		return writeLine(w, v)
	}
	blob, err := marshal(v)
	if err != nil {
		return err
	}
	out := newOutput(w)
	out.line(indent(json.RawMessage(blob), ""))
	return out.flush()
}
