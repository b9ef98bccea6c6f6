package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

type journalRestoreOptions struct {
	*program
	queue, runName string
	all            bool
	output         outputFlags
	change         changeFlags
	pace           paceFlags
	restart        restartFlag
	from           *journal.Summary // the run that is meant; nil: none was named
}

func newJournalRestore(p *program) *cobra.Command {
	o := &journalRestoreOptions{program: p}
	cmd := &cobra.Command{
		Use:   "restore ID...",
		Short: "Put deleted tasks back into the archive, as the journal kept them",
		Long: `restore undoes resolve, and what integrity repair has closed: each task is put
back into the archive, every field of it byte for byte, with its score, and
with its lock for the time that is left. Nothing runs from the archive. The
last deletion of a task counts, or that of --run.

Held is what cannot be put back as it was (its payload was redacted, its ID
has another task), and what asynq would soon delete again: tasks that were
archived more than 90 days ago, and those beyond the archive's 9,999. The
latter is let through with one ID and --force-reason WHY.

It asks Redis and the journal, and no ledger.

Exit codes: 0 done, or a plan alone; 1 some were held, refused or failed; 2
usage or no such run; 3 Redis cannot be read; 4 incomplete.`,
		Example: `  idemctl journal restore evt_42
  idemctl journal restore --run last --all --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	connectionFlags(cmd)
	pageFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.queue, "queue", "q", "", "`QUEUE` of the tasks")
	f.StringVar(&o.runName, "run", "", "what was deleted by `RUN`: an ID, the beginning of one, or last")
	f.BoolVar(&o.all, "all", false, "with --run: everything that it has deleted")
	changeOutput(cmd, &o.output)
	o.change.addApply(cmd)
	o.pace.addRate(cmd)
	o.restart.add(cmd)
	f.StringVar(&o.change.reason, "force-reason", "", "`WHY` a task is put back that asynq may soon delete again; with one ID, and for the journal")
	return cmd
}

// check refuses a selection that says nothing, or two things.
func (o *journalRestoreOptions) check(ids []string) error {
	switch {
	case len(ids) == 0 && o.runName == "":
		return &usageError{err: errors.New("nothing says which: a change never means everything by itself"), hint: "name IDs, or say --run RUN --all"}
	case len(ids) == 0 && !o.all:
		return &usageError{err: fmt.Errorf("--run %s names all that it has deleted", o.runName), hint: "say --all as well, or name IDs"}
	case o.all && (len(ids) > 0 || o.runName == ""):
		return &usageError{err: errors.New("--all goes with --run, and without IDs"), hint: "idemctl journal restore --run RUN --all"}
	case slices.Contains(ids, ""):
		return usagef("an ID is empty")
	case o.change.reason != "" && len(ids) != 1:
		return usagef("--force-reason goes with one task, named by its ID")
	}
	return nil
}

func (o *journalRestoreOptions) run(ctx context.Context, cmd *cobra.Command, ids []string) error {
	ctx, l, err := o.lookRedis(ctx, cmd, &o.output, func() error { return o.check(ids) })
	if err != nil {
		return err
	}
	defer l.end()
	if err := o.change.allowed(l.session); err != nil {
		return err
	}
	found, err := o.deletions(ctx, l, ids)
	if err != nil {
		return err
	}
	plan, err := l.auditor.PlanUndo(ctx, l.queue, found, o.change.reason)
	if err != nil {
		return err
	}
	how, err := o.pace.application()
	if err != nil {
		return err
	}
	m := &moving{
		program: o.program, look: l, change: &o.change, plan: &plan, how: how,
		verb: "put back", command: commandWords(cmd, ids...),
	}
	if len(found) == 0 {
		m.nothing = o.noDeletions()
	}
	return m.carryOut(ctx)
}

// lookRedis opens Redis alone: what needs no ledger works without it. The flags are
// checked when all of them have their values.
func (p *program) lookRedis(ctx context.Context, cmd *cobra.Command, out *outputFlags, check func() error) (context.Context, *look, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return ctx, nil, err
	}
	if err := check(); err != nil {
		return ctx, nil, err
	}
	l := &look{session: &session{settings: set, rules: []reconcile.Rule{}}, release: func() {}}
	if l.page, err = out.options(p, set); err != nil {
		return ctx, nil, err
	}
	if err := l.openRedis(ctx, cmd); err != nil {
		return ctx, nil, err
	}
	ctx, l.release = p.bounded(ctx)
	facts, err := l.queue.Redis(ctx)
	if err == nil {
		l.header.Redis, err = facts, refuseReplica(facts)
	}
	if err == nil {
		l.auditor, err = l.session.auditor(p.load(cmd, reconcile.Options{}))
	}
	if err != nil {
		l.end()
		return ctx, nil, err
	}
	return ctx, l, nil
}

// deletions are what the journal says of the tasks.
func (o *journalRestoreOptions) deletions(ctx context.Context, l *look, ids []string) ([]reconcile.Deletion, error) {
	from := &journalReading{program: o.program}
	if err := from.readBy(ctx, l); err != nil {
		return nil, err
	}
	server, err := l.server(ctx)
	if err != nil {
		return nil, err
	}
	want := reconcile.DeletionFilter{IDs: ids, Queue: o.queue, Context: l.settings.Context.Name.Value, Server: server.Same}
	if o.runName != "" {
		run, err := from.find(ctx, o.runName)
		if err != nil {
			return nil, err
		}
		if err := samePlace(ctx, l, run); err != nil {
			return nil, err
		}
		want.Run, o.from = run.ID, run
	}
	found, err := reconcile.FindDeletions(journal.Read(from.path), want, func(err error) { o.log.warnf("%v", err) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{err: err, hint: "check --journal FILE"}
	}
	if errors.Is(err, reconcile.ErrTooManyDeletions) {
		return nil, &usageError{err: err, hint: "name fewer, by their IDs or with --queue"}
	}
	if err != nil {
		return nil, err
	}
	if err := o.restart.check(o.program, &o.change, server, serversOf(found)); err != nil {
		return nil, err
	}
	return found, ambiguous(found, ids)
}

// noDeletions says why a run has nothing that could be put back. The last run is often
// the restore itself.
func (o *journalRestoreOptions) noDeletions() string {
	if o.from == nil {
		return ""
	}
	words := "run " + o.from.ID + " has deleted nothing"
	if o.queue != "" {
		words += " of queue " + o.queue
	}
	if strings.HasPrefix(o.from.Command, "journal restore") {
		words += ": it put tasks back, which are not deleted any more"
	}
	return words
}

// serversOf are the ones that tasks were deleted from.
func serversOf(found []reconcile.Deletion) []string {
	var servers []string
	for i := range found {
		if found[i].Intent != nil {
			servers = append(servers, found[i].Intent.Server)
		}
	}
	return servers
}

// ambiguous refuses an ID that was deleted in several queues.
func ambiguous(found []reconcile.Deletion, ids []string) error {
	for _, id := range ids {
		var queues []string
		for i := range found {
			if found[i].Ref.ID == id {
				queues = append(queues, found[i].Ref.Queue)
			}
		}
		if len(queues) > 1 {
			slices.Sort(queues)
			return &usageError{err: fmt.Errorf("task %s is of several queues: %s", id, strings.Join(queues, ", ")), hint: "name its --queue"}
		}
	}
	return nil
}
