package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/idemctl/idemctl/inspect"
)

// Periodic is a periodic entry with the options that its tasks are enqueued
// with, as far as asynq writes them down (scheduler.go: Register). Options given
// to asynq.NewTask are not among them.
type Periodic struct {
	inspect.Schedule
	Queue    string // "default" unless an option says otherwise
	TaskID   string // "": none
	Unique   time.Duration
	MaxRetry int // -1: not given
	Timeout  time.Duration
	Group    string
}

// PeriodicOf reads the options of an entry. asynq prints them as Name(value)
// (client.go: the String methods of its options).
func PeriodicOf(s inspect.Schedule) Periodic {
	p := Periodic{Schedule: s, Queue: "default", MaxRetry: -1}
	for _, option := range s.Options {
		name, rest, _ := strings.Cut(option, "(")
		value := strings.TrimSuffix(rest, ")")
		text, err := strconv.Unquote(value)
		if err != nil {
			text = value
		}
		switch name {
		case "Queue":
			p.Queue = text
		case "TaskID":
			p.TaskID = text
		case "Group":
			p.Group = text
		case "Unique":
			p.Unique, _ = time.ParseDuration(value)
		case "Timeout":
			p.Timeout, _ = time.ParseDuration(value)
		case "MaxRetry":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 {
				p.MaxRetry = n
			}
		}
	}
	return p
}

// Interval is the shortest time between two of the entry's next ticks; 0 where
// its spec cannot be read.
func (p Periodic) Interval() time.Duration {
	schedule, err := cron.ParseStandard(p.Spec) // as asynq does (scheduler.go: newScheduler)
	if err != nil || p.Next.IsZero() {
		return 0
	}
	var shortest time.Duration
	at := p.Next
	for range 8 {
		next := schedule.Next(at)
		if next.IsZero() {
			break
		}
		if gap := next.Sub(at); shortest == 0 || gap < shortest {
			shortest = gap
		}
		at = next
	}
	return shortest
}

// same says whether two entries enqueue equal tasks at equal times: all that
// asynq stores of them is equal, in any order of the options.
func (p Periodic) same(q Periodic) bool {
	if p.Spec != q.Spec || p.Type != q.Type || string(p.Payload) != string(q.Payload) || len(p.Options) != len(q.Options) {
		return false
	}
	a, b := slices.Clone(p.Options), slices.Clone(q.Options)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// readSchedules notes the periodic entries of all live schedulers.
func (r *run) readSchedules(ctx context.Context) error {
	entries, err := r.queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, s := range entries {
		r.periodic = append(r.periodic, PeriodicOf(s))
	}
	return nil
}

// silenced is the periodic entry whose tasks an existing ID keeps out; false
// where there is none.
func (r *run) silenced(ref inspect.Ref) (Periodic, bool) {
	for _, p := range r.periodic {
		if p.TaskID == ref.ID && p.Queue == ref.Queue {
			return p, true
		}
	}
	return Periodic{}, false
}

// schedulers tells the periodic entries that are registered more than once. They
// are read again, so that a scheduler that was restarted meanwhile is not taken
// for two.
func (r *run) schedulers(ctx context.Context) error {
	first := alikeEntries(r.periodic)
	if len(first) == 0 {
		return nil
	}
	entries, err := r.queue.Schedules(ctx)
	if err != nil {
		return err
	}
	var now []Periodic
	for _, s := range entries {
		now = append(now, PeriodicOf(s))
	}
	for _, group := range alikeEntries(now) {
		p := group[0]
		if !slices.ContainsFunc(first, func(g []Periodic) bool { return g[0].same(p) }) {
			continue
		}
		if _, ok := slices.BinarySearch(r.queues, p.Queue); !ok && len(r.opt.Scope.Queues) > 0 {
			continue
		}
		if !r.wantsType(inspect.Task{Type: p.Type}) {
			continue
		}
		r.publish(r.match(p.Type, p.Queue), Finding{
			Code: CodeSchedulerDuplicate, Severity: CodeSchedulerDuplicate.Severity(),
			Task: inspect.Task{Ref: inspect.Ref{Queue: p.Queue}, Type: p.Type, Payload: p.Payload},
			Key:  p.Spec, Queues: []string{p.Queue}, TaskCount: len(group),
			Detail: registrations(group), ConfirmedAt: r.now(),
		})
	}
	return nil
}

// alikeEntries groups the entries that are registered more than once.
func alikeEntries(entries []Periodic) [][]Periodic {
	var groups [][]Periodic
	for _, p := range entries {
		i := slices.IndexFunc(groups, func(g []Periodic) bool { return g[0].same(p) })
		if i < 0 {
			groups = append(groups, []Periodic{p})
			continue
		}
		groups[i] = append(groups[i], p)
	}
	return slices.DeleteFunc(groups, func(g []Periodic) bool { return len(g) < 2 })
}

// registrations says who registered an entry how often.
func registrations(group []Periodic) string {
	counts := map[string]int{}
	var names []string
	for _, p := range group {
		if counts[p.Scheduler] == 0 {
			names = append(names, p.Scheduler)
		}
		counts[p.Scheduler]++
	}
	slices.Sort(names)
	for i, n := range names {
		if counts[n] > 1 {
			names[i] = fmt.Sprintf("%s (%d times)", n, counts[n])
		}
	}
	return "by " + list(names)
}
