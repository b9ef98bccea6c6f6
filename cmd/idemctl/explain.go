package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

type explainOptions struct {
	*program
	output outputFlags
}

func newExplain(p *program) *cobra.Command {
	o := &explainOptions{program: p}
	cmd := &cobra.Command{
		Use:   "explain QUEUE TASK_ID",
		Short: "Say everything known of one task, and what would happen next",
		Long: `explain reads one task, its rows in every source, its lock and its worker; it
says what follows, what happens to the task if nobody acts, and what each thing
you can do would do. It changes nothing.`,
		Example: `  idemctl explain default 3f0c8f5e-…
  idemctl explain payments evt_42 -o json
  idemctl audit -o name | head -1 | xargs idemctl explain`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := refOf(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd, ref)
		},
	}
	connectionFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.output.format, "output", "o", "table", "`FORMAT`: table or json")
	f.StringArray("redact", nil, "payload `PATH` to hide; repeatable")
	f.Duration("settle", 0, "time after which no attempt is taken to live (default: the larger of 2m and the task's timeout)")
	f.Duration("confirm-after", reconcile.DefaultConfirmAfter, "look again at an active task that is applied after this time")
	return cmd
}

// refOf reads QUEUE TASK_ID, or the one word that -o name prints.
func refOf(cmd *cobra.Command, args []string) (inspect.Ref, error) {
	if len(args) == 1 {
		if ref, err := render.ParseName(args[0]); err == nil {
			return ref, nil
		}
	}
	if err := exactArgs("QUEUE", "TASK_ID")(cmd, args); err != nil {
		return inspect.Ref{}, err
	}
	return inspect.Ref{Queue: args[0], ID: args[1]}, nil
}

func (o *explainOptions) run(ctx context.Context, cmd *cobra.Command, ref inspect.Ref) error {
	s, err := o.openBare(ctx, cmd)
	if err != nil {
		return err
	}
	defer s.close()
	o.output.payload = true
	page, err := o.output.options(o.program, s.settings)
	if err != nil {
		return err
	}
	if page.Format != render.FormatTable && page.Format != render.FormatJSON {
		return usagef("--output %s: explain prints table or json", page.Format)
	}
	a, err := s.auditor(reconcile.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	facts, err := s.queue.Redis(ctx)
	if err != nil {
		return err
	}
	if err := refuseReplica(facts); err != nil {
		return err
	}
	d, err := a.Explain(ctx, ref)
	if err != nil {
		return s.whereElse(ctx, ref, err)
	}
	return render.WriteDossier(o.out, page, &d)
}

// whereElse names the queues that do hold a task of the ID that was not found.
func (s *session) whereElse(ctx context.Context, ref inspect.Ref, err error) error {
	var missing *reconcile.TaskError
	if !errors.As(err, &missing) {
		return err
	}
	queues, listErr := s.queue.Queues(ctx)
	if listErr != nil {
		return err
	}
	refs := make([]inspect.Ref, len(queues))
	for i, q := range queues {
		refs[i] = inspect.Ref{Queue: q, ID: ref.ID}
	}
	tasks, readErr := s.queue.Read(ctx, refs)
	if readErr != nil {
		return err
	}
	var found []string
	for _, t := range tasks {
		if t.State != inspect.StateUnknown {
			found = append(found, elsewhere(t.Ref))
		}
	}
	hint := "it was done, or deleted; no other queue holds it either"
	if len(missing.HeldIn) > 0 {
		hint = reconcile.Command("idemctl integrity repair").Only("queue", ref.Queue).Flag("id", ref.ID).String()
	}
	if len(found) > 0 {
		hint = "another queue holds it: " + strings.Join(found, ", ")
	}
	return &usageError{err: err, hint: hint}
}

// elsewhere is the command that explains a task. One that no shell can pass on is
// named in the one word that -o name prints.
func elsewhere(ref inspect.Ref) string {
	if line := reconcile.Command("idemctl explain").Operands(ref.Queue, ref.ID).String(); line != "" {
		return line
	}
	return reconcile.Command("idemctl explain").Operands(render.Name(ref)).String()
}
