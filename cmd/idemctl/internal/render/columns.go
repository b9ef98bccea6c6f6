package render

import (
	"strconv"
	"strings"
)

// field is one column of the formats that are made of lines: plain, wide and
// CSV. Its names are those of the JSON contract.
type field[T any] struct {
	name string
	cell func(*T) string // "" when there is nothing to say
	// ours says that the cell holds a number, a time or one of our own words,
	// never text from a queue or a ledger.
	ours bool
	// wide columns are not part of a plain table.
	wide bool
	// right aligns numbers.
	right bool
	// most is how many cells of a terminal the column may take; 0 is any.
	most int
}

// findingFields are the columns of findings, in an order that only grows at its
// end: scripts cut columns by number.
var findingFields = []field[findingJSON]{
	{name: "severity", ours: true, cell: func(f *findingJSON) string { return f.Severity }},
	{name: "code", ours: true, cell: func(f *findingJSON) string { return f.Code }},
	{name: "queue", cell: func(f *findingJSON) string { return word(f.Queue) }},
	{name: "task_id", cell: func(f *findingJSON) string { return word(f.TaskID) }},
	{name: "type", cell: func(f *findingJSON) string { return word(f.Type) }, most: 40},
	{name: "state", ours: true, cell: func(f *findingJSON) string { return word(f.State) }},
	{name: "status", ours: true, cell: func(f *findingJSON) string { return word(f.Status) }},
	{name: "cause", ours: true, cell: func(f *findingJSON) string { return word(f.Cause) }},
	{name: "retried", ours: true, right: true, cell: func(f *findingJSON) string { return number(f.Retried) }},
	{name: "max_retry", ours: true, right: true, cell: func(f *findingJSON) string { return number(f.MaxRetry) }},
	{name: "last_failed_at", ours: true, cell: func(f *findingJSON) string { return word(f.LastFailedAt) }},
	{name: "next_process_at", ours: true, cell: func(f *findingJSON) string { return word(f.NextProcessAt) }},
	{name: "applied_at", ours: true, cell: func(f *findingJSON) string { return word(f.AppliedAt) }},
	{name: "message", cell: func(f *findingJSON) string { return f.Message }, most: 200},
	{name: "action", cell: func(f *findingJSON) string { return word(f.Action) }},
	{name: "key", wide: true, cell: func(f *findingJSON) string { return word(f.Key) }, most: 64},
	{name: "reason", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.Reason) }},
	{name: "attribution", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.Attribution) }},
	{name: "archived_at", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.ArchivedAt) }},
	{name: "completed_at", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.CompletedAt) }},
	{name: "lease_expires_at", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.LeaseExpires) }},
	{name: "settles_at", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.SettlesAt) }},
	{name: "confirmed_at", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.ConfirmedAt) }},
	{name: "lock_state", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.lock().State) }},
	{name: "lock_ttl_seconds", wide: true, ours: true, right: true, cell: func(f *findingJSON) string { return decimal(f.lock().TTLSeconds) }},
	{name: "lock_owner", wide: true, cell: func(f *findingJSON) string { return word(f.lock().Owner) }, most: 40},
	{name: "lock_key", wide: true, cell: func(f *findingJSON) string { return f.lock().Key }},
	{name: "sources", wide: true, cell: func(f *findingJSON) string { return readings(f.Sources) }},
	{name: "last_error", wide: true, cell: func(f *findingJSON) string { return word(f.LastError) }, most: 200},
	{name: "consequence", wide: true, cell: func(f *findingJSON) string { return word(f.Consequence) }, most: 200},
	{name: "detail", wide: true, cell: func(f *findingJSON) string { return word(f.Detail) }, most: 200},
	{name: "task_count", wide: true, ours: true, right: true, cell: func(f *findingJSON) string { return positive(f.TaskCount) }},
	{name: "queues", wide: true, cell: func(f *findingJSON) string { return strings.Join(f.Queues, " ") }, most: 40},
	{name: "task_id_hex", wide: true, ours: true, cell: func(f *findingJSON) string { return word(f.TaskIDHex) }},
	{name: "payload", wide: true, cell: func(f *findingJSON) string { return payloadCell(f.Payload, f.PayloadEncoding) }, most: 120},
}

