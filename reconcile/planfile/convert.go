package planfile

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// Origin is who made a plan, and on what.
type Origin struct {
	Operator, Host, Context, Command string
	Redis                            inspect.Identity
	Ledgers                          []Ledger
	// Expiry is how long the plan may be applied.
	Expiry time.Duration
}

// actions are the names of what a plan does.
var actions = map[string]reconcile.Action{"requeue": reconcile.ActionRun, "resolve": reconcile.ActionResolve}

// New is the plan as a file, with its digest. The plan moves archived tasks.
func New(p *reconcile.Plan, o Origin) (*File, error) {
	if p.Moves == nil {
		return nil, fmt.Errorf("it moves no archived tasks")
	}
	m := p.Moves
	f := &File{
		Schema: Schema, MadeAt: p.MadeAt.UTC(), ExpiresAt: p.MadeAt.Add(o.Expiry).UTC(),
		Operator: o.Operator, Host: o.Host, Context: o.Context, Command: o.Command,
		Redis:   Redis{Mode: o.Redis.Mode, Addr: o.Redis.Addr, DB: o.Redis.DB, RunIDs: filled(o.Redis.RunIDs)},
		Ledgers: filled(o.Ledgers),
		Options: Options{
			Attempts: m.Attempts, RelockSeconds: m.Relock.TTL.Seconds(), RelockAuto: m.Relock.Auto, Order: string(m.Order), Max: m.Max,
			AcceptUnprotected: filled(m.Unprotected), AcceptIdle: filled(m.Idle), ForceReason: m.Force,
		},
		Queues: []Queue{}, Counts: Counts{Hold: map[string]int{}}, Items: []Item{},
	}
	for name, action := range actions {
		if action == m.Action {
			f.Action = name
		}
	}
	for _, q := range m.Queues {
		f.Queues = append(f.Queues, Queue(q))
	}
	for i := range p.Steps {
		item := itemOf(&p.Steps[i], m.Action)
		if item.Action == string(reconcile.ActionHold) {
			f.Counts.Hold[item.Reason]++
		} else {
			f.Counts.Run++
		}
		f.Items = append(f.Items, item)
	}
	digest, err := f.digest()
	f.Digest = digest
	return f, err
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func itemOf(s *reconcile.Step, action reconcile.Action) Item {
	f := &s.Finding
	it := Item{
		Action: string(action), Code: string(f.Code), Status: f.Status.String(), Cause: string(f.Cause),
		Retried: f.Task.Retried, MaxRetry: f.Task.MaxRetry,
		LastFailedAt: moment(f.Task.LastFailedAt), ArchivedAt: moment(f.Task.ArchivedAt), AppliedAt: moment(f.AppliedAt),
		MessageDigest: hex.EncodeToString(f.Task.Digest[:]), RelockSeconds: s.Relock.Seconds(), Forced: s.Forced, Evidence: s.Evidence,
		KeyHidden: f.KeyHidden,
	}
	it.Queue, it.QueueHex = spell(f.Task.Queue)
	it.TaskID, it.TaskIDHex = spell(f.Task.ID)
	it.Type, it.TypeHex = spell(f.Task.Type)
	it.Key, it.KeyHex = spell(f.Key)
	switch {
	case s.Hold != "":
		it.Action, it.Reason = string(reconcile.ActionHold), string(s.Reason)
		it.Words, _ = spell(s.Hold)
	case s.Forced:
		it.Reason = string(s.Reason)
		it.Words, _ = spell(s.Overrides)
		for _, also := range s.Also {
			it.Also = append(it.Also, string(also))
		}
	}
	return it
}

// Plan is the plan that the file holds. Nothing of it has been read again: Apply
// does that.
func (f *File) Plan() (reconcile.Plan, error) {
	order, err := reconcile.ParseOrder(f.Options.Order)
	if err != nil {
		return reconcile.Plan{}, err
	}
	m := &reconcile.Moves{
		Action: actions[f.Action], Attempts: f.Options.Attempts,
		Relock: reconcile.Relock{TTL: seconds(f.Options.RelockSeconds), Auto: f.Options.RelockAuto},
		Order:  order, Max: f.Options.Max, Unprotected: f.Options.AcceptUnprotected, Idle: f.Options.AcceptIdle, Force: f.Options.ForceReason,
	}
	if m.Action == reconcile.ActionUnknown {
		return reconcile.Plan{}, fmt.Errorf("action %q is none", f.Action)
	}
	if m.Attempts < 0 || m.Attempts > inspect.MaxAttempts {
		return reconcile.Plan{}, fmt.Errorf("%d attempts: want 0 to %d", m.Attempts, inspect.MaxAttempts)
	}
	for _, q := range f.Queues {
		m.Queues = append(m.Queues, reconcile.PlannedQueue(q))
	}
	p := reconcile.Plan{MadeAt: f.MadeAt, Moves: m}
	forced := 0
	for n := range f.Items {
		s, err := f.Items[n].step(m)
		if err != nil {
			return reconcile.Plan{}, fmt.Errorf("item %d: %w", n+1, err)
		}
		if s.Forced {
			forced++
		}
		p.Steps = append(p.Steps, s)
	}
	if forced > 1 || forced == 1 && m.Force == "" {
		return reconcile.Plan{}, fmt.Errorf("%d items are forced: one may be, with a reason", forced)
	}
	return p, nil
}

func (it *Item) step(m *reconcile.Moves) (reconcile.Step, error) {
	s := reconcile.Step{Change: journal.ChangeRequeue, Evidence: it.Evidence, Relock: seconds(it.RelockSeconds), Forced: it.Forced}
	if m.Action == reconcile.ActionResolve {
		s.Change = journal.ChangeResolve
	}
	t := inspect.Task{
		State: inspect.StateArchived, Retried: it.Retried, MaxRetry: it.MaxRetry,
		LastFailedAt: instant(it.LastFailedAt), ArchivedAt: instant(it.ArchivedAt),
	}
	var errs [5]error
	t.Queue, errs[0] = unspell(it.Queue, it.QueueHex)
	t.ID, errs[1] = unspell(it.TaskID, it.TaskIDHex)
	t.Type, errs[2] = unspell(it.Type, it.TypeHex)
	key, err := unspell(it.Key, it.KeyHex)
	errs[3] = err
	status := slices.IndexFunc(reconcile.Statuses(), func(s reconcile.Status) bool { return s.String() == it.Status })
	switch {
	case it.Action == string(reconcile.ActionHold):
		s.Hold, s.Reason = it.Words, reconcile.HoldReason(it.Reason)
	case it.Action == string(m.Action) && it.Forced:
		s.Overrides, s.Reason = it.Words, reconcile.HoldReason(it.Reason)
		for _, also := range it.Also {
			s.Also = append(s.Also, reconcile.HoldReason(also))
		}
	case it.Action != string(m.Action):
		errs[4] = fmt.Errorf("action %q in a plan that can only %s or hold", it.Action, m.Action)
	}
	for _, err := range append(errs[:], it.words()) {
		if err != nil {
			return s, err
		}
	}
	if t.Queue == "" || t.ID == "" || status < 0 || !strings.HasPrefix(it.Evidence, "sha256:") {
		return s, fmt.Errorf("it lacks its queue, ID, status or evidence")
	}
	s.Finding = reconcile.Finding{
		Code: reconcile.Code(it.Code), Severity: reconcile.Code(it.Code).Severity(), Task: t, Key: key, KeyHidden: it.KeyHidden,
		Status: reconcile.Statuses()[status], Cause: reconcile.Cause(it.Cause), AppliedAt: instant(it.AppliedAt),
	}
	return s, nil
}

// words says which of the item's words is none of this program's: they are shown as
// they are.
func (it *Item) words() error {
	for _, reason := range append([]string{it.Reason}, it.Also...) {
		if reason != "" && reconcile.HoldReason(reason).Words() == "" {
			return fmt.Errorf("reason %q is none", reason)
		}
	}
	switch {
	case !slices.Contains(reconcile.Codes(), reconcile.Code(it.Code)):
		return fmt.Errorf("code %q is none", it.Code)
	case !slices.Contains(reconcile.Causes(), reconcile.Cause(it.Cause)):
		return fmt.Errorf("cause %q is none", it.Cause)
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func instant(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func spell(s string) (plain, inHex string) {
	if utf8.ValidString(s) {
		return s, ""
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError)), hex.EncodeToString([]byte(s))
}

func unspell(plain, inHex string) (string, error) {
	if inHex == "" {
		return plain, nil
	}
	b, err := hex.DecodeString(inHex)
	return string(b), err
}
