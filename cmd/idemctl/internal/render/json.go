package render

import (
	"encoding/json"
)

// This file is the contract of `-o json` and `-o ndjson`, as published in
// docs/schema/audit.v1.json. Every key is always there: what is not known, or
// does not apply, is null and never a zero value; lists are [] and never null;
// maps hold no zero entries. Times are RFC 3339 in UTC, durations seconds. Keys
// may be added, none is renamed or removed within a version.

// The names of the contracts.
const (
	SchemaAudit   = "idemctl.audit/v1"
	SchemaTasks   = "idemctl.tasks/v1"
	SchemaExplain = "idemctl.explain/v1"
)

// auditJSON is a whole document, and without its findings the summary that ends
// a stream.
type auditJSON struct {
	Schema  string `json:"schema"`
	Summary bool   `json:"summary,omitempty"` // only in a stream, and then true
	// Complete is false when the audit stopped early; Problem then says why.
	Complete    bool            `json:"complete"`
	Problem     *string         `json:"problem"`
	StartedAt   *string         `json:"started_at"`
	FinishedAt  *string         `json:"finished_at"`
	SkewSeconds float64         `json:"skew_seconds"`
	Redis       redisJSON       `json:"redis"`
	Ledgers     []ledgerJSON    `json:"ledgers"`
	Scope       scopeJSON       `json:"scope"`
	Rules       []ruleJSON      `json:"rules"`
	Totals      totalsJSON      `json:"totals"`
	Signatures  []signatureJSON `json:"signatures"`
	// SignaturesCut is how many findings fell into groups that were not kept.
	SignaturesCut int `json:"signatures_cut"`
	// Hashes is [] where they were not counted, which a narrowed audit does not do.
	Hashes []hashesJSON `json:"hashes"`
	// Omitted is how many findings a limit kept from being printed.
	Omitted int `json:"omitted"`
}

// auditDocumentJSON is what -o json writes. Its findings are written one by one
// as they come out of the sort, so no value of this type is ever whole.
type auditDocumentJSON struct {
	auditJSON
	Findings []findingJSON `json:"findings"`
}

type redisJSON struct {
	Mode    *string `json:"mode"`
	Addr    *string `json:"addr"`
	Version *string `json:"version"`
}

type ledgerJSON struct {
	Name    string             `json:"name"`
	Kind    *string            `json:"kind"`
	Version *string            `json:"version"`
	Server  *string            `json:"server"`
	Replica *bool              `json:"replica"` // null when the ledger could not be asked
	Sources []ledgerSourceJSON `json:"sources"`
}

type ledgerSourceJSON struct {
	Role       string  `json:"role"`
	Table      string  `json:"table"`
	Column     *string `json:"column"`
	ColumnType *string `json:"column_type"`
	At         *string `json:"at"`
	Unique     *bool   `json:"unique"` // null: nobody can say
	NotUnique  *string `json:"not_unique"`
}

type scopeJSON struct {
	Queues []string `json:"queues"` // those read
	States []string `json:"states"`
	Types  []string `json:"types"` // globs asked for; [] is every type
	IDs    []string `json:"ids"`   // [] is every ID
	Where  *string  `json:"where"`
	// Narrowed says whether anything was left out.
	Narrowed bool `json:"narrowed"`
}

type ruleJSON struct {
	Number   int             `json:"number"`
	Type     string          `json:"type"`  // glob
	Queue    string          `json:"queue"` // glob
	Class    *string         `json:"class"`
	Key      string          `json:"key"` // expression
	Implicit bool            `json:"implicit"`
	Tasks    int             `json:"tasks"`
	Sources  []sourceRefJSON `json:"sources"`
}

type sourceRefJSON struct {
	Role   string  `json:"role"`
	Ledger string  `json:"ledger"`
	Table  string  `json:"table"`
	Column *string `json:"column"`
}

type totalsJSON struct {
	Tasks      int            `json:"tasks"`
	Findings   int            `json:"findings"`
	ByState    map[string]int `json:"by_state"`
	ByStatus   map[string]int `json:"by_status"`
	ByCode     map[string]int `json:"by_code"`
	BySeverity map[string]int `json:"by_severity"`
}

type signatureJSON struct {
	Type     *string        `json:"type"`
	Cause    *string        `json:"cause"`
	Text     *string        `json:"text"`
	Severity string         `json:"severity"`
	Count    int            `json:"count"`
	ByCode   map[string]int `json:"by_code"`
	FirstAt  *string        `json:"first_at"`
	LastAt   *string        `json:"last_at"`
	Example  *refJSON       `json:"example"`
}

