package reconcile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/idemctl/idemctl/inspect"
)

// Filter is a compiled --where expression. Nil passes everything. It is safe
// for concurrent use.
type Filter struct {
	text    string
	program *vm.Program
	payload bool // it looks into payloads
	shapes  bool // it looks at shapes of errors
	texts   bool // it looks for words

	mu       sync.Mutex
	failures int
	failure  error
}

// Failures is for how many subjects the expression could not be evaluated, and
// the first reason.
func (f *Filter) Failures() (int, error) {
	if f == nil {
		return 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failures, f.failure
}

// Subject is what a filter looks at: a finding or a judged task.
type Subject struct {
	Finding *Finding
	Judged  *Judged
}

// filterEnv is what a filter expression sees. Absent times are the year 1.
type filterEnv struct {
	ID            string            `expr:"id"`
	Queue         string            `expr:"queue"`
	Type          string            `expr:"type"`
	State         string            `expr:"state"`
	Group         string            `expr:"group"`
	Headers       map[string]string `expr:"headers"`
	Payload       any               `expr:"payload"`
	Retried       int               `expr:"retried"`
	MaxRetry      int               `expr:"max_retry"`
	LastError     string            `expr:"last_error"`
	ErrorShape    string            `expr:"error_shape"` // see Shape
	LastFailedAt  time.Time         `expr:"last_failed_at"`
	NextProcessAt time.Time         `expr:"next_process_at"`
	ArchivedAt    time.Time         `expr:"archived_at"`
	CompletedAt   time.Time         `expr:"completed_at"`
	Deadline      time.Time         `expr:"deadline"`
	Timeout       time.Duration     `expr:"timeout"`
	Key           string            `expr:"key"`
	Status        string            `expr:"status"`
	Reason        string            `expr:"reason"`
	Cause         string            `expr:"cause"`
	Attribution   string            `expr:"attribution"`
	AppliedAt     time.Time         `expr:"applied_at"`
	Code          string            `expr:"code"`
	Severity      string            `expr:"severity"`
	Lock          filterLock        `expr:"lock"`
	Unique        bool              `expr:"unique"`
	Text          string            `expr:"text"` // in lower case, what words are looked for in
}

type filterLock struct {
	Key        string `expr:"key"`
	Owner      string `expr:"owner"`
	State      string `expr:"state"`
	TTLSeconds int    `expr:"ttl_seconds"`
}

// FilterFields lists the names a filter expression can use, sorted.
func FilterFields() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[filterEnv]()) {
		names = append(names, f.Tag.Get("expr"))
	}
	slices.Sort(names)
	return names
}

// CompileFilter reads a filter expression (expr-lang) over the fields of tasks,
// effects, findings and locks. It must give a boolean.
func CompileFilter(text string) (*Filter, error) {
	fields := &fieldFinder{}
	program, err := expr.Compile(text, expr.Env(filterEnv{}), expr.AsBool(), expr.Patch(fields))
	if err != nil {
		return nil, fmt.Errorf("filter %q: %s", text, firstLine(err))
	}
	return &Filter{text: text, program: program, payload: fields.payload, shapes: fields.shapes, texts: fields.texts}, nil
}

// String is the expression as it was written; "" for the nil filter.
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	return f.text
}

// Passes says whether the subject is wanted. An expression that cannot be
// evaluated for it, such as one that compares a text with a number, does not
// pass; Failures counts those.
func (f *Filter) Passes(s Subject) bool {
	if f == nil {
		return true
	}
	value, err := expr.Run(f.program, f.env(s))
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.failures++
		if f.failure == nil {
			f.failure = fmt.Errorf("filter %q: %s", f.text, firstLine(err))
		}
		return false
	}
	passes, _ := value.(bool)
	return passes
}

func (f *Filter) env(s Subject) filterEnv {
	var env filterEnv
	switch {
	case s.Finding != nil:
		fd := s.Finding
		env = taskEnv(fd.Task)
		env.Key, env.Status, env.Reason = fd.Key, fd.Status.String(), string(fd.Reason)
		env.Cause, env.Attribution, env.AppliedAt = string(fd.Cause), string(fd.Attribution), fd.AppliedAt
		env.Code, env.Severity = string(fd.Code), fd.Severity.String()
		env.lock(fd.Lock)
	case s.Judged != nil:
		j := s.Judged
		env = taskEnv(j.Task)
		env.Key, env.Status, env.Reason = j.Key, j.Verdict.Status.String(), string(j.Verdict.Reason)
		env.Cause, env.Attribution, env.AppliedAt = string(j.Verdict.Cause), string(j.Verdict.Attribution), j.Verdict.AppliedAt
		if len(j.Verdict.Codes) > 0 {
			c := j.Verdict.Codes[0]
			env.Code, env.Severity = string(c), j.Verdict.Severity(c, j.Task.State).String()
		}
		env.lock(j.Lock)
	}
	if f.payload && env.Payload == nil {
		env.Payload = decoded(s)
	}
	if f.shapes {
		env.ErrorShape = Shape(env.LastError)
	}
	if f.texts {
		env.Text = strings.ToLower(strings.Join([]string{
			env.ID, env.Type, env.Queue, env.Group, env.State, env.Key, env.Code, env.Severity,
			env.Status, env.Reason, env.Cause, env.LastError,
		}, "\x00"))
	}
	return env
}

// lock adds what was read of a lock.
func (env *filterEnv) lock(l *Lock) {
	if l != nil {
		env.Lock = filterLock{Key: l.Key, Owner: l.Owner, State: string(l.State), TTLSeconds: int(l.TTL.Seconds())}
	}
}

func decoded(s Subject) any {
	var payload []byte
	if s.Finding != nil {
		payload = s.Finding.Task.Payload
	} else if s.Judged != nil {
		payload = s.Judged.Task.Payload
	}
	value, err := DecodePayload(payload)
	if err != nil {
		return nil
	}
	return asFloats(value)
}

// asFloats turns the numbers that keys keep digit by digit into floats, which
// a filter can compare.
func asFloats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = asFloats(member)
		}
	case []any:
		for i, element := range v {
			v[i] = asFloats(element)
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

func taskEnv(t inspect.Task) filterEnv {
	env := filterEnv{
		ID: t.ID, Queue: t.Queue, Type: t.Type, State: t.State.String(), Group: t.Group,
		Headers: t.Headers, Retried: t.Retried, MaxRetry: t.MaxRetry, LastError: t.LastErr,
		LastFailedAt: t.LastFailedAt, NextProcessAt: t.NextProcessAt, ArchivedAt: t.ArchivedAt,
		CompletedAt: t.CompletedAt, Deadline: t.Deadline, Timeout: t.Timeout,
		Unique: t.UniqueKey != "",
	}
	env.Lock.Key = t.UniqueKey
	return env
}
