package render

import (
	"encoding/base64"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// This file is the contract of `idemctl payload check`, `key`, `canon` and `diff`
// with -o json and -o ndjson, as published in docs/schema/payload.v1.json. Keys may
// be added, none is renamed or removed within a version.

// SchemaPayload names the contract.
const SchemaPayload = "idemctl.payload/v1"

// Payload is one payload that was read.
type Payload struct {
	ID string // task ID, name of the file, or FILE:LINE
	// Task says that ID is a task's in Queue.
	Task bool
	// NoLock says of a task that it was enqueued without asynq.Unique: its lock is
	// the one it would have taken.
	NoLock bool
	// Queue and Type make the lock; Type is "" where it is not known.
	Queue, Type string
	// Raw is what was enqueued and what the lock is made of; nil and empty have
	// different locks.
	Raw []byte
	// Bytes is Raw after decoding: what the rules look at. The same slice where
	// nothing is decoded.
	Bytes []byte
}

// name is what a person calls the payload.
func (p *Payload) name() string {
	switch {
	case p.ID == "":
		return "payload"
	case p.Task:
		return refWords(inspect.Ref{Queue: p.Queue, ID: p.ID})
	default:
		return Visible(p.ID)
	}
}

// Name is the payload's name in one word: QUEUE/ID for a task, see [Name].
func (p *Payload) Name() string {
	if p.Task {
		return Name(inspect.Ref{Queue: p.Queue, ID: p.ID})
	}
	return Visible(p.ID)
}

// lock is the payload's lock; nil where its type is not known.
func (p *Payload) lock() *string {
	if p.Type == "" {
		return nil
	}
	return text(payload.UniqueKey(p.Queue, p.Type, p.Raw))
}

// canonicalLock is the lock of the payload's canonical form; nil where there is no
// form, or the type is not known.
func (p *Payload) canonicalLock(form []byte) *string {
	switch {
	case p.Type == "" || form == nil:
		return nil
	case len(p.Raw) == 0:
		return p.lock()
	}
	return text(payload.UniqueKey(p.Queue, p.Type, form))
}

// checkedJSON is one payload as check sees it.
type checkedJSON struct {
	ID        string  `json:"id"`
	Queue     string  `json:"queue"`
	Type      *string `json:"type"` // null: not known
	Canonical bool    `json:"canonical"`
	// CanonicalB64 is null where the payload has no canonical form, or where a
	// redaction hides it: then Redacted holds.
	CanonicalB64       *string              `json:"canonical_b64"`
	Redacted           bool                 `json:"redacted"`
	Encoding           string               `json:"encoding"`
	Rules              []string             `json:"rules"`
	Findings           []payloadFindingJSON `json:"findings"`
	FindingsOmitted    int                  `json:"findings_omitted"`
	UniqueKey          *string              `json:"unique_key"` // null: the type is not known
	CanonicalUniqueKey *string              `json:"canonical_unique_key"`
}

type payloadFindingJSON struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	// Start and End are bytes of the decoded payload.
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

func shapePayload(p *Payload, r *payload.Report, hide bool) checkedJSON {
	s := checkedJSON{
		ID: p.ID, Queue: p.Queue, Type: text(p.Type),
		Canonical: r.Canonical, Encoding: r.Encoding.String(),
		Rules: []string{}, Findings: []payloadFindingJSON{}, FindingsOmitted: r.Omitted(),
		UniqueKey: p.lock(), CanonicalUniqueKey: p.canonicalLock(r.Bytes),
	}
	switch {
	case !r.Defined():
	case hide && len(r.Bytes) > 0:
		s.Redacted = true
	default:
		b64 := base64.StdEncoding.EncodeToString(r.Bytes)
		s.CanonicalB64 = &b64
	}
	for _, rule := range r.Rules() {
		s.Rules = append(s.Rules, rule.String())
	}
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, payloadFindingJSON{
			Rule: f.Rule.String(), Severity: f.Severity().String(), Path: f.Path,
			Start: f.Start, End: f.End, Message: f.Message, Fix: f.Fix(),
		})
	}
	return s
}

// payloadTotalsJSON ends the document of -o json.
type payloadTotalsJSON struct {
	Payloads   int            `json:"payloads"`
	Canonical  int            `json:"canonical"`
	Undefined  int            `json:"undefined"` // have no canonical form
	Unread     int            `json:"unread"`    // could not be read or decoded
	ByRule     map[string]int `json:"by_rule"`   // payloads in which the rule fired
	BySeverity map[string]int `json:"by_severity"`
}

// undefinedJSON says why a payload has no canonical form.
type undefinedJSON struct {
	Rule    string `json:"rule"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Message string `json:"message"`
}

func shapeUndefined(e *payload.UndefinedError) *undefinedJSON {
	if e == nil {
		return nil
	}
	return &undefinedJSON{Rule: e.Rule.String(), Start: e.Start, End: e.End, Message: e.Message}
}
