package payload

import (
	"fmt"
	"slices"
	"strings"
)

// Severity orders what a rule means for a lock. The zero value is
// SeverityUnknown; larger is worse.
type Severity uint8

// Severities of rules.
const (
	SeverityUnknown Severity = iota
	Info                     // context
	Warn                     // differs from producer to producer, or usually from enqueue to enqueue
	Error                    // equal works get different locks, or meaning is lost
)

var severityNames = [...]string{"unknown", "info", "warn", "error"}

// String is "info", "warn", "error" or "unknown".
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[SeverityUnknown]
}

// Scope says what a rule looks at. The zero value is ScopeUnknown.
type Scope uint8

// Scopes of rules.
const (
	ScopeUnknown Scope = iota
	ScopeForm          // the bytes of one payload
	ScopeValue         // the values of one payload
	ScopeCorpus        // many payloads of one type and queue
)

// Rule names one way in which a payload, or a corpus of payloads, endangers the
// lock. The zero value is RuleUnknown. The text form (see String) is public: it
// is what scripts match.
type Rule uint8

// Rules, in the order of their documentation: form, then value, then corpus.
const (
	RuleUnknown Rule = iota

	NotJSON             // not one JSON text
	BOM                 // a UTF-8 byte order mark before a JSON text
	InvalidUTF8         // bytes inside strings that are not UTF-8
	LoneSurrogate       // an unpaired \uD800–\uDFFF escape
	DuplicateKey        // two members of one object with one name
	Whitespace          // insignificant whitespace
	TrailingNewline     // a final \n or \r\n
	KeyOrder            // members not sorted by UTF-16 code units
	HTMLEscape          // \u003c, \u003e or \u0026
	StringEscape        // another escape whose canonical spelling differs
	NumberFormat        // a number that is not spelled canonically
	NegativeZero        // zero with a minus sign
	NumberPrecisionLoss // a non-integer that no double spells exactly
	NumberOutOfRange    // a number that is infinite as a double
	EmptyPayload        // zero bytes

	NumberUnsafeInteger // an integer beyond ±(2^53−1)
	FloatNumber         // a non-integer with a canonical spelling
	TimestampSubsecond  // a time with a fraction of a second
	TimestampEpoch      // a Unix time finer than seconds under a time-like name
	TimestampSecond     // a time of whole seconds
	RandomID            // a UUID of version 1, 4, 6 or 7, or a ULID
	VolatileName        // a member whose name says that it is set per enqueue
	NullMember          // an object member that is null
	UnicodeNotNFC       // a string or name that normalisation form C changes
	EmbeddedJSON        // JSON inside a string, not canonical
	DoubleEncoded       // JSON that was encoded twice

	VolatileField      // a path that differs although the work is the same
	SuspectField       // a path that may be a volatile field
	CanonicalCollision // equal canonical forms, different bytes
	KeyOrderVaries     // two names occur in both orders
	ArrayOrderVaries   // payloads that differ only in the order of one array
	NullAbsentMix      // null in some payloads, missing in others
	TypeMix            // two JSON types besides null at one path
	FloatJitter        // payloads that differ only in the last digits of one number
	UnicodeVariant     // payloads that only normalisation form C makes equal
	EncodingMix        // JSON and other encodings in one type

	ruleCount
)

type ruleText struct {
	name     string
	severity Severity
	fix      string
}

