package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
)

type ttlCalcOptions struct {
	*program
	life     lifeFlags
	types    []string
	queues   []string
	observed bool
	all      bool
	batch    string
	explain  bool
	plot     string
	output   outputFlags
	set      *config.Settings
}

func newTTLCalc(p *program) *cobra.Command {
	o := &ttlCalcOptions{program: p}
	cmd := &cobra.Command{
		Use:   "ttl-calc",
		Short: "Compute the Unique TTL that outlives a task's retries, from their bounds",
		Long: `ttl-calc says how long a task can live that fails every attempt, and so how long
its uniqueness lock must: the proven bound and a margin, as Go code in the first
line. It shows what the bound is made of, where in asynq each part comes from,
when every attempt can start, and what a shorter lock risks.

Parameters come from flags, from --params (JSON, times in seconds), or with
--type from the configuration's rule for that type. Neither Redis nor a ledger
is needed. --observed compares them with what Redis shows now, and gives no TTL
where delays contradict the retry policy; --all does so for every type, one line
each. --batch answers questions, one JSON object a line.

--timeout is the task's, asynq.Timeout.

Exit codes: 0 done, 1 with --all: a lock is too short, or a live task can
outlive its lock, 2 parameters that make no sense, 3 Redis cannot be read,
4 incomplete.`,
		Example: `  idemctl ttl-calc
  idemctl ttl-calc --max-retry 8 --policy 'fixed(60s)' --timeout 1m
  idemctl ttl-calc --unique 1h --explain
  idemctl ttl-calc --type payment:charge --observed
  idemctl ttl-calc --all
  idemctl ttl-calc --batch questions.ndjson`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	for _, name := range []string{"ledger", "allow-scan", "ledger-timeout"} {
		_ = cmd.Flags().MarkHidden(name) // no ledger is opened
	}
	f := cmd.Flags()
	o.life.add(f)
	f.StringVar(&o.life.params, "params", "", "parameters as `JSON`, or @FILE; flags go over them")
	f.Var(&o.life.unique, "unique", "judge the lock of asynq.Unique(`TIME`)")
	f.Float64Var(&o.life.failProb, "fail-prob", 1, "chance `P` that one attempt fails, for the risk")
	f.StringSliceVarP(&o.types, "type", "t", nil, "task `TYPE`: take its rule's policy, Unique TTL and period; with --all a glob, repeatable")
	f.StringSliceVarP(&o.queues, "queue", "q", nil, "`QUEUE` of the type's rule, and to observe; a glob, repeatable")
	f.BoolVar(&o.observed, "observed", false, "read Redis: delays, waits, runs, options and periodic entries as they are")
	f.BoolVar(&o.all, "all", false, "read Redis: the TTL in use and the TTL needed of every type")
	f.StringVar(&o.batch, "batch", "", "answer the questions in `FILE`, one JSON object a line (- is standard input)")
	f.BoolVar(&o.explain, "explain", false, "show the formula with the numbers in it")
	f.StringVar(&o.plot, "plot", "", "also write the picture to `FILE`.svg or FILE.png")
	f.BoolVar(&o.output.noHeaders, "no-headers", false, "no titles and remarks in a pipe")
	f.Float64("rate", 0, "most tasks a second to read (0: no limit)")
	f.Int("page-size", 0, "tasks a page (0: adapt, at most 500)")
	f.StringVarP(&o.output.format, "output", "o", string(render.FormatTable), "`FORMAT`: "+formatNames(render.TTLFormats(), ", "))
	completeFormats(cmd, render.TTLFormats())
	return cmd
}

// completeFormats offers the formats of --output.
func completeFormats(cmd *cobra.Command, formats []render.Format) {
	names := strings.Split(formatNames(formats, "\n"), "\n")
	_ = cmd.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

func (o *ttlCalcOptions) run(ctx context.Context, cmd *cobra.Command) error {
	set, err := o.settings(cmd)
	if err != nil {
		return err
	}
	o.set = set
	if err := o.life.settle(o.program, cmd, set); err != nil {
		return err
	}
	if err := o.checkModes(cmd); err != nil {
		return err
	}
	if o.batch != "" {
		return o.runBatch(ctx)
	}
	page, err := o.page()
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	if o.all {
		return o.runAll(ctx, cmd, page)
	}
	return o.runOne(ctx, cmd, page)
}

// page settles how results are written.
func (o *ttlCalcOptions) page() (render.Options, error) {
	page, err := o.output.options(o.program, o.set)
	if err != nil {
		return page, err
	}
	if !slices.Contains(render.TTLFormats(), page.Format) {
		return page, &usageError{
			err:  fmt.Errorf("--output %s: ttl-calc prints %s", page.Format, formatNames(render.TTLFormats(), ", ")),
			hint: "idemctl ttl-calc -o json",
		}
	}
	return page, nil
}

// checkModes refuses flags that do not go together.
func (o *ttlCalcOptions) checkModes(cmd *cobra.Command) error {
	given := func(names ...string) string {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				return name
			}
		}
		return ""
	}
	exclude := func(mode string, names ...string) error {
		if other := given(names...); other != "" && given(mode) != "" {
			return usagef("--%s and --%s exclude each other", mode, other)
		}
		return nil
	}
	ownTask := []string{"max-retry", "timeout", "deadline", "process-in", "group", "group-max-delay", "unique", "period", "params", "explain", "plot", "fail-prob"}
	if err := errors.Join(
		exclude("batch", slices.Concat(lifeNames, []string{"params", "unique", "period", "fail-prob", "type", "queue", "observed", "all", "explain", "plot"})...),
		exclude("all", append(ownTask, "observed")...),
		exclude("params", "type"),
	); err != nil {
		return &usageError{err: err, hint: cmd.CommandPath() + " --help"}
	}
	if o.batch != "" && cmd.Flags().Changed("output") && o.output.format != string(render.FormatNDJSON) {
		return &usageError{err: fmt.Errorf("--output %s: --batch prints ndjson", o.output.format), hint: "leave --output out"}
	}
	if !o.all && (len(o.types) > 1 || isGlob(strings.Join(o.types, ""))) {
		return &usageError{
			err:  fmt.Errorf("--type %s: one type is computed at a time", strings.Join(o.types, ",")),
			hint: "idemctl ttl-calc --all -t PATTERN says it of many",
		}
	}
	return o.checkPlot()
}

