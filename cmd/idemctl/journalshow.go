package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/reconcile/journal"
)

type journalShowOptions struct {
	journalReading
	item string
}

func newJournalShow(p *program) *cobra.Command {
	o := &journalShowOptions{journalReading: journalReading{program: p}}
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show one run item by item, or one item whole",
		Long: `show lists the items of one run: the change, the task, what came of it, what
was found instead, and the evidence it was decided on. RUN is an ID, the
beginning of one, or last. Of a run that was cut short it says first how many
items were planned and never begun, why, and what plans them anew.

--item N shows one item with all that the journal has on it: every result, and
the task as it stood before the change. Its payload is shown, but for what
--redact or the configuration hides.

Exit codes: 0 done, 2 usage or no such run, 3 the journal cannot be read, 4
some of it is damaged or missing: the warnings say what.`,
		Example: `  idemctl journal show last
  idemctl journal show 20261130T15 --item 3 -o json`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args[0]) },
	}
	o.add(cmd, "20 items on a terminal, else all")
	cmd.Flags().StringVar(&o.item, "item", "", "show item `N` whole")
	return cmd
}

func (o *journalShowOptions) run(ctx context.Context, cmd *cobra.Command, name string) error {
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	if err := o.open(ctx, cmd); err != nil {
		return err
	}
	defer o.close()
	run, err := o.find(ctx, name)
	if err != nil {
		return err
	}
	if o.item != "" {
		return o.showItem(ctx, run)
	}
	items := render.JournalItems{HidesKey: o.hidesKey}
	err = o.each(ctx, run, func(r *journal.Record) { items.Add(r) })
	if err != nil {
		return err
	}
	if err := render.WriteJournalRun(o.out, o.page, o.source, &render.JournalRun{Summary: *run, Items: items.All()}); err != nil {
		return &writeError{err}
	}
	return o.ended()
}

// each hands out the records of a run. What is damaged was reported when the run
// was looked for.
func (o *journalShowOptions) each(ctx context.Context, run *journal.Summary, take func(*journal.Record)) error {
	for r, err := range o.records(ctx, run.ID) {
		if err == nil {
			take(&r)
			continue
		}
		if !journal.GoesOn(err) {
			return err
		}
	}
	return nil
}

func (o *journalShowOptions) showItem(ctx context.Context, run *journal.Summary) error {
	items := render.JournalItems{HidesKey: o.hidesKey}
	whole := &render.JournalWhole{Run: run.ID}
	err := o.each(ctx, run, func(r *journal.Record) {
		if r.Item != o.item {
			return
		}
		items.Add(r)
		switch r.Kind {
		case journal.KindIntent:
			whole.Task = r.Task
		case journal.KindResult:
			whole.Results = append(whole.Results, *r)
		case journal.KindRun, journal.KindEnd, journal.KindUnknown:
		}
	})
	if err != nil {
		return err
	}
	all := items.All()
	if len(all) == 0 {
		return &usageError{err: fmt.Errorf("run %s has no item %q", run.ID, o.item), hint: "idemctl journal show " + run.ID}
	}
	whole.JournalItem = all[0]
	if err := render.WriteJournalItem(o.out, o.page, o.source, whole); err != nil {
		return &writeError{err}
	}
	return o.ended()
}
