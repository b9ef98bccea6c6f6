package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// text is a string that need not be UTF-8, in its two spellings.
type text struct {
	plain  string
	base64 []byte
}

func spell(s string) text {
	if utf8.ValidString(s) {
		return text{plain: s}
	}
	return text{base64: []byte(s)}
}

func unspell(plain string, base64 []byte) string {
	if base64 != nil {
		return string(base64)
	}
	return plain
}

// spellID is an ID readably, and in hexadecimal where that is not the ID itself.
func spellID(id string) (readable, exact string) {
	if utf8.ValidString(id) {
		return id, ""
	}
	return strings.ToValidUTF8(id, string(utf8.RuneError)), hex.EncodeToString([]byte(id))
}

func unspellID(readable, exact string) (string, error) {
	if exact == "" {
		return readable, nil
	}
	id, err := hex.DecodeString(exact)
	return string(id), err
}

type recordJSON struct {
	Schema        string          `json:"schema"`
	Seq           uint64          `json:"seq"`
	Kind          string          `json:"kind"`
	Run           string          `json:"run"`
	Item          string          `json:"item,omitempty"`
	At            time.Time       `json:"at"`
	Operator      string          `json:"operator,omitempty"`
	OperatorB64   []byte          `json:"operator_b64,omitempty"`
	Host          string          `json:"host,omitempty"`
	HostB64       []byte          `json:"host_b64,omitempty"`
	Context       string          `json:"context,omitempty"`
	ContextB64    []byte          `json:"context_b64,omitempty"`
	Command       string          `json:"command,omitempty"`
	CommandB64    []byte          `json:"command_b64,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	ReasonB64     []byte          `json:"reason_b64,omitempty"`
	PlanDigest    string          `json:"plan_digest,omitempty"`
	PlanDigestB64 []byte          `json:"plan_digest_b64,omitempty"`
	Server        string          `json:"server,omitempty"`
	ServerB64     []byte          `json:"server_b64,omitempty"`
	Change        string          `json:"change,omitempty"`
	Queue         string          `json:"queue,omitempty"`
	QueueB64      []byte          `json:"queue_b64,omitempty"`
	TaskID        string          `json:"task_id,omitempty"`
	TaskIDHex     string          `json:"task_id_hex,omitempty"`
	Planned       int             `json:"planned,omitempty"`   // in run records only
	NotBegun      int             `json:"not_begun,omitempty"` // in end records, and 1 in results
	Target        string          `json:"target,omitempty"`
	TargetB64     []byte          `json:"target_b64,omitempty"`
	Evidence      json.RawMessage `json:"evidence,omitempty"`
	Task          *imageJSON      `json:"task,omitempty"`
	Outcome       string          `json:"outcome,omitempty"` // in results only
	Found         string          `json:"found,omitempty"`
	FoundB64      []byte          `json:"found_b64,omitempty"`
	Error         string          `json:"error,omitempty"`
	ErrorB64      []byte          `json:"error_b64,omitempty"`
}

// texts pairs the members that have two spellings with what they spell.
func (w *recordJSON) texts(r *Record) []spelling {
	return []spelling{
		{&r.Operator, &w.Operator, &w.OperatorB64},
		{&r.Host, &w.Host, &w.HostB64},
		{&r.Context, &w.Context, &w.ContextB64},
		{&r.Command, &w.Command, &w.CommandB64},
		{&r.Reason, &w.Reason, &w.ReasonB64},
		{&r.PlanDigest, &w.PlanDigest, &w.PlanDigestB64},
		{&r.Server, &w.Server, &w.ServerB64},
		{&r.Queue, &w.Queue, &w.QueueB64},
		{&r.Target, &w.Target, &w.TargetB64},
		{&r.Found, &w.Found, &w.FoundB64},
		{&r.Error, &w.Error, &w.ErrorB64},
	}
}

type spelling struct {
	value, plain *string
	base64       *[]byte
}

// encode is the record as one JSON object, without line feeds.
func encode(r *Record) ([]byte, error) {
	if err := encodable(r); err != nil {
		return nil, err
	}
	w := recordJSON{
		Schema: Schema, Seq: r.Seq, Kind: r.Kind.String(), Run: r.Run, Item: r.Item,
		At: r.At.UTC(), Change: string(r.Change), Evidence: r.Evidence, Task: imageWire(r.Task),
		Planned: r.Planned, NotBegun: r.NotBegun,
	}
	w.TaskID, w.TaskIDHex = spellID(r.TaskID)
	if r.Kind == KindResult {
		w.Outcome = r.Outcome.String()
	}
	for _, s := range w.texts(r) {
		t := spell(*s.value)
		*s.plain, *s.base64 = t.plain, t.base64
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&w); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

func encodable(r *Record) error {
	switch {
	case !utf8.ValidString(r.Run), !utf8.ValidString(r.Item), !utf8.ValidString(string(r.Change)):
		return fmt.Errorf("run %q, item %q or change %q is not UTF-8", r.Run, r.Item, r.Change)
	case r.Evidence != nil && (!utf8.Valid(r.Evidence) || !json.Valid(r.Evidence)):
		return errors.New("the evidence is not one JSON text in UTF-8")
	}
	return nil
}

// decode reads back what encode wrote. Members it does not know are left out.
func decode(b []byte) (Record, error) {
	var w recordJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return Record{}, err
	}
	if w.Schema != Schema {
		return Record{}, &schemaError{schema: w.Schema}
	}
	r := Record{
		Seq: w.Seq, Run: w.Run, Item: w.Item, At: w.At.UTC(), Change: Change(w.Change), Evidence: w.Evidence,
		Planned: max(0, w.Planned), NotBegun: max(0, w.NotBegun),
	}
	kind, outcome := slices.Index(kindNames[:], w.Kind), slices.Index(outcomeNames[:], w.Outcome)
	switch {
	case kind <= int(KindUnknown):
		return Record{}, fmt.Errorf("kind %q is not known", w.Kind)
	case Kind(kind) == KindResult && outcome < 0:
		return Record{}, fmt.Errorf("outcome %q is not known", w.Outcome)
	case Kind(kind) == KindResult:
		r.Outcome = Outcome(outcome)
	}
	r.Kind = Kind(kind)
	for _, s := range w.texts(&r) {
		*s.value = unspell(*s.plain, *s.base64)
	}
	var err error
	if r.TaskID, err = unspellID(w.TaskID, w.TaskIDHex); err != nil {
		return Record{}, fmt.Errorf("task_id_hex: %w", err)
	}
	if r.Task, err = w.Task.image(); err != nil {
		return Record{}, fmt.Errorf("task: %w", err)
	}
	return r, nil
}

// formatScore spells a score so that it reads back as the same number; JSON has
// no infinities.
func formatScore(score *float64) *string {
	if score == nil {
		return nil
	}
	s := strconv.FormatFloat(*score, 'g', -1, 64)
	return &s
}

func parseScore(s *string) (*float64, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // a place in a list has no score
	}
	score, err := strconv.ParseFloat(*s, 64)
	if err != nil || math.IsNaN(score) {
		return nil, fmt.Errorf("score %q is not a number", *s)
	}
	return &score, nil
}