// runOne answers for one set of parameters.
func (o *ttlCalcOptions) runOne(ctx context.Context, cmd *cobra.Command, page render.Options) error {
	d, err := o.life.declare(o.set, o.taskType(), o.queue())
	if err != nil {
		return err
	}
	if d.rule == nil && o.taskType() != "" && len(o.set.Context.Rules) > 0 {
		o.log.warnf("no rule of the configuration matches type %q: asynq's defaults and the context's policy are used", o.taskType())
	}
	var seen *render.TTLObserved
	var doubts []string
	if o.observed {
		if err := checkParams(d.params); err != nil { // before Redis is asked
			return err
		}
		if seen, err = o.observe(ctx, cmd); err != nil {
			return err
		}
		adopt(d, seen, o.taskType())
		doubts = o.doubts(d, seen)
		if slices.ContainsFunc(seen.Kinds, func(k render.TTLKind) bool { return k.DeadlineAlone() }) && d.params.Deadline == nil {
			o.log.warnf("tasks have a deadline and no timeout, which is not in the answer: say how long after the enqueue with --deadline")
		}
	}
	t, err := answer(d.params, o.life.failProb)
	if err != nil {
		return err
	}
	t = withhold(t, doubts)
	t.Type, t.Inputs, t.Explain, t.Observed = o.taskType(), d.inputs, o.explain, seen
	if o.plot != "" {
		if err := o.writePlot(t); err != nil {
			return err
		}
	}
	if err := render.WriteTTL(o.out, page, t); err != nil {
		return &writeError{err}
	}
	if seen != nil && !seen.Complete {
		return outcome(exitIncomplete)
	}
	return nil
}

func (o *ttlCalcOptions) taskType() string {
	if o.all || len(o.types) == 0 {
		return ""
	}
	return o.types[0]
}

// queue is the queue whose rule is meant; "" for any.
func (o *ttlCalcOptions) queue() string {
	if len(o.queues) != 1 || isGlob(o.queues[0]) {
		return ""
	}
	return o.queues[0]
}
