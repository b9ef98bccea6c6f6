package render

import (
	"time"

	"github.com/idemctl/idemctl/inspect/retry"
)

// SchemaRetention names the contract of `idemctl ledger retention` with -o json,
// as published in docs/schema/retention.v1.json.
const SchemaRetention = "idemctl.retention/v1"

type retentionJSON struct {
	Schema  string               `json:"schema"`
	Policy  retentionPolicyJSON  `json:"policy"`
	Sliding bool                 `json:"sliding"`
	Rules   []retentionRuleJSON  `json:"rules"`
	Tables  []retentionTableJSON `json:"tables"`
}

type retentionPolicyJSON struct {
	DupHorizon retry.Time  `json:"dup_horizon_s"`
	Archive    retry.Time  `json:"archive_s"`
	Reruns     int         `json:"reruns"`
	Zombie     *retry.Time `json:"zombie_s"` // null: as long as the longest run
	Skew       retry.Time  `json:"skew_s"`
}

type retentionRuleJSON struct {
	Number           int              `json:"rule"` // 0: parameters alone
	Type             *string          `json:"type"`
	Queue            *string          `json:"queue"`
	Inputs           []ttlInputJSON   `json:"inputs"`
	Bounded          bool             `json:"bounded"`
	UnboundedBecause []string         `json:"unbounded_because"`
	Fixed            retry.Time       `json:"fixed_s"`
	Sliding          retry.Time       `json:"sliding_s"`
	LongestGap       retry.Time       `json:"longest_gap_s"`
	Parts            []ttlPartJSON    `json:"parts"`
	Warnings         []ttlWarningJSON `json:"warnings"`
}

type retentionTableJSON struct {
	Ledger    string      `json:"ledger"`
	Kind      string      `json:"kind"`
	Table     string      `json:"table"`
	Column    string      `json:"column"`
	At        *string     `json:"at"`
	Roles     []string    `json:"roles"`
	Needed    *retry.Time `json:"needed_s"`
	Declared  *retry.Time `json:"configured_s"`
	Forever   bool        `json:"forever"`
	Empty     bool        `json:"empty"`
	OldestAt  *string     `json:"oldest_at"`
	OldestAge *retry.Time `json:"oldest_age_s"`
	Verdict   string      `json:"verdict"`
	Why       *string     `json:"why"`
	Statement *string     `json:"statement"`
}

func shapeRetention(r *Retention) *retentionJSON {
	s := &retentionJSON{
		Schema: SchemaRetention, Sliding: r.Sliding, Rules: []retentionRuleJSON{}, Tables: []retentionTableJSON{},
		Policy: retentionPolicyJSON{
			DupHorizon: retry.Time(r.Policy.DupHorizon), Archive: retry.Time(r.Policy.Archive),
			Reruns: r.Policy.Reruns, Zombie: someTime(r.Policy.Zombie), Skew: retry.Time(r.Policy.Skew),
		},
	}
	for i := range r.Rules {
		s.Rules = append(s.Rules, shapeRetentionRule(&r.Rules[i]))
	}
	for i := range r.Tables {
		s.Tables = append(s.Tables, shapeRetentionTable(&r.Tables[i]))
	}
	return s
}

func shapeRetentionRule(r *RetentionRule) retentionRuleJSON {
	s := retentionRuleJSON{
		Number: r.Number, Type: text(r.Type), Queue: text(r.Queue), Inputs: []ttlInputJSON{},
		Bounded: r.Need.Bounded, UnboundedBecause: []string{},
		Fixed: retry.Time(r.Need.Fixed), Sliding: retry.Time(r.Need.Sliding), LongestGap: retry.Time(r.Need.LongestGap),
		Parts: shapeParts(r.Need.Parts), Warnings: shapeWarnings(r.Need.Warnings),
	}
	for _, in := range r.Inputs {
		s.Inputs = append(s.Inputs, ttlInputJSON(in))
	}
	for _, why := range r.Need.UnboundedBecause {
		s.UnboundedBecause = append(s.UnboundedBecause, why.Text)
	}
	return s
}

func shapeRetentionTable(t *RetentionTable) retentionTableJSON {
	s := retentionTableJSON{
		Ledger: t.Ledger, Kind: t.Kind, Table: t.Table, Column: t.Column, At: text(t.At), Roles: listOf(t.Roles),
		Needed: someTime(t.Needed), Declared: someDuration(t.Declared), Forever: t.Forever,
		Empty: t.Empty, OldestAt: instant(t.Oldest), Verdict: t.Verdict.String(), Why: text(t.Why), Statement: text(t.Statement),
	}
	if !t.Oldest.IsZero() {
		age := fromDuration(max(0, t.Age.Truncate(time.Millisecond)))
		s.OldestAge = &age
	}
	return s
}
