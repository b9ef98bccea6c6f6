package planfile

import (
	"time"
)

// Schema names the format.
const Schema = "idemctl.plan/v1"

// File is a plan as it is written. Absent facts are null or left out; times are in
// UTC.
type File struct {
	Schema    string    `json:"schema"`
	Action    string    `json:"action"` // requeue or resolve
	MadeAt    time.Time `json:"made_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Operator  string    `json:"operator"`
	Host      string    `json:"host"`
	Context   string    `json:"context"`
	Command   string    `json:"command"` // without secrets
	Redis     Redis     `json:"redis"`
	Ledgers   []Ledger  `json:"ledgers"`
	Options   Options   `json:"options"`
	Queues    []Queue   `json:"queues"`
	Counts    Counts    `json:"counts"`
	Items     []Item    `json:"items"`
	// Digest is sha256: and hex, over this document with an empty digest.
	Digest string `json:"digest"`
}

// Redis is what a plan was made on.
type Redis struct {
	Mode   string   `json:"mode"`
	Addr   string   `json:"addr"`
	DB     int      `json:"db"`
	RunIDs []string `json:"run_ids"` // of every master; empty where it does not tell
}

// Ledger is one of those that were asked.
type Ledger struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Server string `json:"server"` // host and database, without secrets
}

// Options are how the tasks are moved.
type Options struct {
	Attempts          int      `json:"attempts"` // 0: what their counters leave
	RelockSeconds     float64  `json:"relock_seconds"`
	RelockAuto        bool     `json:"relock_auto"`
	Order             string   `json:"order"`
	Max               int      `json:"max"`
	AcceptUnprotected []string `json:"accept_unprotected"`
	AcceptIdle        []string `json:"accept_idle"`
	ForceReason       string   `json:"force_reason"`
}

// Queue is a queue of the items as it was.
type Queue struct {
	Name    string `json:"name"`
	Paused  bool   `json:"paused"`
	Served  bool   `json:"served"`
	Pending int    `json:"pending"`
	Run     int    `json:"run"`
}

// Counts sum the items up: those to be moved, and those held by reason.
type Counts struct {
	Run  int            `json:"run"`
	Hold map[string]int `json:"hold"`
}

// Item is one archived task. Text that is not UTF-8 is written readably, and once
// more, in hexadecimal, under its name with _hex appended.
type Item struct {
	Action        string     `json:"action"` // run, resolve or hold
	Reason        string     `json:"reason,omitempty"`
	Words         string     `json:"words,omitempty"` // why it is held, or would be if it were not forced
	Queue         string     `json:"queue"`
	QueueHex      string     `json:"queue_hex,omitempty"`
	TaskID        string     `json:"task_id"`
	TaskIDHex     string     `json:"task_id_hex,omitempty"`
	Type          string     `json:"type"`
	TypeHex       string     `json:"type_hex,omitempty"`
	Key           string     `json:"key,omitempty"`
	KeyHex        string     `json:"key_hex,omitempty"`
	KeyHidden     bool       `json:"key_hidden,omitempty"` // no output may show it
	Code          string     `json:"code"`
	Status        string     `json:"status"`
	Cause         string     `json:"cause,omitempty"`
	Retried       int        `json:"retried"`
	MaxRetry      int        `json:"max_retry"`
	LastFailedAt  *time.Time `json:"last_failed_at"`
	ArchivedAt    *time.Time `json:"archived_at"`
	AppliedAt     *time.Time `json:"applied_at"`
	MessageDigest string     `json:"message_digest"` // of the stored message, its payload in it
	RelockSeconds float64    `json:"relock_seconds,omitempty"`
	Forced        bool       `json:"forced,omitempty"`
	Also          []string   `json:"also,omitempty"` // further reasons that a forced item would be held for
	Evidence      string     `json:"evidence"`
}
