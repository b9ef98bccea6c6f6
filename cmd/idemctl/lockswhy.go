package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

type whyOptions struct {
	*program
	payload, id   string
	all           bool
	queues, types []string
	output        outputFlags
	failOn        string
}

func newLocksWhy(p *program) *cobra.Command {
	o := &whyOptions{program: p}
	cmd := &cobra.Command{
		Use:   "why",
		Short: "Say whether an enqueue would be refused, by what and until when",
		Long: `why answers for one enqueue: would asynq refuse it now, by its uniqueness lock
(ErrDuplicateTask) or by its task ID (ErrTaskIDConflict); which task is behind
that, in which state, and did it take effect; until when; and what is the one
safe thing to do.

The lock guards the very bytes of the payload: give them as they are enqueued.
Without --payload the payload is nil, which has another lock than an empty one.

--all lists everything that refuses new work now and will not do it: locks of
archived tasks, locks left behind, task IDs of archived or retained tasks, and
hashes that no list holds, with the periodic entries that are silent because of
one.

Exit codes: 0 it would be accepted (--all: nothing blocks), 1 it would be
refused (--all: something does), 2 usage, 3 a source cannot be read, 4
incomplete.`,
		Example: `  idemctl locks why -t payment:charge --payload '{"id":7}'
  idemctl locks why -t report:monthly --payload p.json -q low --id report-11
  idemctl locks why --id report-2026-11
  idemctl locks why --all -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd) },
	}
	connectionFlags(cmd)
	loadFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&o.queues, "queue", "q", nil, "`QUEUE` of the enqueue (default \"default\"); with --all, name or glob, repeatable")
	f.StringSliceVarP(&o.types, "type", "t", nil, "task `TYPE` of the enqueue; with --all, name or glob, repeatable")
	f.StringVarP(&o.payload, "payload", "l", "", "its payload: a `FILE`, - for standard input, or JSON as it is")
	f.StringVarP(&o.id, "id", "i", "", "its task `ID`, where it has one of its own")
	f.BoolVar(&o.all, "all", false, "list everything that is blocked now")
	f.StringVarP(&o.output.format, "output", "o", "table", "`FORMAT`: table or json; with --all as audit has them")
	f.BoolVar(&o.output.noHeaders, "no-headers", false, "no column titles")
	f.IntVar(&o.output.limit, "limit", 0, "with --all, most lines to print (-1: all)")
	f.StringArray("redact", nil, "payload `PATH` to hide in every output; repeatable")
	f.StringVar(&o.failOn, "fail-on", "warning", "with --all, least `SEVERITY` that makes the exit code 1")
	return cmd
}

func (o *whyOptions) run(ctx context.Context, cmd *cobra.Command) error {
	set, err := o.settings(cmd)
	if err != nil {
		return err
	}
	given := wasSet(cmd.Flags().Lookup("payload"))
	switch {
	case o.all && (given || o.id != ""):
		return usagef("--all asks for everything: it goes with neither --payload nor --id")
	case !o.all && (len(o.queues) > 1 || len(o.types) > 1):
		return usagef("one enqueue has one queue and one type: repeat them only with --all")
	case !o.all && given && len(o.types) == 0:
		return usagef("a payload alone has no lock: --type is missing")
	case !o.all && len(o.types) == 0 && o.id == "":
		return &usageError{err: errors.New("which enqueue: neither --type nor --id was given"), hint: "idemctl locks why --type TYPE --payload FILE|-|JSON; or --all"}
	}
	if o.all {
		return o.everything(ctx, cmd, set)
	}
	q := reconcile.Question{Queue: "default", ID: o.id, IDOnly: len(o.types) == 0}
	if len(o.queues) > 0 {
		q.Queue = o.queues[0]
	}
	if len(o.types) > 0 {
		q.Type = o.types[0]
	}
	if given {
		payload, err := o.payloadBytes()
		if err != nil {
			return err
		}
		q.Payload = payload
	}
	return o.one(ctx, cmd, set, q)
}

// maxPayload bounds what is read as a payload.
const maxPayload = 64 << 20

// payloadBytes are the bytes of the payload, as they would be enqueued.
func (o *whyOptions) payloadBytes() ([]byte, error) {
	if o.payload == "-" {
		return readBounded(o.in, "standard input")
	}
	f, err := os.Open(o.payload)
	if err == nil {
		defer func() { _ = f.Close() }() // it was only read
		return readBounded(f, o.payload)
	}
	if json.Valid([]byte(o.payload)) {
		return []byte(o.payload), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{
			err:  fmt.Errorf("--payload %s: neither a file nor JSON", o.payload),
			hint: "a payload that is no JSON: printf %s '…' | idemctl locks why --payload - …",
		}
	}
	return nil, usagef("--payload: %w", err)
}

// readBounded reads all of it, never nil: an empty payload is not a nil one.
func readBounded(r io.Reader, name string) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, maxPayload+1))
	switch {
	case err != nil:
		return nil, usagef("reading the payload from %s: %w", name, err)
	case n > maxPayload:
		return nil, usagef("the payload in %s is longer than %d MiB", name, maxPayload>>20)
	}
	if b.Len() == 0 {
		return []byte{}, nil
	}
	return b.Bytes(), nil
}

func (o *whyOptions) one(ctx context.Context, cmd *cobra.Command, set *config.Settings, q reconcile.Question) error {
	ctx, l, err := o.lookBy(ctx, cmd, &o.output, set, false, reconcile.Options{})
	if err != nil {
		return err
	}
	defer l.end()
	switch l.page.Format {
	case render.FormatTable, render.FormatJSON, render.FormatNDJSON:
	default:
		return usagef("--output %s: one answer is printed as table or json", l.page.Format)
	}
	answer, err := l.auditor.Why(ctx, q)
	if err != nil {
		return err
	}
	if err := render.WriteAnswer(o.out, l.page, &answer); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	if !answer.Known {
		if queues, err := l.queue.Queues(ctx); err == nil && len(queues) > 0 {
			o.log.warnf("asynq does not know queue %q; the nearest it knows: %v", q.Queue, nearest(q.Queue, queues, 3))
		}
	}
	if answer.Refused() {
		return outcome(exitFindings)
	}
	return o.withoutLineFeed(ctx, l.auditor, q)
}

// withoutLineFeed warns where only the line feed at the end of a file keeps the
// payload from being the one that is locked.
func (o *whyOptions) withoutLineFeed(ctx context.Context, a *reconcile.Auditor, q reconcile.Question) error {
	bare := bytes.TrimRight(q.Payload, "\r\n")
	if len(bare) == len(q.Payload) || len(bare) == 0 {
		return nil
	}
	q.Payload = bare
	answer, err := a.Why(ctx, q)
	if err == nil && answer.Refused() {
		o.log.warnf("the payload ends with a line feed, and a lock guards every byte; without it the enqueue would be refused: printf %%s \"$(cat FILE)\" | idemctl locks why --payload - …")
	}
	return err
}

// everything lists what refuses new work.
func (o *whyOptions) everything(ctx context.Context, cmd *cobra.Command, set *config.Settings) error {
	failOn, err := reconcile.ParseSeverity(o.failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	ctx, l, err := o.lookBy(ctx, cmd, &o.output, set, false, reconcile.Options{Scope: reconcile.Scope{Queues: o.queues, Types: o.types}})
	if err != nil {
		return err
	}
	defer l.end()
	return o.print(ctx, l, l.auditor.Blocked, failOn)
}

// print runs a part of an audit and prints its findings.
func (p *program) print(ctx context.Context, l *look, run func(context.Context, reconcile.Observer) (reconcile.Report, error), failOn reconcile.Severity) error {
	out := render.NewAudit(p.out, l.page)
	bar := p.newProgress()
	defer bar.done()
	report, err := run(ctx, &auditSink{out: out, bar: bar})
	bar.done()
	if err != nil {
		return errors.Join(err, out.Discard())
	}
	if err := out.Close(report, l.header); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	p.nothingRead(report)
	p.cutShort(report, l.page.Format)
	return p.filtered(l.auditor, judgeReport(report, failOn))
}