var ruleTexts = [ruleCount]ruleText{
	RuleUnknown: {"unknown", SeverityUnknown, ""},

	NotJSON:             {"not-json", Warn, "write JSON, or protobuf marshalled deterministically and without maps; give the work its identity with TaskID"},
	BOM:                 {"bom", Error, "write UTF-8 without a byte order mark"},
	InvalidUTF8:         {"invalid-utf8", Error, "encode strings as UTF-8 before marshalling"},
	LoneSurrogate:       {"lone-surrogate", Error, "reject the string at the producer; half a surrogate pair is not text"},
	DuplicateKey:        {"duplicate-key", Error, "write each member once"},
	Whitespace:          {"whitespace", Error, "write compact JSON (json.Marshal, or separators=(',',':') in Python)"},
	TrailingNewline:     {"trailing-newline", Error, "use json.Marshal, not json.Encoder, or trim the newline"},
	KeyOrder:            {"key-order", Info, "keep one struct for the type, or marshal a map or with sorted keys everywhere"},
	HTMLEscape:          {"html-escape", Warn, "marshal with Encoder.SetEscapeHTML(false) and trim the newline"},
	StringEscape:        {"string-escape", Warn, "let one encoder write the type; Go before 1.22 writes \\u0008 and \\u000c where newer writes \\b and \\f"},
	NumberFormat:        {"number-format", Error, "write integers as integers and decimals as strings"},
	NegativeZero:        {"negative-zero", Error, "turn -0 into 0 at the producer"},
	NumberPrecisionLoss: {"number-precision-loss", Error, "write the decimal as a string"},
	NumberOutOfRange:    {"number-out-of-range", Error, "write the number as a string"},
	EmptyPayload:        {"empty-payload", Info, "pass nil everywhere: asynq gives nil and []byte{} different locks"},

	NumberUnsafeInteger: {"number-unsafe-integer", Warn, "write the identifier as a string"},
	FloatNumber:         {"float-number", Warn, "use minor units (cents) or a decimal string"},
	TimestampSubsecond:  {"timestamp-subsecond", Warn, "drop the time, or truncate it to the period the work belongs to"},
	TimestampEpoch:      {"timestamp-epoch", Warn, "drop the time, or truncate it to the period the work belongs to"},
	TimestampSecond:     {"timestamp-second", Info, "make sure that it is a business time, not the time of the enqueue"},
	RandomID:            {"random-id", Info, "fine if it is the identity of the work and a retry of the enqueue keeps it"},
	VolatileName:        {"volatile-name", Warn, "move it to the task's headers (asynq v0.26), which are not part of the lock"},
	NullMember:          {"null-member", Info, "use omitempty in every producer, or in none"},
	UnicodeNotNFC:       {"unicode-not-nfc", Warn, "normalise with norm.NFC at the producer"},
	EmbeddedJSON:        {"embedded-json", Warn, "make it canonical and embed it as json.RawMessage"},
	DoubleEncoded:       {"double-encoded", Warn, "marshal once; a []byte that is marshalled becomes base64"},

	VolatileField:      {"volatile-field", Error, "take the field out of the payload; headers (asynq v0.26) are not part of the lock"},
	SuspectField:       {"suspect-field", Warn, "if the field is not part of the work's identity, take it out of the payload"},
	CanonicalCollision: {"canonical-collision", Error, "let one encoder write the type, and write canonical JSON"},
	KeyOrderVaries:     {"key-order-varies", Error, "marshal with sorted keys"},
	ArrayOrderVaries:   {"array-order-varies", Warn, "sort the array before marshalling if its order has no meaning"},
	NullAbsentMix:      {"null-absent-mix", Warn, "use omitempty in every producer, or in none"},
	TypeMix:            {"type-mix", Warn, "give the member one JSON type"},
	FloatJitter:        {"float-jitter", Warn, "use minor units (cents) or a decimal string"},
	UnicodeVariant:     {"unicode-variant", Warn, "normalise with norm.NFC at the producer"},
	EncodingMix:        {"encoding-mix", Error, "let every producer of the type use one encoding"},
}

// String is the rule's public name, such as "key-order".
func (r Rule) String() string {
	if r < ruleCount {
		return ruleTexts[r].name
	}
	return ruleTexts[RuleUnknown].name
}

// Severity is the rule's severity; SeverityUnknown for RuleUnknown.
func (r Rule) Severity() Severity {
	if r < ruleCount {
		return ruleTexts[r].severity
	}
	return SeverityUnknown
}

// Fix says what to change at the producer.
func (r Rule) Fix() string {
	if r < ruleCount {
		return ruleTexts[r].fix
	}
	return ""
}

// Scope says whether the rule looks at bytes, at values, or at many payloads.
func (r Rule) Scope() Scope {
	switch {
	case r == RuleUnknown || r >= ruleCount:
		return ScopeUnknown
	case r <= EmptyPayload:
		return ScopeForm
	case r <= DoubleEncoded:
		return ScopeValue
	default:
		return ScopeCorpus
	}
}

// MarshalText writes the public name.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a public name, as ParseRule does.
func (r *Rule) UnmarshalText(text []byte) error {
	parsed, err := ParseRule(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// ParseRule finds the rule with that public name.
func ParseRule(name string) (Rule, error) {
	for r := RuleUnknown + 1; r < ruleCount; r++ {
		if ruleTexts[r].name == name {
			return r, nil
		}
	}
	return RuleUnknown, fmt.Errorf("unknown payload rule %q: use one of %s", name, strings.Join(ruleNames(), ", "))
}

// Rules lists all rules in the order of their documentation.
func Rules() []Rule {
	rules := make([]Rule, 0, ruleCount-1)
	for r := RuleUnknown + 1; r < ruleCount; r++ {
		rules = append(rules, r)
	}
	return rules
}

func ruleNames() []string {
	names := make([]string, 0, ruleCount-1)
	for _, r := range Rules() {
		names = append(names, r.String())
	}
	slices.Sort(names)
	return names
}