// taskFields are the columns of listed tasks.
var taskFields = []field[taskJSON]{
	{name: "queue", cell: func(t *taskJSON) string { return t.Queue }},
	{name: "task_id", cell: func(t *taskJSON) string { return t.TaskID }},
	{name: "type", cell: func(t *taskJSON) string { return word(t.Type) }, most: 40},
	{name: "state", ours: true, cell: func(t *taskJSON) string { return word(t.State) }},
	{name: "key", cell: func(t *taskJSON) string { return word(t.Key) }, most: 64},
	{name: "status", ours: true, cell: func(t *taskJSON) string { return t.Status }},
	{name: "cause", ours: true, cell: func(t *taskJSON) string { return word(t.Cause) }},
	{name: "retried", ours: true, right: true, cell: func(t *taskJSON) string { return number(t.Retried) }},
	{name: "max_retry", ours: true, right: true, cell: func(t *taskJSON) string { return number(t.MaxRetry) }},
	{name: "next_process_at", ours: true, cell: func(t *taskJSON) string { return word(t.NextProcessAt) }},
	{name: "reason", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.Reason) }},
	{name: "attribution", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.Attribution) }},
	{name: "codes", wide: true, ours: true, cell: func(t *taskJSON) string { return strings.Join(t.Codes, " ") }},
	{name: "rule", wide: true, ours: true, right: true, cell: func(t *taskJSON) string { return number(t.Rule) }},
	{name: "applied_at", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.AppliedAt) }},
	{name: "last_failed_at", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.LastFailedAt) }},
	{name: "archived_at", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.ArchivedAt) }},
	{name: "completed_at", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.CompletedAt) }},
	{name: "lease_expires_at", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.LeaseExpires) }},
	{name: "group", wide: true, cell: func(t *taskJSON) string { return word(t.Group) }, most: 40},
	{name: "unique_key", wide: true, cell: func(t *taskJSON) string { return word(t.UniqueKey) }},
	{name: "sources", wide: true, cell: func(t *taskJSON) string { return readings(t.Sources) }},
	{name: "last_error", wide: true, cell: func(t *taskJSON) string { return word(t.LastError) }, most: 200},
	{name: "task_id_hex", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.TaskIDHex) }},
	{name: "payload", wide: true, cell: func(t *taskJSON) string { return payloadCell(t.Payload, t.PayloadEncoding) }, most: 120},
	{name: "lock_state", wide: true, ours: true, cell: func(t *taskJSON) string { return word(t.lock().State) }},
	{name: "lock_ttl_seconds", wide: true, ours: true, right: true, cell: func(t *taskJSON) string { return decimal(t.lock().TTLSeconds) }},
	{name: "lock_needed_seconds", wide: true, ours: true, right: true, cell: func(t *taskJSON) string { return decimal(t.lock().NeededSeconds) }},
	{name: "lock_owner", wide: true, cell: func(t *taskJSON) string { return word(t.lock().Owner) }, most: 40},
}

func (f *findingJSON) lock() lockJSON { return lockOrNone(f.Lock) }

func (t *taskJSON) lock() lockJSON { return lockOrNone(t.Lock) }

func lockOrNone(l *lockJSON) lockJSON {
	if l == nil {
		return lockJSON{}
	}
	return *l
}

func word(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func decimal(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// readings is what the sources say, in one cell: "mark main/public.t.c 1/1" is
// one row that passes of one.
func readings(sources []findingSourceJSON) string {
	said := make([]string, 0, len(sources))
	for _, s := range sources {
		said = append(said, s.Role+" "+s.Ledger+"/"+s.Table+"."+word(s.Column)+" "+
			strconv.FormatInt(s.Passing, 10)+"/"+strconv.FormatInt(s.Rows, 10))
	}
	return strings.Join(said, "; ")
}

// payloadCell is a payload as text, without the quotes that a document puts
// around what is not JSON.
func payloadCell(payload []byte, encoding *string) string {
	if word(encoding) == "" || *encoding == payloadJSON {
		return string(payload)
	}
	return unquote(payload)
}

// chosen are the fields of a plain or a wide table.
func chosen[T any](fields []field[T], wide bool) []field[T] {
	if wide {
		return fields
	}
	var some []field[T]
	for _, f := range fields {
		if !f.wide {
			some = append(some, f)
		}
	}
	return some
}
