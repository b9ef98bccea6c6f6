package reconcile

import "github.com/idemctl/idemctl/inspect/payload"

// PayloadCode is the code of a payload rule, such as payload/whitespace. An audit
// says those of the form rules that are errors and those of the corpus rules; the
// others hold for one payload at a time, and `explain` and `payload check` name them.
func PayloadCode(r payload.Rule) Code { return Code("payload/" + r.String()) }

// payloadSeverities maps what a rule means for a lock onto what it means at night.
var payloadSeverities = map[payload.Severity]Severity{
	payload.Info: SeverityInfo, payload.Warn: SeverityWarning, payload.Error: SeverityHigh,
}

var payloadRules = rulesByCode()

func rulesByCode() map[Code]payload.Rule {
	rules := map[Code]payload.Rule{}
	for _, r := range payload.Rules() {
		rules[PayloadCode(r)] = r
	}
	return rules
}

// Told says whether an audit can say the code. The payload rules that are no more
// than hints in a single payload are known, so that they can be ignored by name,
// and never told.
func (c Code) Told() bool {
	r, ok := payloadRules[c]
	return !ok || r.Scope() == payload.ScopeCorpus || r.Severity() == payload.Error
}
