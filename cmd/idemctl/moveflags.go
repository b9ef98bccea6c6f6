package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// moveFlags select archived tasks, and say how a plan of moves is made.
type moveFlags struct {
	scope       scopeFlags
	codes       []string
	change      changeFlags
	output      outputFlags
	pace        paceFlags
	count       int
	planOut     string
	planExpiry  time.Duration
	expirySet   bool
	attemptsSet bool
	order       string
	max         int
	force       string

	attempts    int
	relock      string
	unprotected []string
	idle        []string
}

// add adds what requeue and resolve have in common.
func (m *moveFlags) add(cmd *cobra.Command) {
	connectionFlags(cmd)
	pageFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&m.scope.queues, "queue", "q", nil, "`QUEUE` name or glob; repeatable")
	f.StringSliceVarP(&m.scope.types, "type", "t", nil, "task `TYPE` or glob; repeatable")
	f.StringArrayVarP(&m.scope.ids, "id", "i", nil, "task `ID`; repeatable")
	f.StringVar(&m.scope.where, "where", "", "filter `EXPR`, e.g. 'cause == \"timeout\" && retried > 3'")
	f.StringSliceVar(&m.codes, "code", nil, "tasks with a finding `CODE`, such as effect/lost; repeatable")
	m.change.add(cmd)
	f.Lookup("all").Usage = "select every archived task; the question then wants the count typed"
	f.IntVar(&m.count, "count", 0, "how many (`N`) are to be moved; refused if it is another number (--all with --yes needs it)")
	changeOutput(cmd, &m.output)
	f.StringVar(&m.planOut, "plan-out", "", "write the plan to `FILE` and change nothing: idemctl apply FILE")
	f.DurationVar(&m.planExpiry, "plan-expiry", time.Hour, "how long a plan file may be applied")
	f.StringVar(&m.order, "order", "oldest", "move the `FIRST` ones first: oldest, newest or type")
	f.IntVar(&m.max, "max", 0, "most tasks (`N`) to move (0: all)")
	f.StringVar(&m.force, "force-reason", "", "`WHY` a task that is held is to be moved all the same; with one --id, and for the journal")
}

// addRunning adds what only tasks that run again need.
func (m *moveFlags) addRunning(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&m.attempts, "attempts", 0, "give each task `N` attempts (default what its counters leave, mostly one)")
	f.StringVar(&m.relock, "relock", "", "unique tasks take their lock again for `TTL` (or auto: as long as they can live)")
	f.StringArrayVar(&m.unprotected, "accept-unprotected", nil, "run tasks of `TYPE` although nothing stops a second effect; repeatable")
	f.StringArrayVar(&m.idle, "accept-idle", nil, "run tasks of `QUEUE` although it is paused or nobody serves it; repeatable")
}

// moves checks the flags.
func (m *moveFlags) moves() (reconcile.Options, reconcile.Moves, error) {
	var o reconcile.Options
	moves := reconcile.Moves{Attempts: m.attempts, Max: m.max, Unprotected: m.unprotected, Idle: m.idle, Force: m.force}
	scope, filter, err := m.scope.scope()
	if err != nil {
		return o, moves, err
	}
	o.Scope, o.Where = scope, filter
	if moves.Codes, err = codesOf(m.codes); err != nil {
		return o, moves, err
	}
	narrowed := len(m.scope.queues)+len(m.scope.types)+len(m.scope.ids)+len(m.codes) > 0 || m.scope.where != ""
	if err := m.change.selected(narrowed, "queue, type, ID, code or filter (--where)"); err != nil {
		return o, moves, err
	}
	if moves.Order, err = reconcile.ParseOrder(m.order); err != nil {
		return o, moves, usagef("--order: %w", err)
	}
	if moves.Relock, err = parseRelock(m.relock); err != nil {
		return o, moves, err
	}
	return o, moves, m.check()
}

// check refuses numbers and combinations that make no sense.
func (m *moveFlags) check() error {
	switch {
	case m.attempts < 0 || m.attempts > inspect.MaxAttempts || m.attempts == 0 && m.attemptsSet:
		return usagef("--attempts %d: expected 1 to %d", m.attempts, inspect.MaxAttempts)
	case m.max < 0:
		return usagef("--max %d: expected a number that is not negative", m.max)
	case m.count < 0:
		return usagef("--count %d: expected a number that is not negative", m.count)
	case m.force != "" && len(m.scope.ids) != 1:
		return usagef("--force-reason goes with one task, named by --id")
	case m.force != "" && len(m.scope.queues) != 1:
		return usagef("--force-reason goes with one task: name its --queue, too")
	case m.planOut == "" && m.expirySet:
		return usagef("--plan-expiry goes with --plan-out")
	case m.planExpiry <= 0:
		return usagef("--plan-expiry %v: expected a time above zero", m.planExpiry)
	case m.planOut != "" && m.change.yes:
		return &usageError{err: fmt.Errorf("--plan-out writes a plan and changes nothing, and --yes says to change"), hint: "idemctl apply FILE --yes"}
	}
	return nil
}

// parseRelock reads how long locks are to live.
func parseRelock(s string) (reconcile.Relock, error) {
	switch s {
	case "":
		return reconcile.Relock{}, nil
	case "auto":
		return reconcile.Relock{Auto: true}, nil
	}
	ttl, err := time.ParseDuration(s)
	if err != nil || ttl < time.Second {
		return reconcile.Relock{}, usagef("--relock %s: expected auto, or a time of 1s or more such as 24h", s)
	}
	return reconcile.Relock{TTL: ttl}, nil
}

// codesOf reads codes of findings.
func codesOf(names []string) ([]reconcile.Code, error) {
	var codes []reconcile.Code
	for _, name := range names {
		code := reconcile.Code(strings.TrimSpace(name))
		if !code.Known() {
			var known []string
			for _, c := range reconcile.Codes() {
				known = append(known, string(c))
			}
			return nil, &usageError{err: fmt.Errorf("--code %s: no such code", name), hint: "did you mean " + nearest(name, known, 1)[0] + "?"}
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// missing warns of what was named and is not in the plan.
func (m *moveFlags) missing(p *program, plan *reconcile.Plan) {
	for _, id := range m.scope.ids {
		if !slices.ContainsFunc(plan.Steps, func(s reconcile.Step) bool { return s.Ref().ID == id }) {
			p.log.warnf("task %s is not in the archive of the selected queues", id)
		}
	}
	for _, t := range m.unprotected {
		if !slices.ContainsFunc(plan.Steps, func(s reconcile.Step) bool { return s.Finding.Task.Type == t }) {
			p.log.warnf("--accept-unprotected %s: no selected task is of that type", t)
		}
	}
	for _, q := range m.idle {
		if !slices.ContainsFunc(plan.Steps, func(s reconcile.Step) bool { return s.Ref().Queue == q }) {
			p.log.warnf("--accept-idle %s: no selected task is in that queue", q)
		}
	}
}
