package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
)

type releaseOptions struct {
	*program
	queues, types, keys []string
	output              outputFlags
	change              changeFlags
}

func newLocksRelease(p *program) *cobra.Command {
	o := &releaseOptions{program: p}
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Release locks that were left behind, orphaned and phantom ones",
		Long: `release deletes uniqueness locks that guard nothing: those whose task is gone,
and those whose owner is other work. It shows what it would do, asks, writes
what it is about to change to the journal, and deletes each lock in one step
that does nothing if the owner has changed or has come back since.

A lock in use is never released; that of an archived task goes with the task. A
task that was in a group leaves its lock behind while its aggregate may still
run: in a queue that has groups, a lock is released only by --key and with a
--reason.

Exit codes: 0 done, or nothing to do, or a plan alone; 1 some were held, refused
or failed; 2 usage; 3 a source cannot be read.`,
		Example: `  idemctl locks release --all --dry-run
  idemctl locks release -q payments -t payment:charge
  idemctl locks release --key 'asynq:{default}:unique:mail:send:9e107d9d372b…'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&o.queues, "queue", "q", nil, "`QUEUE` name or glob; repeatable")
	f.StringSliceVarP(&o.types, "type", "t", nil, "task `TYPE` or glob, as the lock's key names it; repeatable")
	f.StringArrayVar(&o.keys, "key", nil, "one lock, by its `KEY`; repeatable")
	changeOutput(cmd, &o.output)
	o.change.add(cmd)
	f.StringVar(&o.change.reason, "reason", "", "`WHY`, for the journal")
	return cmd
}

// changeOutput are the flags that say how a plan and its outcome are printed.
func changeOutput(cmd *cobra.Command, o *outputFlags) {
	o.changes = true
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "table", "`FORMAT`: table, json or ndjson")
	f.IntVar(&o.limit, "limit", 0, "most steps to show (0: as many as fit a screen, in a pipe all; -1: all)")
	f.StringArray("redact", nil, "payload `PATH` to hide in every output; repeatable")
}

func (o *releaseOptions) run(ctx context.Context, cmd *cobra.Command) error {
	ctx, l, err := o.look(ctx, cmd, &o.output, func() (reconcile.Options, error) {
		narrowed := len(o.queues)+len(o.types)+len(o.keys) > 0
		return reconcile.Options{Scope: reconcile.Scope{Queues: o.queues, Types: o.types}}, o.change.selected(narrowed, "queue, type or key")
	})
	if err != nil {
		return err
	}
	defer l.end()
	if err := o.change.allowed(l.session); err != nil {
		return err
	}
	bar := o.newProgress()
	plan, report, err := l.auditor.PlanReleases(ctx, l.queue, progressOnly{bar}, reconcile.Selection{Keys: o.keys, Force: o.change.reason})
	bar.done()
	if err != nil {
		return err
	}
	if !report.Complete {
		return &brokenOff{fmt.Errorf("nothing was planned: the locks could not all be read (%w)", report.Problem)}
	}
	for _, key := range o.keys {
		if !slices.ContainsFunc(plan.Steps, func(s reconcile.Step) bool { return s.Target == key }) {
			o.log.warnf("nobody holds a lock of the key %s", key)
		}
	}
	return o.change.carryOut(ctx, o.program, l, &plan, commandWords(cmd), "release")
}