type refJSON struct {
	Queue     string  `json:"queue"`
	TaskID    string  `json:"task_id"`
	TaskIDHex *string `json:"task_id_hex"` // only where the ID is not UTF-8
}

// findingJSON is one finding, in a document and as a line of a stream. Facts on
// a task are null where the finding speaks of a task type.
type findingJSON struct {
	Code          string              `json:"code"`
	Severity      string              `json:"severity"`
	Queue         *string             `json:"queue"`
	TaskID        *string             `json:"task_id"`
	TaskIDHex     *string             `json:"task_id_hex"`
	Type          *string             `json:"type"`
	State         *string             `json:"state"`
	Key           *string             `json:"key"`
	Status        *string             `json:"status"`
	Reason        *string             `json:"reason"`
	Cause         *string             `json:"cause"`
	Attribution   *string             `json:"attribution"`
	Retried       *int                `json:"retried"`
	MaxRetry      *int                `json:"max_retry"`
	LastError     *string             `json:"last_error"`
	LastFailedAt  *string             `json:"last_failed_at"`
	NextProcessAt *string             `json:"next_process_at"`
	ArchivedAt    *string             `json:"archived_at"`
	CompletedAt   *string             `json:"completed_at"`
	LeaseExpires  *string             `json:"lease_expires_at"`
	AppliedAt     *string             `json:"applied_at"`
	SettlesAt     *string             `json:"settles_at"`
	SettleSeconds *float64            `json:"settle_seconds"`
	ConfirmedAt   *string             `json:"confirmed_at"`
	Lock          *lockJSON           `json:"lock"`
	Sources       []findingSourceJSON `json:"sources"`
	// Queues and tasks name all concerned, oldest first; TaskCount counts them
	// also where only the first are named.
	Queues    []string  `json:"queues"`
	TaskIDs   []string  `json:"task_ids"`
	Tasks     []refJSON `json:"tasks"`
	TaskCount int       `json:"task_count"`
	Detail    *string   `json:"detail"`
	// Payload is null unless payloads were asked for. Its encoding says whether
	// it is the payload's JSON value, its text, its bytes in base64, or hidden.
	Payload         json.RawMessage `json:"payload"`
	PayloadEncoding *string         `json:"payload_encoding"`
	Message         string          `json:"message"`
	Consequence     *string         `json:"consequence"`
	Action          *string         `json:"action"`
}

type lockJSON struct {
	Key        string   `json:"key"`
	Owner      *string  `json:"owner"`
	OwnerState *string  `json:"owner_state"` // null: the owner is gone, or was not looked for
	TTLSeconds *float64 `json:"ttl_seconds"`
	EndsAt     *string  `json:"ends_at"`
	State      *string  `json:"state"`
	// NeededSeconds is how long the lock would have to live yet; null where
	// nothing bounds that.
	NeededSeconds *float64 `json:"needed_seconds"`
}

// hashesJSON counts the task hashes of one queue: total is the sum of the rest.
type hashesJSON struct {
	Queue      string `json:"queue"`
	Total      int    `json:"total"`
	Indexed    int    `json:"indexed"`
	Ghosts     int    `json:"ghosts"`
	ResultOnly int    `json:"result_only"`
}

// periodicJSON is a periodic entry of a live scheduler.
type periodicJSON struct {
	Spec      string  `json:"spec"`
	Type      string  `json:"type"`
	Queue     string  `json:"queue"`
	TaskID    *string `json:"task_id"`
	Scheduler string  `json:"scheduler"`
	NextAt    *string `json:"next_at"`
	PrevAt    *string `json:"prev_at"`
}

// findingSourceJSON is what one source says of a finding's key.
type findingSourceJSON struct {
	sourceRefJSON
	Rows      int64   `json:"rows"`
	Passing   int64   `json:"passing"`
	FirstAt   *string `json:"first_at"`
	LastAt    *string `json:"last_at"`
	ClaimedAt *string `json:"claimed_at"`
}

// tasksJSON is a list of tasks, and without its tasks the summary that ends a
// stream. The verdicts in it are first readings, confirmed by no second look.
type tasksJSON struct {
	Schema  string `json:"schema"`
	Summary bool   `json:"summary,omitempty"`
	// Complete is false when the listing stopped early; Problem then says why.
	Complete   bool           `json:"complete"`
	Problem    *string        `json:"problem"`
	StartedAt  *string        `json:"started_at"`
	FinishedAt *string        `json:"finished_at"`
	Redis      redisJSON      `json:"redis"`
	Ledgers    []ledgerJSON   `json:"ledgers"`
	Scope      scopeJSON      `json:"scope"`
	Totals     taskTotalsJSON `json:"totals"`
	Omitted    int            `json:"omitted"`
}

