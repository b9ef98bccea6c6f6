package render

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// The contracts of `idemctl journal list`, `show` and `show --item`, as published
// in docs/schema/journalruns.v1.json, journalrun.v1.json and journalitem.v1.json.
// The same rules hold as in json.go.
const (
	SchemaJournalRuns = "idemctl.journalruns/v1"
	SchemaJournalRun  = "idemctl.journalrun/v1"
	SchemaJournalItem = "idemctl.journalitem/v1"
)

// journalHeadJSON is where something was read, and whether all of it could be.
type journalHeadJSON struct {
	Schema   string   `json:"schema"`
	Summary  bool     `json:"summary,omitempty"`
	Complete bool     `json:"complete"` // false: records are damaged or missing
	Problems []string `json:"problems"` // which
	Journal  *string  `json:"journal"`  // the file; null: a table was read
	Table    *string  `json:"table"`
}

// journalRunsJSON is a list of runs without the runs.
type journalRunsJSON struct {
	journalHeadJSON
	Omitted int `json:"omitted"`
}

// runJSON is one command that changed things.
type runJSON struct {
	Run        string  `json:"run"`
	BeganAt    *string `json:"began_at"` // null: its first record cannot be read
	EndedAt    *string `json:"ended_at"` // null: it was killed, or goes on
	Complete   bool    `json:"complete"` // it ended, every outcome is known, and no planned item is left
	Operator   *string `json:"operator"`
	Host       *string `json:"host"`
	Context    *string `json:"context"`
	Server     *string `json:"server"`
	Command    *string `json:"command"`
	Reason     *string `json:"reason"`
	PlanDigest *string `json:"plan_digest"`
	Intents    int     `json:"intents"`
	Done       int     `json:"done"`
	Refused    int     `json:"refused"`
	Failed     int     `json:"failed"`
	Unknown    int     `json:"unknown"`
	Pending    int     `json:"pending"`
	Strays     int     `json:"strays"`    // results whose intent cannot be read
	Planned    *int    `json:"planned"`   // items it was to make; null: the journal does not say
	NotBegun   *int    `json:"not_begun"` // of those; with the outcomes and pending they are the planned
	EndedBy    *string `json:"ended_by"`  // why it ended early, in words
	Again      *string `json:"again"`     // the command that plans what was never begun
}

// journalRunJSON is one run without its items.
type journalRunJSON struct {
	journalHeadJSON
	Run     runJSON `json:"run"`
	Omitted int     `json:"omitted"`
}

// journalItemJSON is what a run did with one item.
type journalItemJSON struct {
	Item       string          `json:"item"`
	Outcome    string          `json:"outcome"` // done, refused, failed, unknown, or pending: there is no result
	Change     *string         `json:"change"`  // null: it was refused before there was an intent, or that cannot be read
	Queue      *string         `json:"queue"`
	TaskID     *string         `json:"task_id"`
	TaskIDHex  *string         `json:"task_id_hex"`
	Type       *string         `json:"type"`
	Target     *string         `json:"target"` // a lock's key or a group
	Found      *string         `json:"found"`
	Error      *string         `json:"error"`
	Reason     *string         `json:"reason"`
	Evidence   json.RawMessage `json:"evidence"`
	Redacted   *bool           `json:"redacted"` // null: the record holds no task
	IntendedAt *string         `json:"intended_at"`
	SettledAt  *string         `json:"settled_at"`
	SettledBy  *string         `json:"settled_by"` // null: by the run itself
	NotBegun   bool            `json:"not_begun"`  // refused since the run ended before it
}

// journalWholeItemJSON is one item with everything the journal has on it.
type journalWholeItemJSON struct {
	journalHeadJSON
	Run string `json:"run"`
	journalItemJSON
	Results []journalResultJSON `json:"results"` // in their order
	Task    *journalTaskJSON    `json:"task"`
}

type journalResultJSON struct {
	At       *string `json:"at"`
	Outcome  string  `json:"outcome"`
	Found    *string `json:"found"`
	Error    *string `json:"error"`
	Operator *string `json:"operator"` // null: the run's
	Host     *string `json:"host"`
}

// journalTaskJSON is a task as it stood before the change.
type journalTaskJSON struct {
	Key        string             `json:"key"`
	Redacted   bool               `json:"redacted"`   // bytes were hidden before they were written
	Restorable bool               `json:"restorable"` // the image has all that the task needs
	State      *string            `json:"state"`      // as Redis had it
	Places     []journalPlaceJSON `json:"places"`
	Lock       *journalLockJSON   `json:"lock"`
	Fields     []string           `json:"fields"` // names in the hash

	Type           *string         `json:"type"` // null, and what follows: the message cannot be read
	Retried        *int            `json:"retried"`
	MaxRetry       *int            `json:"max_retry"`
	LastError      *string         `json:"last_error"`
	LastFailedAt   *string         `json:"last_failed_at"`
	TimeoutSeconds *float64        `json:"timeout_seconds"`
	Deadline       *string         `json:"deadline"`
	Retention      *float64        `json:"retention_seconds"`
	CompletedAt    *string         `json:"completed_at"`
	UniqueKey      *string         `json:"unique_key"`
	Group          *string         `json:"group"`
	Headers        json.RawMessage `json:"headers"`

	Payload         json.RawMessage `json:"payload"`
	PayloadEncoding *string         `json:"payload_encoding"`
	Result          json.RawMessage `json:"result"`
	ResultEncoding  *string         `json:"result_encoding"`

	payloadSize int
}

