package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
)

type retentionOptions struct {
	*program
	life       lifeFlags
	taskType   string
	dupHorizon timeValue
	archive    timeValue
	reruns     int
	zombie     timeValue
	skew       timeValue
	sliding    bool
	batchSize  int
	output     outputFlags
	set        *config.Settings
}

func newLedgerRetention(p *program) *cobra.Command {
	o := &retentionOptions{program: p}
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Say how long ledger rows must be kept, and how to prune the others",
		Long: `retention says how long a row that says "this is done" must be kept, so that no
retry, no duplicate and no re-run from the archive can miss it: from its first
writing, or from the latest attempt where every attempt renews the row's time
(--sliding). It compares that with the oldest row, and prints a DELETE that
prunes in small batches. It runs nothing.

Tables of effects are never pruned: they are the business itself. Without a
configured ledger only the times are computed. --timeout is the task's.

Exit codes: 0 done, 1 a configured retention is too short, 2 parameters that
make no sense, 3 a ledger cannot be read.`,
		Example: `  idemctl ledger retention
  idemctl ledger retention --dup-horizon 7d --reruns 2
  idemctl ledger retention --ledger sqlite:app.db --sliding`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	for _, name := range []string{"uri", "db", "password", "username", "cluster", "cluster-addrs", "tls", "tls-server", "insecure"} {
		_ = cmd.Flags().MarkHidden(name) // Redis is not asked
	}
	f := cmd.Flags()
	o.life.add(f)
	_ = f.MarkHidden("period") // of locks
	f.StringVarP(&o.taskType, "type", "t", "", "only the rule for this task `TYPE`")
	f.Var(&o.dupHorizon, "dup-horizon", "how late, as `TIME`, a producer may enqueue the same work again (default 0s)")
	f.Var(&o.archive, "archive", "how long, as `TIME`, an archived task may wait for its re-run (default 90d)")
	f.IntVar(&o.reruns, "reruns", 1, "how often, `N`, an operator may run an archived task again")
	f.Var(&o.zombie, "zombie", "how long, as `TIME`, a handler that ignores its context outlives its attempt (default: the longest run)")
	f.Var(&o.skew, "skew", "`TIME` between the clocks that stamp and prune (default 1m)")
	f.BoolVar(&o.sliding, "sliding", false, "every attempt renews the row's time")
	f.IntVar(&o.batchSize, "batch-size", 1000, "most `ROWS` that one DELETE takes")
	f.BoolVar(&o.output.noHeaders, "no-headers", false, "no titles and remarks in a pipe")
	f.StringVarP(&o.output.format, "output", "o", string(render.FormatTable), "`FORMAT`: "+formatNames(render.RetentionFormats(), ", "))
	completeFormats(cmd, render.RetentionFormats())
	return cmd
}

func (o *retentionOptions) run(ctx context.Context, cmd *cobra.Command) error {
	set, err := o.settings(cmd)
	if err != nil {
		return err
	}
	o.set = set
	if err := o.life.settle(o.program, cmd, set); err != nil {
		return err
	}
	if o.batchSize < 1 || o.batchSize > mostBatch {
		return usagef("--batch-size %d: expected a number of rows from 1 to %d", o.batchSize, mostBatch)
	}
	page, err := o.output.options(o.program, set)
	if err != nil {
		return err
	}
	if !slices.Contains(render.RetentionFormats(), page.Format) {
		return usagef("--output %s: ledger retention prints %s", page.Format, formatNames(render.RetentionFormats(), ", "))
	}
	result := &render.Retention{Policy: o.policy(), Sliding: o.sliding}
	rules, err := o.rules()
	if err != nil {
		return err
	}
	for _, r := range rules {
		need, err := o.need(result.Policy, r)
		if err != nil {
			return err
		}
		result.Rules = append(result.Rules, need)
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	if err := o.tables(ctx, cmd, result, rules); err != nil {
		return err
	}
	if err := render.WriteRetention(o.out, page, result); err != nil {
		return &writeError{err}
	}
	if slices.ContainsFunc(result.Tables, func(t render.RetentionTable) bool { return t.Verdict == render.RetentionTooShort }) {
		return outcome(exitFindings)
	}
	return nil
}

// mostBatch bounds the rows of one DELETE: more hold their locks too long.
const mostBatch = 100_000

func (o *retentionOptions) policy() retry.RetentionPolicy {
	p := retry.DefaultRetentionPolicy()
	p.DupHorizon = o.dupHorizon.or(p.DupHorizon)
	p.Archive = o.archive.or(p.Archive)
	p.Skew = o.skew.or(p.Skew)
	p.Reruns, p.Zombie = o.reruns, o.zombie.at
	return p
}

// retentionRule is a rule whose tasks' rows are asked about.
type retentionRule struct {
	number int // 0: none, parameters alone
	rule   reconcile.Rule
}

// rules are the rules in question: all, the one for --type, the implicit one for
// a ledger without rules, and without a ledger none but the parameters.
func (o *retentionOptions) rules() ([]retentionRule, error) {
	configured := rulesOf(o.set.Context.Rules)
	var out []retentionRule
	for i, r := range configured {
		if o.taskType != "" && !reconcile.MatchGlob(r.Type, o.taskType) {
			continue
		}
		out = append(out, retentionRule{i + 1, r})
		if o.taskType != "" {
			break // the first that matches is the type's rule
		}
	}
	switch ledgers := o.set.Context.Ledgers; {
	case len(out) > 0:
		return out, nil
	case len(configured) > 0:
		return nil, &usageError{
			err:  fmt.Errorf("no rule of the configuration matches type %q", o.taskType),
			hint: "leave --type out to see all rules",
		}
	case len(ledgers) == 1:
		return []retentionRule{{0, reconcile.ImplicitRule(ledgers[0].Name.Value)}}, nil
	case len(ledgers) > 1:
		return nil, &usageError{
			err:  fmt.Errorf("%d ledgers and no rule that says which holds the marks", len(ledgers)),
			hint: "give one --ledger, or write rules: idemctl config init",
		}
	}
	return []retentionRule{{}}, nil
}

// need computes one rule's need.
func (o *retentionOptions) need(policy retry.RetentionPolicy, r retentionRule) (render.RetentionRule, error) {
	out := render.RetentionRule{Number: r.number, Type: o.taskType}
	d, err := o.life.declareRule(o.set, r.number)
	if err != nil {
		return out, err
	}
	if r.number > 0 {
		out.Type, out.Queue = r.rule.Type, r.rule.Queue
	}
	out.Inputs = d.inputs
	if out.Need, err = d.params.Retention(policy); err != nil {
		return out, nonsense(err)
	}
	return out, nil
}
