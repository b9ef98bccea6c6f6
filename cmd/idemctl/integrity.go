package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
)

type integrityOptions struct {
	*program
	queues, types []string
	output        outputFlags
	failOn        string
}

func newIntegrity(p *program) *cobra.Command {
	o := &integrityOptions{program: p}
	cmd := &cobra.Command{
		Use:   "integrity",
		Short: "Hold hashes against lists, sets, groups and leases: what the queue hides",
		Long: `integrity goes over the queues' structure once: every task's hash against the
lists, sets and groups, leases against active tasks, groups against those that
aggregators look at, and what removed queues have left. Whatever it reports was
looked at twice; tasks on the move are not mistaken for faults. audit does the
same on its way; integrity alone asks no ledger but for the tasks it reports.

Exit codes: 0 nothing at or above --fail-on, 1 findings, 3 a source cannot be
read, 4 incomplete.`,
		Example: `  idemctl integrity
  idemctl integrity -q payments -o json
  idemctl integrity repair --all --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&o.queues, "queue", "q", nil, "`QUEUE` name or glob; repeatable")
	f.StringSliceVarP(&o.types, "type", "t", nil, "task `TYPE` or glob; repeatable")
	o.output.add(cmd, "20 findings on a terminal, else all")
	f.StringVar(&o.failOn, "fail-on", "warning", "least `SEVERITY` that makes the exit code 1: info, warning, high, critical, none")
	cmd.AddCommand(newRepair(p))
	return cmd
}

func (o *integrityOptions) run(ctx context.Context, cmd *cobra.Command) error {
	var failOn reconcile.Severity
	ctx, l, err := o.look(ctx, cmd, &o.output, func() (options reconcile.Options, err error) {
		options.Scope = reconcile.Scope{Queues: o.queues, Types: o.types}
		if failOn, err = reconcile.ParseSeverity(o.failOn); err != nil {
			err = usagef("--fail-on: %w", err)
		}
		return options, err
	})
	if err != nil {
		return err
	}
	defer l.end()
	return o.print(ctx, l, l.auditor.Integrity, failOn)
}

type repairOptions struct {
	*program
	queues, types, ids, kinds []string
	output                    outputFlags
	change                    changeFlags
}

func newRepair(p *program) *cobra.Command {
	o := &repairOptions{program: p}
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Make the one safe repair of each kind: plan, confirm, journal",
		Long: `repair mends what integrity finds, where there is one safe way:

  ghost               back into its set; into the archive where nobody can say
                      whether its work is done or when it was due; closed where
                      its work is done and its key cannot have been used before
  no-lease            an expired lease, so that a recoverer takes the task;
                      closed where its work is applied; held where nobody knows
  group-unregistered  the group is registered, so that aggregators look at it
  result-only         the leftover result is deleted
  stale-lease         the lease is removed
  dangling            the ID without a task is removed
  state-mismatch      the state is set to where the task is

Each is one step in Redis that does nothing if the task has changed since. What
is held is let through one task at a time: --id ID --force-reason WHY.

Exit codes: 0 done, or nothing to do, or a plan alone; 1 some were held, refused
or failed; 2 usage; 3 a source cannot be read; 4 incomplete, nothing planned.`,
		Example: `  idemctl integrity repair --all --dry-run
  idemctl integrity repair --queue default --kind ghost
  idemctl integrity repair --queue default --id=evt_42 --force-reason "checked"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&o.queues, "queue", "q", nil, "`QUEUE` name or glob; repeatable")
	f.StringSliceVarP(&o.types, "type", "t", nil, "task `TYPE` or glob; repeatable")
	f.StringArrayVarP(&o.ids, "id", "i", nil, "task `ID`; repeatable")
	f.StringSliceVar(&o.kinds, "kind", nil, "`KIND` of finding, such as ghost or no-lease; repeatable")
	changeOutput(cmd, &o.output)
	o.change.add(cmd)
	f.StringVar(&o.change.reason, "force-reason", "", "`WHY` what is held is to be done all the same; with one --id, and for the journal")
	return cmd
}

// chosen checks the flags.
func (o *repairOptions) chosen() (options reconcile.Options, codes []reconcile.Code, err error) {
	options.Scope = reconcile.Scope{Queues: o.queues, Types: o.types, IDs: o.ids}
	if err := o.change.selected(len(o.queues)+len(o.types)+len(o.ids)+len(o.kinds) > 0, "queue, type, ID or kind"); err != nil {
		return options, nil, err
	}
	if o.change.reason != "" && len(o.ids) != 1 {
		return options, nil, usagef("--force-reason goes with one task, named by --id")
	}
	codes, err = kindsOf(o.kinds)
	return options, codes, err
}

func (o *repairOptions) run(ctx context.Context, cmd *cobra.Command) error {
	var codes []reconcile.Code
	ctx, l, err := o.look(ctx, cmd, &o.output, func() (options reconcile.Options, err error) {
		options, codes, err = o.chosen()
		return options, err
	})
	if err != nil {
		return err
	}
	defer l.end()
	if err := o.change.allowed(l.session); err != nil {
		return err
	}
	bar := o.newProgress()
	sel := reconcile.Selection{Codes: codes, Force: o.change.reason}
	plan, report, err := l.auditor.PlanRepairs(ctx, l.queue, progressOnly{bar}, sel)
	bar.done()
	if err != nil {
		return err
	}
	if !report.Complete {
		return &brokenOff{fmt.Errorf("nothing was planned: not all could be read (%w)", report.Problem)}
	}
	for _, id := range o.ids {
		if !slices.ContainsFunc(plan.Steps, func(s reconcile.Step) bool { return s.Ref().ID == id }) {
			o.log.warnf("nothing is wrong with the structure of task %s in this selection", id)
		}
	}
	return o.change.carryOut(ctx, o.program, l, &plan, commandWords(cmd), "repair")
}

// kindsOf reads the names of integrity findings, with or without the family.
func kindsOf(names []string) ([]reconcile.Code, error) {
	var codes []reconcile.Code
	for _, name := range names {
		code := reconcile.Code("integrity/" + strings.TrimPrefix(strings.TrimSpace(name), "integrity/"))
		if !code.Known() {
			var known []string
			for _, c := range reconcile.Codes() {
				if c.Family() == "integrity" {
					known = append(known, strings.TrimPrefix(string(c), "integrity/"))
				}
			}
			return nil, &usageError{
				err:  fmt.Errorf("--kind %s: no such kind of finding", name),
				hint: "did you mean " + nearest(name, known, 1)[0] + "? All: " + strings.Join(known, ", "),
			}
		}
		codes = append(codes, code)
	}
	return codes, nil
}