type journalPlaceJSON struct {
	Key   string   `json:"key"`
	Score *float64 `json:"score"` // null in a list, and where it is infinite
}

type journalLockJSON struct {
	Key       string  `json:"key"`
	Owner     string  `json:"owner"`
	OwnerHex  *string `json:"owner_hex"`
	ExpiresAt *string `json:"expires_at"` // null: it does not expire
}

func shapeRun(s *journal.Summary) runJSON {
	r := runJSON{
		Run: s.ID, BeganAt: instant(s.Began), EndedAt: instant(s.Ended), Complete: s.Complete(),
		Operator: text(s.Operator), Host: text(s.Host), Context: text(s.Context), Server: text(s.Server), Command: text(s.Command),
		Reason: text(s.Reason), PlanDigest: text(s.PlanDigest), Intents: s.Intents, Done: s.Done,
		Refused: s.Refused, Failed: s.Failed, Unknown: s.Unknown, Pending: s.Pending, Strays: s.Strays,
		EndedBy: text(s.EndedBy),
	}
	if s.Planned > 0 {
		r.Planned = &s.Planned
	}
	if s.Planned > 0 || s.NotBegun > 0 {
		r.NotBegun = &s.NotBegun
	}
	if s.NotBegun > 0 {
		r.Again = text(againOf(s).String())
	}
	return r
}

func shapeItem(i *JournalItem) journalItemJSON {
	j := journalItemJSON{
		Item: i.Item, Outcome: i.Outcome, Change: text(i.Change), Queue: text(i.Queue), TaskID: text(i.TaskID),
		Type: text(i.Type), Target: text(i.Target), Found: text(i.Found), Error: text(i.Error), Reason: text(i.Reason),
		Evidence: i.Evidence, IntendedAt: instant(i.Intended), SettledAt: instant(i.Settled), SettledBy: text(i.SettledBy),
		NotBegun: i.NotBegun,
	}
	if i.TaskID != "" {
		j.TaskIDHex = hexOf(i.TaskID)
	}
	if i.HasTask {
		j.Redacted = &i.Redacted
	}
	return j
}

// shapeImage is the image with as much payload as may be shown.
func shapeImage(t *journal.TaskImage, hide redactor) *journalTaskJSON {
	if t == nil {
		return nil
	}
	j := &journalTaskJSON{
		Key: t.Key, Redacted: t.Redacted, Restorable: !t.Redacted && t.Key != "" && len(t.Fields) > 0,
		Places: []journalPlaceJSON{}, Fields: []string{},
	}
	for _, f := range t.Fields {
		j.Fields = append(j.Fields, f.Name)
		switch f.Name {
		case "state":
			j.State = text(strings.ToValidUTF8(f.Value, "\uFFFD"))
		case "result":
			j.Result, j.ResultEncoding = hide.show([]byte(f.Value)).json()
		case "msg":
			j.message([]byte(f.Value), hide)
		}
	}
	for _, p := range t.Places {
		j.Places = append(j.Places, journalPlaceJSON{Key: p.Key, Score: finite(p.Score)})
	}
	if l := t.Lock; l != nil {
		j.Lock = &journalLockJSON{Key: l.Key, Owner: l.Owner, OwnerHex: hexOf(l.Owner), ExpiresAt: instant(l.ExpireAt)}
	}
	return j
}

func finite(score *float64) *float64 {
	if score == nil || math.IsInf(*score, 0) {
		return nil
	}
	return score
}

func (j *journalTaskJSON) message(msg []byte, hide redactor) {
	t, err := inspect.DecodeMessage(inspect.Ref{}, msg)
	if err != nil {
		return
	}
	j.Type, j.UniqueKey, j.Group = text(t.Type), text(t.UniqueKey), text(t.Group)
	j.Retried, j.MaxRetry, j.LastError = shapeAttempts(&t)
	j.LastFailedAt, j.CompletedAt, j.Deadline = instant(t.LastFailedAt), instant(t.CompletedAt), instant(t.Deadline)
	j.TimeoutSeconds, j.Retention = secondsOf(t.Timeout), secondsOf(t.Retention)
	j.Headers = hide.headers(t.Headers)
	j.Payload, j.PayloadEncoding = hide.show(t.Payload).json()
	j.payloadSize = len(t.Payload)
}

// scoreWords is a score as asynq writes it: seconds, mostly whole.
func scoreWords(score *float64) string {
	if score == nil {
		return ""
	}
	return strconv.FormatFloat(*score, 'f', -1, 64)
}
