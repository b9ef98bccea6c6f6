package render

import "github.com/idemctl/idemctl/inspect/payload"

// ruleWords are what a report says of a payload rule besides the rule's own fix.
type ruleWords struct {
	why string // what becomes of the lock if nothing is changed
	fix string // what to write in Go; "" where the rule's own fix says it all
}

// wordsOfRule has an entry for every rule.
var wordsOfRule = map[payload.Rule]ruleWords{
	payload.NotJSON: {
		"no rule can look inside, so nobody sees which bytes vary from enqueue to enqueue",
		`b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)`,
	},
	payload.BOM: {
		"three bytes that no editor shows make another lock for the same text",
		`b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))`,
	},
	payload.InvalidUTF8: {
		"Go reads every bad byte as U+FFFD: several payloads, and locks, mean one thing",
		`if !utf8.ValidString(s) { return fmt.Errorf("%q is not UTF-8", s) }`,
	},
	payload.LoneSurrogate: {
		"Go reads it as U+FFFD: texts that differ become one, and their locks do not",
		"",
	},
	payload.DuplicateKey: {
		"readers disagree on which one counts, so one lock stands for two works",
		"",
	},
	payload.Whitespace: {
		"a blank is a byte: the same work, written compactly, takes another lock",
		`b, err := json.Marshal(v) // other people's JSON: json.Compact`,
	},
	payload.TrailingNewline: {
		"the newline is a byte: the same work, written by json.Marshal, takes another lock",
		`b, err := json.Marshal(v) // json.Encoder adds a newline`,
	},
	payload.KeyOrder: {
		"fine while one struct writes the type; a map or another producer orders otherwise",
		`b, err := json.Marshal(map[string]any{"id": id, "day": day})`,
	},
	payload.HTMLEscape: {
		"Go escapes < > & where other producers do not: the same text takes another lock",
		`enc := json.NewEncoder(&buf); enc.SetEscapeHTML(false)`,
	},
	payload.StringEscape: {
		"another encoder spells this text otherwise, and its bytes take another lock",
		"",
	},
	payload.NumberFormat: {
		"the same number in another spelling takes another lock",
		"Amount int64 `json:\"amount_cents\"` // not float64, not json.Number",
	},
	payload.NegativeZero: {
		"0 and -0 are one number and two locks",
		`if x == 0 { x = 0 } // drops the sign`,
	},
	payload.NumberPrecisionLoss: {
		"readers see a neighbouring number: another amount, or one amount under two locks",
		"Amount string `json:\"amount\"` // \"0.10000000000000001\"",
	},
	payload.NumberOutOfRange: {
		"Go refuses it as float64 and other readers see infinity",
		"Amount string `json:\"amount\"`",
	},
	payload.EmptyPayload: {
		"asynq locks a nil payload and an empty one apart",
		`asynq.NewTask("report:daily", nil) // never []byte{}`,
	},

	payload.NumberUnsafeInteger: {
		"JavaScript and every float64 round it to a neighbour, which is another task's",
		"ID int64 `json:\"id,string\"`",
	},
	payload.FloatNumber: {
		"sums of floats differ in the last digit, and one digit is another lock",
		"Amount int64 `json:\"amount_cents\"`",
	},
	payload.TimestampSubsecond: {
		"a clock reading differs at every enqueue: the lock never stops a duplicate",
		`day := at.UTC().Truncate(24 * time.Hour) // or leave it out`,
	},
	payload.TimestampEpoch: {
		"a clock reading differs at every enqueue: the lock never stops a duplicate",
		`day := at.UTC().Truncate(24 * time.Hour).Unix() // or leave it out`,
	},
	payload.TimestampSecond: {
		"if it is the time of the enqueue, it differs at every enqueue",
		"",
	},
	payload.RandomID: {
		"if every enqueue makes a new one, no two enqueues share a lock",
		"",
	},
	payload.VolatileName: {
		"it is set anew at every enqueue: the lock never stops a duplicate",
		`asynq.NewTaskWithHeaders(typename, b, headers)`,
	},
	payload.NullMember: {
		"null here and nothing there are two spellings of the same work",
		"Note *string `json:\"note,omitempty\"`",
	},
	payload.UnicodeNotNFC: {
		"the same letters composed otherwise, as another keyboard does, take another lock",
		`name = norm.NFC.String(name) // golang.org/x/text/unicode/norm`,
	},
	payload.EmbeddedJSON: {
		"the inner text can be spelled in many ways, and every one is another lock",
		"Event json.RawMessage `json:\"event\"`",
	},
	payload.DoubleEncoded: {
		"the inner text can be spelled in many ways, and every one is another lock",
		`asynq.NewTask(typename, b) // b is marshalled already`,
	},

	payload.VolatileField: {
		"the same work is enqueued under ever new locks: none of them stops a duplicate",
		`asynq.NewTaskWithHeaders(typename, b, headers)`,
	},
	payload.SuspectField: {
		"if the field is not part of the work, its locks stop no duplicate",
		"",
	},
	payload.CanonicalCollision: {
		"the same work holds several locks right now",
		`b, err = payload.Canonical(b) // idemctl/inspect/payload`,
	},
	payload.KeyOrderVaries: {
		"every order of the same members is another lock",
		`b, err := json.Marshal(m) // maps are written in sorted order`,
	},
	payload.ArrayOrderVaries: {
		"every order of the same elements is another lock",
		`slices.Sort(v.MemberIDs)`,
	},
	payload.NullAbsentMix: {
		"null here and nothing there are two locks for the same work",
		"Note *string `json:\"note,omitempty\"`",
	},
	payload.TypeMix: {
		"42 and \"42\" are two locks for the same work",
		"",
	},
	payload.FloatJitter: {
		"the same amount, added up in another order, takes another lock",
		"Amount int64 `json:\"amount_cents\"`",
	},
	payload.UnicodeVariant: {
		"the same letters, composed otherwise, take another lock",
		`name = norm.NFC.String(name) // golang.org/x/text/unicode/norm`,
	},
	payload.EncodingMix: {
		"the same work in another encoding takes another lock",
		"",
	},
}

// shapeOf is a payload severity's sign, told apart without colour.
func shapeOf(s payload.Severity) string {
	switch s {
	case payload.Error:
		return "✗"
	case payload.Warn:
		return "!"
	case payload.Info:
		return "·"
	default:
		return "✓"
	}
}

// sgrOf colours a payload severity.
func sgrOf(s payload.Severity) string {
	switch s {
	case payload.Error:
		return sgrRed
	case payload.Warn:
		return sgrYellow
	case payload.Info:
		return sgrDim
	default:
		return sgrGreen
	}
}