// tasksDocumentJSON is what -o json writes, task by task.
type tasksDocumentJSON struct {
	tasksJSON
	Tasks []taskJSON `json:"tasks"`
}

type taskTotalsJSON struct {
	Tasks    int            `json:"tasks"`
	ByState  map[string]int `json:"by_state"`
	ByStatus map[string]int `json:"by_status"`
}

// taskJSON is one listed task.
type taskJSON struct {
	Queue           string              `json:"queue"`
	TaskID          string              `json:"task_id"`
	TaskIDHex       *string             `json:"task_id_hex"`
	Type            *string             `json:"type"`
	State           *string             `json:"state"`
	Key             *string             `json:"key"`
	Status          string              `json:"status"`
	Reason          *string             `json:"reason"`
	Cause           *string             `json:"cause"`
	Attribution     *string             `json:"attribution"`
	Codes           []string            `json:"codes"`
	Rule            *int                `json:"rule"`
	Retried         *int                `json:"retried"`
	MaxRetry        *int                `json:"max_retry"`
	LastError       *string             `json:"last_error"`
	LastFailedAt    *string             `json:"last_failed_at"`
	NextProcessAt   *string             `json:"next_process_at"`
	ArchivedAt      *string             `json:"archived_at"`
	CompletedAt     *string             `json:"completed_at"`
	LeaseExpires    *string             `json:"lease_expires_at"`
	AppliedAt       *string             `json:"applied_at"`
	UniqueKey       *string             `json:"unique_key"`
	Lock            *lockJSON           `json:"lock"` // null: enqueued without one, or given back
	Group           *string             `json:"group"`
	Sources         []findingSourceJSON `json:"sources"`
	Payload         json.RawMessage     `json:"payload"`
	PayloadEncoding *string             `json:"payload_encoding"`
}

// dossierJSON is all that is known of one task.
type dossierJSON struct {
	Schema      string  `json:"schema"`
	ConfirmedAt *string `json:"confirmed_at"`
	taskJSON
	KeyProblem     *string         `json:"key_problem"`
	TimeoutSeconds *float64        `json:"timeout_seconds"`
	Deadline       *string         `json:"deadline"`
	Retention      *float64        `json:"retention_seconds"`
	PendingSince   *string         `json:"pending_since"`
	ExpiresAt      *string         `json:"expires_at"`
	SettleSeconds  *float64        `json:"settle_seconds"`
	SettlesAt      *string         `json:"settles_at"`
	Headers        json.RawMessage `json:"headers"`
	// LifeSeconds is the longest that a live task can still live if every attempt
	// fails; null where nothing bounds it, and Endless says why.
	LifeSeconds *float64 `json:"life_seconds"`
	Endless     *string  `json:"endless"`
	// HeldIn are the lists and sets that hold the task's ID; [] for a ghost.
	HeldIn     []string      `json:"held_in"`
	ExplicitID bool          `json:"explicit_id"` // not as asynq gives them: a new enqueue can bear it too
	Periodic   *periodicJSON `json:"periodic"`    // the entry that enqueues under the ID
	Worker     *workerJSON   `json:"worker"`      // null: no worker says that it runs the task
	// PayloadCheck is what `payload check` says of the payload; null where the task's
	// message cannot be read.
	PayloadCheck *checkedJSON `json:"payload_check"`
	// CanonicalLock is the lock of the canonical form; null where that is the task's
	// own lock, where there is none, or where the task was enqueued without a lock.
	CanonicalLock *lockJSON     `json:"canonical_lock"`
	QueuePaused   bool          `json:"queue_paused"`
	QueueServed   bool          `json:"queue_served"`
	Findings      []findingJSON `json:"findings"`
	Next          string        `json:"next"`
	Choices       []choiceJSON  `json:"choices"`
}

type workerJSON struct {
	Server    string  `json:"server"`
	StartedAt *string `json:"started_at"`
	Deadline  *string `json:"deadline"`
}

// choiceJSON is one thing that can be done with the task.
type choiceJSON struct {
	Verb    string `json:"verb"`
	Outcome string `json:"outcome"`
	Safe    bool   `json:"safe"`
}
